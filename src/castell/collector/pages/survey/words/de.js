/** German. */
export const de = {
  language: "Sprache",
  protectTitle: "Der Zufall verbirgt Ihre Antworten",
  protectTitleWeak: "Der Zufall verbirgt Ihre Antworten kaum",
  protectLead:
    "Der Zufall entscheidet hier in Ihrem Browser, ob eine wahre oder eine andere Antwort gesendet wird.",
  people:
    "Von {all} Leuten, die zu „{question}“ dasselbe senden, ist bei {some} die wahre Antwort eine andere.",
  peopleMost:
    "Am wenigsten verbirgt der Zufall bei „{question}“: Von {all} Leuten, die dasselbe senden, ist bei {some} die wahre Antwort eine andere.",
  peoplePicture:
    "Von {all} Leuten, die dasselbe senden, ist bei {some} die wahre Antwort eine andere",
  wheelPicture:
    "Ein Glücksrad: {right} von 100 Teilen sprechen für Ihre Antwort, {wrong} für eine andere",
  wheel:
    "Der Zufall dreht ein Rad wie dieses: In {right} von 100 Fällen spricht das Gesendete für Ihre Antwort, in {wrong} für eine andere. Niemand sieht, wo es stehen blieb.",
  protectUnsure:
    "Niemand kann sicher wissen, welche es war: nicht die Leute hinter dieser Umfrage und niemand, der an ihre Daten kommt.",
  protectWhy:
    "Aus vielen Meldungen zusammen lässt sich der Zufall wieder herausrechnen, ohne zu wissen, welche von ihnen er verändert hat.",
  guessTitle: "Wie viel man über Sie erraten könnte",
  guess:
    "Wer sieht, was Sie senden, errät Ihre Antwort auf „{question}“ in {right} von 100 Fällen. Ohne das liegt blindes Raten in {chance} von 100 Fällen richtig.",
  guessMost: "Keine andere Ihrer Antworten wird öfter erraten.",
  guessNote:
    "Bei diesen Zahlen gilt jede Antwort vorher als gleich wahrscheinlich. Wer mehr über Sie weiß, kann besser raten.",
  guessPicture:
    "{chance} von 100 Versuchen durch Glück richtig, {more} mehr durch die Meldung, {wrong} falsch",
  dotsChance: "durch Glück richtig",
  dotsMore: "durch Ihre Meldung richtig",
  dotsWrong: "falsch",
  moreThan: "mehr als {n}",
  lessThan: "weniger als {n}",
  range: "{low} bis {high}",
  all: "Ihre {count} Antworten zugleich werden {right} richtig geraten, durch Glück {chance}.",
  oftenOf100: "in {n} von 100 Fällen",
  onceIn: "einmal in {n} Fällen",
  onceInMore: "seltener als einmal in {n} Fällen",
  drawnNote:
    "Der Zufall hat für dieses Gerät {asked} von {count} Fragen ausgewählt. Nur diese werden gestellt, und zu den anderen wird nichts gesendet.",
  more: "Die genauen Zahlen, und was nicht geschützt ist",
  epsilon:
    "Verlust an Privatheit (Epsilon): insgesamt {epsilon}. Was gesendet wird, verschiebt die Chancen zwischen zwei beliebigen Sätzen von Antworten höchstens um den Faktor {factor}, was immer jemand sonst noch weiß.",
  weak: "Dieser Schutz ist schwach: Schlimmstenfalls ist der Rateversuch bei „{question}“ seltener als einmal in {times} Fällen falsch.",
  tableQuestion: "Frage",
  tableRight: "Mit der Meldung richtig geraten",
  tableWorst: "schlimmstenfalls",
  tableChance: "durch Glück",
  of100: "{n} von 100",
  drawTitle: "Alle Fragen dieser Umfrage",
  drawLead:
    "Jedes Gerät bekommt eine von {sets} Gruppen von Fragen, zufällig gezogen. Wer eine Meldung sieht, sieht auch, welche.",
  tableAsked: "Von 100 richtig geraten, wenn gefragt",
  tableDraw: "gefragt oder nicht",
  tableLikely: "gefragt",
  outOf: "{some} von {all}",
  allDraw:
    "Alle {count} Antworten dieser Umfrage, gefragt oder nicht, werden {right} richtig geraten, durch Glück {chance}.",
  notProtected: "Was das nicht verbirgt",
  notProtectedItems: [
    "Dass dieses Gerät teilgenommen hat. Der Server sieht beim Senden Ihre Netzadresse, wie jede Website; die Software hinter dieser Seite schreibt sie nicht auf.",
    "Was für alle gilt: Wenn fast alle Leute wie Sie dasselbe antworten, sagt das Ergebnis das auch.",
    "Was andere auf diesem Gerät oder über Ihre Schulter sehen.",
  ],
  again:
    "Dieses Gerät sendet für diese Studie eine einzige Meldung. Was Sie auch später antworten, diese Meldung gilt: Hundertmal gefragt zu werden verrät nicht mehr als einmal.",
  noMemory:
    "Dieser Browser lässt die Seite nichts merken. Ihre Antworten werden trotzdem zufällig verändert, aber wenn Sie die Seite schließen und noch einmal antworten, entscheidet der Zufall neu und es wird mehr verraten. Bitte antworten Sie nur einmal.",
  questionsTitle: "Fragen",
  questionNumber: "Frage {n} von {count}",
  choose: "Bitte wählen",
  goOn: "Weiter",
  review: "Zeigen, was gesendet würde",
  reviewNote: "Noch wird nichts gesendet.",
  missingTitle: "Einige Fragen sind noch nicht beantwortet",
  missing: "Bitte wählen Sie eine Antwort.",
  reviewTitle: "Das würde Ihr Gerät verlassen",
  reviewLead: "Bisher wurde nichts gesendet.",
  reviewWarning:
    "Bitte entscheiden Sie nicht nach dem, was Sie hier sehen. Wer deswegen geht, verfälscht die Ergebnisse und kann durch das Gehen eine Antwort verraten.",
  confirmTitle: "Was beim Senden geschieht",
  confirmLead:
    "Der Zufall entscheidet hier in Ihrem Browser, was an Stelle Ihrer Antworten gesendet wird. Es wird sofort gesendet und Ihnen danach Wort für Wort gezeigt.",
  confirmBody:
    "Die Meldung geht an {url}: die zufällig veränderten Antworten, der Fingerabdruck dieser Liste von Fragen und eine zufällige Nummer. Kein Name, kein Cookie und keine Uhrzeit gehen mit.",
  confirmWhy:
    "Sie sehen die Meldung aus gutem Grund erst danach: Wer erst nachsieht und dann geht, verfälscht die Ergebnisse und kann durch das Gehen eine Antwort verraten. Bis Sie auf „Senden“ drücken, können Sie gehen, und nichts wird gezogen.",
  leftTitle: "Das hat Ihr Gerät verlassen",
  leftLead: "Das hat der Zufall aus Ihren Antworten gemacht. Sonst wurde nichts gesendet.",
  columnQuestion: "Frage",
  columnAnswer: "Ihre Antwort, nur Ihnen bekannt",
  columnSent: "Was gesendet wird",
  columnLeft: "Was gesendet wurde",
  columnOthers: "Leute, die dasselbe senden und etwas anderes meinen",
  someOf: "{some} von {all}",
  sentSame: "durch Zufall dieselbe",
  sentOther: "vom Zufall gewählt",
  others: "Von {all} Leuten, die das senden, ist bei {some} die wahre Antwort eine andere.",
  sentCode: "Code {code}, er passt zu: {values}",
  andMore: "und {n} weiteren",
  bodyTitle: "Genau dieser Text",
  bodyLead:
    "Er geht an {url}. Kein Name, kein Cookie und keine Uhrzeit gehen mit; nur was Ihr Browser jeder Website sagt, etwa seine Art und Ihre Sprachen, und das wird nicht aufgeschrieben.",
  bodyLeft:
    "Er ging an {url}. Kein Name, kein Cookie und keine Uhrzeit gingen mit; nur was Ihr Browser jeder Website sagt, etwa seine Art und Ihre Sprachen, und das wird nicht aufgeschrieben.",
  bodyId: "eine zufällige Nummer, damit eine doppelt gesendete Meldung einmal zählt",
  bodyStudy: "der Fingerabdruck dieser Liste von Fragen",
  bodyCodes: "die zufällig veränderten Antworten, von 0 an gezählt",
  bodyCodesDrawn:
    "eine Zahl: welche Fragen der Zufall gewählt hat, und die veränderten Antworten darauf",
  bodyInvitation:
    "Ihre Einladung; sie wird beim Gebrauch gelöscht und nicht bei der Meldung aufbewahrt",
  cost:
    "Das zu senden kostet Sie einen Verlust an Privatheit (Epsilon) von {epsilon}. Danach lässt es sich nicht mehr ändern.",
  stands:
    "Dieses Gerät hat für diese Studie schon eine Meldung abgegeben. Sie gilt, was immer Sie jetzt antworten; sie zählt einmal, und mehr wird nicht verraten.",
  send: "Senden",
  back: "Zurück zu meinen Antworten",
  sending: "Wird gesendet …",
  sentTitle: "Danke, Ihre Meldung ist angekommen",
  sentLead:
    "Nur die zufällig veränderte Meldung hat dieses Gerät verlassen. Sie können die Seite schließen.",
  failedTitle: "Es wurde nicht gesendet",
  failedNetwork:
    "Der Server ist nicht erreichbar. Versuchen Sie es noch einmal: Es ist dieselbe Meldung, und sie zählt einmal.",
  failedChanged: "Die Studie wurde inzwischen geändert. Bitte laden Sie die Seite neu.",
  failedRefused: "Der Server hat die Meldung nicht angenommen: {problem}.",
  retry: "Noch einmal versuchen",
  changedTitle: "Diese Studie wurde geändert",
  changedLead:
    "Seit Sie diese Seite zum ersten Mal geöffnet haben, wurden ihre Fragen oder ihr Schutz geändert. Was Sie damals gelesen haben, gilt nicht mehr. Lesen Sie es wie eine neue Studie.",
  accept: "Verstanden, zeigen Sie mir die geänderte Studie",
  correctedTitle: "Wörter dieser Studie wurden berichtigt",
  correctedLead:
    "Seit Sie diese Seite zum ersten Mal geöffnet haben, wurden einige Wörter berichtigt. Ihr Gerät hat geprüft, dass sich sonst nichts geändert hat: dieselben Antworten, auf dieselbe Weise verborgen. Lesen Sie die neuen Wörter, bevor Sie weitermachen.",
  correctedOn: "Berichtigt am {day}:",
  correctedAccept: "Gelesen, zeigen Sie mir die Fragen",
  waitingTitle: "Eine Meldung ist vielleicht nicht angekommen",
  waitingLead:
    "Beim letzten Mal kam keine Bestätigung. Sie können dieselbe Meldung noch einmal senden: Sie zählt einmal.",
  waitingSend: "Noch einmal senden",
  alreadyTitle: "Sie haben schon teilgenommen",
  alreadyLead:
    "Dieses Gerät hat seine Meldung für diese Studie gesendet. Sie gilt bis zum Ende der Studie: Andere Antworten würden jetzt nichts ändern und nichts weiter verraten. Jemand anderes sollte ein eigenes Gerät oder ein privates Fenster benutzen.",
  invitation: "Einladungscode",
  invitationHelp: "20 Buchstaben und Ziffern, von der Person, die Sie eingeladen hat.",
  invitationMissing: "Bitte geben Sie den Code ein, 20 Buchstaben und Ziffern.",
  invitationRefused:
    "Der Server kennt diesen Code nicht, oder er wurde schon benutzt. Es wurde nichts gesendet und nichts verbraucht. Bitte berichtigen Sie ihn oder fragen Sie die Person, die Sie eingeladen hat.",
  consentTitle: "Ihre Einwilligung",
  consentAgree: "Ich habe das gelesen und bin einverstanden.",
  consentMissing: "Bitte kreuzen Sie an, wenn Sie einverstanden sind. Sonst wird nichts gesendet.",
  completion: "Weiter zur nächsten Seite",
  imprint: "Impressum",
  privacy: "Datenschutzerklärung",
  ledgerTitle: "Was dieses Gerät dieser Website bisher mitgeteilt hat",
  ledgerNone: "Nichts.",
  ledgerSpent: "Verlust an Privatheit (Epsilon)",
  ledgerTotal: "Insgesamt",
  ledgerNote: "Das steht nur auf diesem Gerät, ohne Ihre Antworten.",
  ledgerLost: "Dieser Browser bewahrt nichts auf: Beim Schließen der Seite ist die Liste weg.",
  forget: "Auf diesem Gerät vergessen",
  forgetSure:
    "Die Liste und das Gesendete vergessen? Wenn Sie danach noch einmal antworten, wird eine neue Meldung gezogen und mehr verraten.",
  brokenTitle: "Diese Studie kann nicht beantwortet werden",
  brokenLead:
    "Die Fragen, die der Server geschickt hat, sind beschädigt oder geben keinen Schutz; darum wird nichts gefragt und nichts gesendet. Bitte sagen Sie es den Leuten hinter der Umfrage.",
  earlyTitle: "Diese Umfrage ist noch nicht offen",
  earlyLead: "Sie beginnt am {time}. Vorher wird nichts gefragt.",
  earlyUnknown: "Sie beginnt bald. Vorher wird nichts gefragt.",
  pausedTitle: "Diese Umfrage macht eine Pause",
  pausedLead:
    "Sie geht später weiter. Bitte kommen Sie wieder; bis dahin wird nichts gefragt und nichts gesendet.",
  closedTitle: "Diese Umfrage ist beendet",
  closedLead:
    "Danke für Ihr Interesse, und Dank an alle, die teilgenommen haben. Es wird nichts mehr gefragt und nichts mehr gesendet.",
  closedWaiting:
    "Dieses Gerät hat eine Meldung abgegeben, aber keine Bestätigung erhalten. Vielleicht ist sie angekommen: Sie können nachfragen, sie zählt einmal. Wenn nicht, bleibt sie auf diesem Gerät.",
  lookAgain: "Noch einmal nachsehen",
  unreachableTitle: "Die Fragen können nicht geladen werden",
  unreachableLead: "Bitte prüfen Sie Ihre Verbindung und laden Sie die Seite neu.",
  deviceTitle: "Diese Seite muss mit https geöffnet werden",
  deviceLead:
    "Browser bieten sicheren Zufall nur auf Seiten, die über https kamen. Es wird nichts gefragt und nichts gesendet.",
  reason: "Grund",
};
