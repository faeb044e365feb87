/** French. */
export const fr = {
  language: "Langue",
  protectTitle: "Le hasard cache vos réponses",
  protectTitleWeak: "Le hasard ne cache guère vos réponses",
  protectLead:
    "Le hasard décide ici, dans votre navigateur, si une vraie réponse ou une autre est envoyée.",
  people:
    "Sur {all} personnes qui envoient la même chose pour « {question} », la vraie réponse est autre pour {some}.",
  peopleMost:
    "C’est pour « {question} » que le hasard cache le moins : sur {all} personnes qui envoient la même chose, la vraie réponse est autre pour {some}.",
  peoplePicture:
    "Sur {all} personnes qui envoient la même chose, la vraie réponse est autre pour {some}",
  wheelPicture: "Une roue : {right} parts sur 100 évoquent votre réponse, {wrong} une autre",
  wheel:
    "Le hasard tourne une roue comme celle-ci : dans {right} cas sur 100, ce qui est envoyé évoque votre réponse, dans {wrong} une autre. Personne ne voit où elle s’est arrêtée.",
  protectUnsure:
    "Personne ne peut savoir avec certitude laquelle : ni les responsables de cette enquête, ni quiconque obtiendrait leurs données.",
  protectWhy:
    "Avec beaucoup d’envois, on peut retirer le hasard de l’ensemble, sans savoir lesquels il a changés.",
  guessTitle: "Ce que l’on pourrait deviner de vous",
  guess:
    "Quiconque voit ce que vous envoyez devine votre réponse à « {question} » dans {right} cas sur 100. Sans cela, au hasard, on a raison dans {chance} cas sur 100.",
  guessMost: "Aucune autre de vos réponses n’est devinée plus souvent.",
  guessNote:
    "Ces chiffres supposent que toutes les réponses étaient également probables au départ. Qui en sait plus sur vous peut mieux deviner.",
  guessPicture:
    "sur 100 essais, {chance} justes par chance, {more} de plus grâce à l’envoi, {wrong} faux",
  dotsChance: "justes par chance",
  dotsMore: "justes grâce à votre envoi",
  dotsWrong: "faux",
  moreThan: "plus de {n}",
  lessThan: "moins de {n}",
  range: "{low} à {high}",
  all: "Vos {count} réponses à la fois sont devinées {right} ; par chance, {chance}.",
  oftenOf100: "dans {n} cas sur 100",
  onceIn: "une fois sur {n}",
  onceInMore: "moins d’une fois sur {n}",
  drawnNote:
    "Le hasard a choisi {asked} questions sur {count} pour cet appareil. Seules celles-ci sont posées, et rien n’est envoyé sur les autres.",
  more: "Les chiffres exacts, et ce qui n’est pas protégé",
  epsilon:
    "Perte de confidentialité (epsilon) : {epsilon} en tout. Ce qui est envoyé change les chances relatives entre deux ensembles de réponses d’un facteur {factor} au plus, quoi que l’on sache par ailleurs.",
  weak:
    "Cette protection est faible : au pire, qui devine votre réponse à « {question} » se trompe moins d’une fois sur {times}.",
  tableQuestion: "Question",
  tableRight: "Deviné juste avec l’envoi",
  tableWorst: "au pire",
  tableChance: "par chance",
  of100: "{n} sur 100",
  drawTitle: "Toutes les questions de cette enquête",
  drawLead:
    "Chaque appareil reçoit un groupe de questions sur {sets}, tiré au hasard. Quiconque voit un envoi voit lequel.",
  tableAsked: "Devinées juste sur 100, si posées",
  tableDraw: "posées ou non",
  tableLikely: "posées",
  outOf: "{some} sur {all}",
  allDraw:
    "Les {count} réponses de cette enquête, demandées ou non, sont devinées {right} ; par chance, {chance}.",
  notProtected: "Ce que cela ne cache pas",
  notProtectedItems: [
    "Que cet appareil a participé. Le serveur voit votre adresse réseau pendant l’envoi, comme tout site web ; le logiciel derrière cette page ne la note pas.",
    "Ce qui vaut pour tous : si presque toutes les personnes comme vous répondent de même, le résultat le dira.",
    "Ce que d’autres voient sur cet appareil ou par-dessus votre épaule.",
  ],
  again:
    "Cet appareil fait un seul envoi pour cette étude. Quoi que vous répondiez plus tard, cet envoi vaut : être interrogé cent fois n’en révèle pas plus qu’une.",
  noMemory:
    "Ce navigateur ne laisse pas la page se souvenir. Vos réponses sont modifiées au hasard quand même, mais si vous fermez la page et répondez de nouveau, le hasard décide à nouveau et davantage est révélé. Merci de ne répondre qu’une fois.",
  questionsTitle: "Questions",
  questionNumber: "Question {n} sur {count}",
  choose: "Choisissez",
  goOn: "Continuer",
  review: "Montrer ce qui serait envoyé",
  reviewNote: "Rien n’est encore envoyé.",
  missingTitle: "Il manque des réponses",
  missing: "Choisissez une réponse, s’il vous plaît.",
  reviewTitle: "Voici ce qui quitterait votre appareil",
  reviewLead: "Rien n’a été envoyé jusqu’ici.",
  reviewWarning:
    "Ne décidez pas d’après ce que vous voyez ici. Qui s’en va à cause de cela fausse les résultats et peut, en partant, trahir une réponse.",
  confirmTitle: "Ce qui se passe à l’envoi",
  confirmLead:
    "Le hasard décide, ici dans votre navigateur, de ce qui est envoyé à la place de vos réponses. C’est envoyé aussitôt, puis montré mot pour mot.",
  confirmBody:
    "L’envoi va à {url} : les réponses modifiées par le hasard, l’empreinte de cette liste de questions et un nombre au hasard. Ni nom, ni cookie, ni heure ne l’accompagnent.",
  confirmWhy:
    "Vous ne voyez l’envoi qu’ensuite, pour une raison : qui regarde d’abord et s’en va fausse les résultats et peut, en partant, trahir une réponse. Tant que vous n’appuyez pas sur « Envoyer », vous pouvez partir, et rien n’est tiré au sort.",
  leftTitle: "Voici ce qui a quitté votre appareil",
  leftLead: "Voici ce que le hasard a fait de vos réponses. Rien d’autre n’a été envoyé.",
  columnQuestion: "Question",
  columnAnswer: "Votre réponse, connue de vous seulement",
  columnSent: "Ce qui est envoyé",
  columnLeft: "Ce qui a été envoyé",
  columnOthers: "Personnes qui envoient la même chose et pensent autrement",
  someOf: "{some} sur {all}",
  sentSame: "par hasard, la même",
  sentOther: "choisie par le hasard",
  others: "Sur {all} personnes qui envoient ceci, la vraie réponse est autre pour {some}.",
  sentCode: "Code {code}, qui convient à : {values}",
  andMore: "et {n} autres",
  bodyTitle: "Exactement ce texte",
  bodyLead:
    "Il va à {url}. Ni nom, ni cookie, ni heure ne l’accompagnent ; seulement ce que votre navigateur dit à tout site, comme son type et vos langues, et cela n’est pas noté.",
  bodyLeft:
    "Il est allé à {url}. Ni nom, ni cookie, ni heure ne l’ont accompagné ; seulement ce que votre navigateur dit à tout site, comme son type et vos langues, et cela n’est pas noté.",
  bodyId: "un nombre au hasard, pour qu’un envoi répété ne compte qu’une fois",
  bodyStudy: "l’empreinte de cette liste de questions",
  bodyCodes: "les réponses modifiées par le hasard, comptées à partir de 0",
  bodyCodesDrawn:
    "un nombre : les questions choisies par le hasard et les réponses modifiées",
  bodyInvitation: "votre invitation ; elle est effacée à l’usage et n’est pas gardée avec l’envoi",
  cost:
    "Envoyer ceci vous coûte une perte de confidentialité (epsilon) de {epsilon}. Ensuite, on ne peut plus le changer.",
  stands:
    "Cet appareil a déjà remis un envoi pour cette étude. Cet envoi vaut, quoi que vous répondiez maintenant ; il compte une fois, et rien de plus n’est révélé.",
  send: "Envoyer",
  back: "Revenir à mes réponses",
  sending: "Envoi en cours …",
  sentTitle: "Merci, votre envoi est arrivé",
  sentLead: "Seul l’envoi modifié par le hasard a quitté cet appareil. Vous pouvez fermer la page.",
  failedTitle: "Rien n’a été envoyé",
  failedNetwork:
    "Le serveur est injoignable. Réessayez : c’est le même envoi, et il ne comptera qu’une fois.",
  failedChanged: "L’étude a changé entre-temps. Merci de recharger la page.",
  failedRefused: "Le serveur ne l’a pas accepté : {problem}.",
  retry: "Réessayer",
  changedTitle: "Cette étude a changé",
  changedLead:
    "Depuis que vous avez ouvert cette page pour la première fois, ses questions ou sa protection ont changé. Ce que vous aviez accepté ne vaut plus. Lisez-la comme une nouvelle étude.",
  accept: "J’ai compris, montrez-moi l’étude changée",
  correctedTitle: "Des mots de cette étude ont été corrigés",
  correctedLead:
    "Depuis que vous avez ouvert cette page pour la première fois, quelques mots ont été corrigés. Votre appareil a vérifié que rien d’autre n’a changé : les mêmes réponses, cachées de la même façon. Lisez les nouveaux mots avant de continuer.",
  correctedOn: "Corrigé le {day} :",
  correctedAccept: "J’ai lu, montrez-moi les questions",
  waitingTitle: "Un envoi n’est peut-être pas arrivé",
  waitingLead:
    "La dernière fois, aucune confirmation n’est revenue. Vous pouvez renvoyer le même : il ne comptera qu’une fois.",
  waitingSend: "Le renvoyer",
  alreadyTitle: "Vous avez déjà participé",
  alreadyLead:
    "Cet appareil a fait son envoi pour cette étude. Il vaut jusqu’à la fin de l’étude : d’autres réponses ne changeraient rien maintenant et ne révéleraient rien de plus. Une autre personne devrait utiliser son propre appareil ou une fenêtre privée.",
  invitation: "Code d’invitation",
  invitationHelp: "20 lettres et chiffres, de la personne qui vous a invité.",
  invitationMissing: "Saisissez le code : 20 lettres et chiffres.",
  invitationRefused:
    "Le serveur ne connaît pas ce code, ou il a déjà servi. Rien n’a été envoyé ni dépensé. Corrigez-le, ou demandez à la personne qui vous a invité.",
  consentTitle: "Votre consentement",
  consentAgree: "J’ai lu ce texte et je suis d’accord.",
  consentMissing: "Cochez la case si vous êtes d’accord. Sans cela, rien n’est envoyé.",
  completion: "Continuer vers la page suivante",
  imprint: "Mentions légales",
  privacy: "Politique de confidentialité",
  ledgerTitle: "Ce que cet appareil a dit à ce site jusqu’ici",
  ledgerNone: "Rien.",
  ledgerSpent: "Perte de confidentialité (epsilon)",
  ledgerTotal: "En tout",
  ledgerNote: "C’est noté sur cet appareil seulement, sans vos réponses.",
  ledgerLost: "Ce navigateur ne garde rien : la liste disparaît quand vous fermez la page.",
  forget: "L’oublier sur cet appareil",
  forgetSure:
    "Oublier la liste et ce qui a été envoyé ? Si vous répondez ensuite de nouveau, un nouvel envoi est tiré au sort et davantage est révélé.",
  brokenTitle: "On ne peut pas répondre à cette étude",
  brokenLead:
    "Les questions données par le serveur sont abîmées ou ne protègent pas ; rien n’est donc demandé ni envoyé. Merci de prévenir les responsables de l’enquête.",
  earlyTitle: "Cette enquête n’est pas encore ouverte",
  earlyLead: "Elle ouvre le {time}. Rien n’est demandé avant.",
  earlyUnknown: "Elle ouvre bientôt. Rien n’est demandé avant.",
  pausedTitle: "Cette enquête est en pause",
  pausedLead:
    "Elle reprendra plus tard. Revenez, s’il vous plaît ; d’ici là, rien n’est demandé et rien n’est envoyé.",
  closedTitle: "Cette enquête est terminée",
  closedLead:
    "Merci de votre intérêt, et merci à toutes les personnes qui ont participé. Plus rien n’est demandé ni envoyé.",
  closedWaiting:
    "Cet appareil a remis un rapport, mais aucune confirmation n’est revenue. Il est peut-être arrivé : vous pouvez demander, il comptera une seule fois. Sinon, il reste sur cet appareil.",
  lookAgain: "Regarder à nouveau",
  unreachableTitle: "Les questions ne peuvent pas être chargées",
  unreachableLead: "Vérifiez votre connexion et rechargez la page.",
  deviceTitle: "Cette page doit être ouverte par https",
  deviceLead:
    "Les navigateurs n’offrent un hasard sûr que sur les pages reçues par https. Rien n’est demandé ni envoyé.",
  reason: "Raison",
};
