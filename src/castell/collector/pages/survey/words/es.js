/** Spanish. */
export const es = {
  language: "Idioma",
  protectTitle: "El azar oculta sus respuestas",
  protectTitleWeak: "El azar apenas oculta sus respuestas",
  protectLead: "El azar decide aquí, en su navegador, si se envía una respuesta verdadera u otra.",
  people:
    "De {all} personas que envían lo mismo sobre «{question}», la respuesta verdadera es otra en {some}.",
  peopleMost:
    "Donde menos oculta el azar es en «{question}»: de {all} personas que envían lo mismo, la respuesta verdadera es otra en {some}.",
  peoplePicture: "De {all} personas que envían lo mismo, la respuesta verdadera es otra en {some}",
  wheelPicture: "Una ruleta: {right} de 100 partes apuntan a su respuesta, {wrong} a otra",
  wheel:
    "El azar gira una rueda como esta: en {right} de 100 casos lo enviado apunta a su respuesta, en {wrong} a otra. Nadie ve dónde se ha parado.",
  protectUnsure:
    "Nadie puede saber con certeza cuál fue: ni quienes hacen esta encuesta ni quien llegue a tener sus datos.",
  protectWhy:
    "Con muchos informes el azar se puede descontar del conjunto, sin saber cuáles de ellos cambió.",
  guessTitle: "Cuánto se podría adivinar sobre usted",
  guess:
    "Quien vea lo que usted envía acierta su respuesta a «{question}» en {right} de cada 100 casos. Sin verlo, adivinando a ciegas, acierta en {chance} de cada 100.",
  guessMost: "Ninguna otra de sus respuestas se acierta más a menudo.",
  guessNote:
    "Estas cifras suponen que todas las respuestas eran igual de probables de antemano. Quien sepa más de usted puede acertar más.",
  guessPicture:
    "de 100 intentos, {chance} aciertan por suerte, {more} más gracias al informe y {wrong} fallan",
  dotsChance: "aciertan por suerte",
  dotsMore: "aciertan por su informe",
  dotsWrong: "fallan",
  moreThan: "más de {n}",
  lessThan: "menos de {n}",
  range: "{low} a {high}",
  all: "Sus {count} respuestas a la vez se adivinan {right}; por suerte, {chance}.",
  oftenOf100: "en {n} de cada 100 casos",
  onceIn: "una vez de cada {n}",
  onceInMore: "menos de una vez de cada {n}",
  drawnNote:
    "El azar ha elegido {asked} de {count} preguntas para este dispositivo. Solo se hacen esas, y no se envía nada sobre las demás.",
  more: "Las cifras exactas, y lo que no se protege",
  epsilon:
    "Pérdida de privacidad (épsilon): {epsilon} en total. Lo enviado cambia las probabilidades relativas entre dos conjuntos cualesquiera de respuestas en un factor de {factor} como mucho, sepa lo que sepa quien lo vea.",
  weak:
    "Esta protección es débil: en el peor caso, quien intenta adivinar su respuesta a «{question}» falla menos de una vez de cada {times}.",
  tableQuestion: "Pregunta",
  tableRight: "Aciertos con el informe",
  tableWorst: "en el peor caso",
  tableChance: "por suerte",
  of100: "{n} de 100",
  drawTitle: "Todas las preguntas de esta encuesta",
  drawLead:
    "A cada dispositivo se le hace uno de {sets} grupos de preguntas, elegido al azar. Quien vea un informe ve cuál.",
  tableAsked: "Aciertos de 100 si se pregunta",
  tableDraw: "se pregunte o no",
  tableLikely: "se pregunta",
  outOf: "{some} de {all}",
  allDraw:
    "Las {count} respuestas de esta encuesta, preguntadas o no, se adivinan {right}; por suerte, {chance}.",
  notProtected: "Lo que esto no oculta",
  notProtectedItems: [
    "Que este dispositivo ha participado. El servidor ve su dirección de red mientras envía, como cualquier sitio web; el programa que hay detrás de esta página no la anota.",
    "Lo que vale para todos: si casi todas las personas como usted responden lo mismo, el resultado lo dirá.",
    "Lo que otros vean en este dispositivo o por encima de su hombro.",
  ],
  again:
    "Este dispositivo envía un solo informe para este estudio. Responda lo que responda después, ese informe vale: que le pregunten cien veces no revela más que una.",
  noMemory:
    "Este navegador no deja que la página recuerde nada. Sus respuestas se alteran al azar igualmente, pero si cierra la página y vuelve a responder, el azar decide de nuevo y se revela más. Por favor, responda una sola vez.",
  questionsTitle: "Preguntas",
  questionNumber: "Pregunta {n} de {count}",
  choose: "Elija una opción",
  goOn: "Continuar",
  review: "Mostrar lo que se enviaría",
  reviewNote: "Todavía no se envía nada.",
  missingTitle: "Faltan preguntas por responder",
  missing: "Por favor, elija una respuesta.",
  reviewTitle: "Esto saldría de su dispositivo",
  reviewLead: "Hasta ahora no se ha enviado nada.",
  reviewWarning:
    "Por favor, no decida según lo que ve aquí. Quien se va por ello falsea los resultados y, al irse, puede revelar una respuesta.",
  confirmTitle: "Qué ocurre al enviar",
  confirmLead:
    "El azar decide, aquí en su navegador, qué se envía en lugar de sus respuestas. Se envía enseguida y después se le muestra palabra por palabra.",
  confirmBody:
    "El informe va a {url}: las respuestas cambiadas por el azar, la huella de esta lista de preguntas y un número al azar. No lo acompañan ni nombre, ni cookies, ni hora.",
  confirmWhy:
    "Solo ve el informe después, por una razón: quien mira primero y luego se va falsea los resultados y, al irse, puede revelar una respuesta. Hasta que pulse «Enviar» puede irse, y no se sortea nada.",
  leftTitle: "Esto ha salido de su dispositivo",
  leftLead: "Esto es lo que el azar ha hecho de sus respuestas. No se ha enviado nada más.",
  columnQuestion: "Pregunta",
  columnAnswer: "Su respuesta, que solo usted conoce",
  columnSent: "Lo que se envía",
  columnLeft: "Lo que se ha enviado",
  columnOthers: "Personas que envían lo mismo y piensan otra cosa",
  someOf: "{some} de {all}",
  sentSame: "por azar, la misma",
  sentOther: "elegida por el azar",
  others: "De {all} personas que envían esto, la respuesta verdadera es otra en {some}.",
  sentCode: "Código {code}, que encaja con: {values}",
  andMore: "y {n} más",
  bodyTitle: "Exactamente este texto",
  bodyLead:
    "Va a {url}. No lo acompañan ni nombre, ni cookies, ni hora; solo lo que su navegador dice a cualquier sitio web, como su tipo y sus idiomas, y eso no se anota.",
  bodyLeft:
    "Ha ido a {url}. No lo han acompañado ni nombre, ni cookies, ni hora; solo lo que su navegador dice a cualquier sitio web, como su tipo y sus idiomas, y eso no se anota.",
  bodyId: "un número al azar, para que un informe enviado dos veces cuente una",
  bodyStudy: "la huella de esta lista de preguntas",
  bodyCodes: "las respuestas cambiadas por el azar, contadas desde 0",
  bodyCodesDrawn:
    "un número: qué preguntas ha elegido el azar, y las respuestas cambiadas a ellas",
  bodyInvitation: "su invitación; se borra al usarla y no se guarda con el informe",
  cost:
    "Enviar esto le cuesta una pérdida de privacidad (épsilon) de {epsilon}. Después no se puede cambiar.",
  stands:
    "Este dispositivo ya ha entregado un informe para este estudio. Ese informe vale, responda lo que responda ahora; cuenta una vez y no se revela nada más.",
  send: "Enviar",
  back: "Volver a mis respuestas",
  sending: "Enviando …",
  sentTitle: "Gracias, su informe ha llegado",
  sentLead:
    "De este dispositivo solo ha salido el informe cambiado por el azar. Puede cerrar la página.",
  failedTitle: "No se ha enviado",
  failedNetwork:
    "No se puede llegar al servidor. Inténtelo otra vez: es el mismo informe y contará una sola vez.",
  failedChanged: "El estudio ha cambiado entretanto. Por favor, vuelva a cargar la página.",
  failedRefused: "El servidor no lo ha aceptado: {problem}.",
  retry: "Intentar otra vez",
  changedTitle: "Este estudio ha cambiado",
  changedLead:
    "Desde que abrió esta página por primera vez han cambiado sus preguntas o su protección. Lo que aceptó entonces ya no vale. Léalo como un estudio nuevo.",
  accept: "Entendido, mostrar el estudio cambiado",
  correctedTitle: "Se han corregido palabras de este estudio",
  correctedLead:
    "Desde que abrió esta página por primera vez se han corregido algunas palabras. Su dispositivo ha comprobado que nada más ha cambiado: las mismas respuestas, ocultas de la misma manera. Lea las palabras nuevas antes de continuar.",
  correctedOn: "Corregido el {day}:",
  correctedAccept: "Lo he leído, mostrar las preguntas",
  waitingTitle: "Puede que un informe no haya llegado",
  waitingLead:
    "La última vez no llegó confirmación. Puede enviar el mismo informe otra vez: contará una sola vez.",
  waitingSend: "Enviarlo otra vez",
  alreadyTitle: "Ya ha participado",
  alreadyLead:
    "Este dispositivo ya ha enviado su informe para este estudio. Vale hasta que el estudio termine: otras respuestas ahora no cambiarían nada ni revelarían nada más. Otra persona debería usar su propio dispositivo o una ventana privada.",
  invitation: "Código de invitación",
  invitationHelp: "20 letras y cifras, de quien le ha invitado.",
  invitationMissing: "Por favor, escriba el código: 20 letras y cifras.",
  invitationRefused:
    "El servidor no conoce este código, o ya se ha usado. No se ha enviado ni gastado nada. Por favor, corríjalo o pregunte a quien le ha invitado.",
  consentTitle: "Su consentimiento",
  consentAgree: "Lo he leído y estoy de acuerdo.",
  consentMissing: "Marque la casilla si está de acuerdo. Sin ella no se envía nada.",
  completion: "Seguir a la página siguiente",
  imprint: "Aviso legal",
  privacy: "Política de privacidad",
  ledgerTitle: "Lo que este dispositivo ha dicho hasta ahora a este sitio",
  ledgerNone: "Nada.",
  ledgerSpent: "Pérdida de privacidad (épsilon)",
  ledgerTotal: "En total",
  ledgerNote: "Está anotado solo en este dispositivo, sin sus respuestas.",
  ledgerLost: "Este navegador no guarda nada: la lista desaparece al cerrar la página.",
  forget: "Olvidarlo en este dispositivo",
  forgetSure:
    "¿Olvidar la lista y lo enviado? Si después vuelve a responder, se sortea un informe nuevo y se revela más.",
  brokenTitle: "No se puede responder a este estudio",
  brokenLead:
    "Las preguntas que ha dado el servidor están dañadas o no protegen, así que no se pregunta ni se envía nada. Por favor, avise a quien hace la encuesta.",
  earlyTitle: "Esta encuesta aún no está abierta",
  earlyLead: "Se abre el {time}. Antes no se pregunta nada.",
  earlyUnknown: "Se abre pronto. Antes no se pregunta nada.",
  pausedTitle: "Esta encuesta está en pausa",
  pausedLead:
    "Continuará más tarde. Vuelva, por favor; hasta entonces no se pregunta ni se envía nada.",
  closedTitle: "Esta encuesta ha terminado",
  closedLead:
    "Gracias por su interés, y a todas las personas que participaron. Ya no se pregunta ni se envía nada.",
  closedWaiting:
    "Este dispositivo entregó un informe, pero no llegó ninguna confirmación. Puede que haya llegado: puede preguntar, contará una sola vez. Si no, queda en este dispositivo.",
  lookAgain: "Mirar de nuevo",
  unreachableTitle: "No se pueden cargar las preguntas",
  unreachableLead: "Compruebe su conexión y vuelva a cargar la página.",
  deviceTitle: "Esta página debe abrirse por https",
  deviceLead:
    "Los navegadores solo ofrecen azar seguro en páginas recibidas por https. No se pregunta ni se envía nada.",
  reason: "Motivo",
};
