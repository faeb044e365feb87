/** English. Every other language has the same entries; what is in braces is filled in. */
export const en = {
  language: "Language",
  protectTitle: "Chance hides your answers",
  protectTitleWeak: "Chance hardly hides your answers",
  protectLead:
    "Chance decides here, in your browser, whether a true answer or another one is sent.",
  people:
    "Of {all} people who send the same about “{question}”, the true answer of {some} is another one.",
  peopleMost:
    "Chance hides least at “{question}”: of {all} people who send the same, the true answer of {some} is another one.",
  peoplePicture: "Of {all} people who send the same, the true answer of {some} is another one",
  wheelPicture: "A wheel of chance: {right} of 100 parts suggest your answer, {wrong} another one",
  wheel:
    "Chance turns a wheel like this one: in {right} of 100 cases what is sent suggests your answer, in {wrong} another one. Nobody sees where it stopped.",
  protectUnsure:
    "Nobody can know for sure which it was: not the people who run this survey, not anyone who gets hold of their data.",
  protectWhy:
    "With many reports the randomness can be taken back out of the whole, without knowing which of them it changed.",
  guessTitle: "How much could be guessed about you",
  guess:
    "Whoever sees what you send guesses your answer to “{question}” right in {right} of 100 cases. Without it, a blind guess is right in {chance} of 100.",
  guessMost: "No other answer of yours is guessed right more often.",
  guessNote:
    "These numbers count every answer as equally likely beforehand. Whoever knows more about you can guess better.",
  guessPicture:
    "{chance} of 100 guesses right by luck, {more} more because of the report, {wrong} wrong",
  dotsChance: "right by luck",
  dotsMore: "right because of your report",
  dotsWrong: "wrong",
  moreThan: "more than {n}",
  lessThan: "less than {n}",
  range: "{low} to {high}",
  all: "Your {count} answers at once are guessed right {right}; by luck, {chance}.",
  oftenOf100: "in {n} of 100 cases",
  onceIn: "once in {n}",
  onceInMore: "less than once in {n}",
  drawnNote:
    "Chance has picked {asked} of {count} questions for this device. Only these are asked, and nothing is sent about the others.",
  more: "The exact numbers, and what is not protected",
  epsilon:
    "Privacy loss (epsilon): {epsilon} in all. What is sent changes the odds between any two sets of answers by a factor of at most {factor}, whatever else somebody knows.",
  weak: "This is weak protection: at worst, the guess at your answer to “{question}” is wrong less than once in {times} times.",
  tableQuestion: "Question",
  tableRight: "Guessed right with the report",
  tableWorst: "at worst",
  tableChance: "by luck",
  of100: "{n} of 100",
  drawTitle: "All questions of this survey",
  drawLead:
    "Each device is asked one of {sets} sets of questions, drawn at random. Whoever sees a report sees which one.",
  tableAsked: "Guessed right, of 100, if asked",
  tableDraw: "asked or not",
  tableLikely: "asked",
  outOf: "{some} in {all}",
  allDraw:
    "All {count} answers of this survey, asked or not, are guessed right {right}; by luck, {chance}.",
  notProtected: "What this does not hide",
  notProtectedItems: [
    "That this device took part. The server sees your network address while you send, as every website does; the software behind this page does not write it down.",
    "What is true of everybody: if nearly all people like you answer the same, the result will say so.",
    "What others can see on this device, or over your shoulder.",
  ],
  again:
    "This device sends one report for this study. Whatever you answer later, that report stands: being asked a hundred times reveals no more than being asked once.",
  noMemory:
    "This browser does not let the page remember anything. Your answers are randomised all the same, but if you close the page and answer again, chance decides anew and more is revealed. Please answer only once.",
  questionsTitle: "Questions",
  questionNumber: "Question {n} of {count}",
  choose: "Please choose",
  goOn: "Continue",
  review: "Show what would be sent",
  reviewNote: "Nothing is sent yet.",
  missingTitle: "Some questions are not answered yet",
  missing: "Please choose an answer.",
  reviewTitle: "This would leave your device",
  reviewLead: "Nothing has been sent so far.",
  reviewWarning:
    "Please do not decide by what you see here. Whoever leaves because of it makes the results wrong, and may give an answer away by leaving.",
  confirmTitle: "What happens when you send",
  confirmLead:
    "Chance decides, here in your browser, what is sent in place of your answers. It is sent at once, and then shown to you word for word.",
  confirmBody:
    "The report goes to {url}: the randomised answers, the fingerprint of this list of questions and a random number. No name, no cookie and no time go with it.",
  confirmWhy:
    "You see the report only afterwards, for a reason: whoever looks first and then leaves makes the results wrong, and may give an answer away by leaving. Until you press “Send” you can leave, and nothing is drawn.",
  leftTitle: "This left your device",
  leftLead: "This is what chance has made of your answers. Nothing else was sent.",
  columnQuestion: "Question",
  columnAnswer: "Your answer, known only to you",
  columnSent: "What is sent",
  columnLeft: "What was sent",
  columnOthers: "People who send the same and mean something else",
  someOf: "{some} of {all}",
  sentSame: "by chance, the same",
  sentOther: "chosen by chance",
  others: "Of {all} people who send this, the true answer of {some} is another one.",
  sentCode: "Code {code}, which fits: {values}",
  andMore: "and {n} more",
  bodyTitle: "Exactly this text",
  bodyLead:
    "It goes to {url}. No name, no cookie and no time go with it; only what your browser tells every website, such as its kind and your languages, and that is not written down.",
  bodyLeft:
    "It went to {url}. No name, no cookie and no time went with it; only what your browser tells every website, such as its kind and your languages, and that is not written down.",
  bodyId: "a random number, so that a report that is sent twice counts once",
  bodyStudy: "the fingerprint of this list of questions",
  bodyCodes: "the randomised answers, counted from 0",
  bodyCodesDrawn:
    "one number: the questions that chance has picked, and the randomised answers to them",
  bodyInvitation: "your invitation; it is deleted when it is used, and not kept with the report",
  cost:
    "Sending this costs you a privacy loss (epsilon) of {epsilon}. It cannot be changed afterwards.",
  stands:
    "This device has already handed over a report for this study. That report stands, whatever you answer now; it counts once, and nothing more is revealed.",
  send: "Send",
  back: "Back to my answers",
  sending: "Sending …",
  sentTitle: "Thank you, your report has arrived",
  sentLead: "Only the randomised report has left this device. You can close the page.",
  failedTitle: "It was not sent",
  failedNetwork:
    "The collector cannot be reached. Try again: it is the same report, and it will count once.",
  failedChanged: "The study was changed in the meantime. Please reload the page.",
  failedRefused: "The collector did not take it: {problem}.",
  retry: "Try again",
  changedTitle: "This study was changed",
  changedLead:
    "Since you first opened this page, its questions or its protection were changed. What you agreed to then does not hold any more. Read it as a new study.",
  accept: "I have understood, show me the changed study",
  correctedTitle: "Words of this study were corrected",
  correctedLead:
    "Since you first opened this page, some words were corrected. Your device has checked that nothing else changed: the same answers, hidden in the same way. Read the new words before you go on.",
  correctedOn: "Corrected on {day}:",
  correctedAccept: "I have read it, show me the questions",
  waitingTitle: "One report may not have arrived",
  waitingLead:
    "The last time, no confirmation came back. You can send the same report again: it will count once.",
  waitingSend: "Send it again",
  alreadyTitle: "You have already taken part",
  alreadyLead:
    "This device has sent its report for this study. It stands until the study ends: other answers now would change nothing and reveal nothing more. Somebody else should use a device of their own, or a private window.",
  invitation: "Invitation code",
  invitationHelp: "20 letters and digits, from whoever invited you.",
  invitationMissing: "Please enter the code, 20 letters and digits.",
  invitationRefused:
    "The collector does not know this code, or it was used already. Nothing was sent and nothing is spent. Please correct it, or ask whoever invited you.",
  consentTitle: "Your consent",
  consentAgree: "I have read this and agree.",
  consentMissing: "Please tick the box if you agree. Without it nothing is sent.",
  completion: "Go on to the next page",
  imprint: "Imprint",
  privacy: "Privacy policy",
  ledgerTitle: "What this device has told this site so far",
  ledgerNone: "Nothing.",
  ledgerSpent: "Privacy loss (epsilon)",
  ledgerTotal: "In all",
  ledgerNote: "It is written down on this device only, without your answers.",
  ledgerLost: "This browser keeps no record: the list is gone when you close the page.",
  forget: "Forget this on this device",
  forgetSure:
    "Forget the list and what was sent? If you answer again after that, a new report is drawn and more is revealed.",
  brokenTitle: "This study cannot be answered",
  brokenLead:
    "The questions as the server gave them are damaged or give no protection, so nothing is asked and nothing is sent. Please tell whoever runs the survey.",
  earlyTitle: "This survey is not open yet",
  earlyLead: "It opens on {time}. Nothing is asked before that.",
  earlyUnknown: "It opens soon. Nothing is asked before that.",
  pausedTitle: "This survey is paused",
  pausedLead:
    "It will go on later. Please come back; nothing is asked and nothing is sent until then.",
  closedTitle: "This survey has ended",
  closedLead:
    "Thank you for your interest, and to everybody who took part. Nothing is asked and nothing is sent any more.",
  closedWaiting:
    "A report from this device was handed over, but no confirmation came back. It may have arrived: you can ask, it will count once. If not, it is kept on this device.",
  lookAgain: "Look again",
  unreachableTitle: "The questions cannot be fetched",
  unreachableLead: "Please check your connection and reload the page.",
  deviceTitle: "This page must be opened by https",
  deviceLead:
    "Browsers offer secure randomness only on pages that came by https. Nothing is asked and nothing is sent.",
  reason: "Reason",
};
