// What is there instead of the questions while no reports are taken.

import { make } from "./parts.js";

/** @typedef {import("./survey.js").State} State */
/** @typedef {import("./words.js").Speech} Speech */

/**
 * Not open yet, paused, or over. A report that was handed over and never acknowledged may be there
 * all the same, so asking again is offered.
 *
 * @param {State} state
 * @param {Speech} speech
 * @param {() => void} send
 */
export function closedScreen({ collecting: { phase, opens }, report }, { say, pageLanguage }, send) {
  const name = phase === "not_open_yet" ? "early" : phase === "paused" ? "paused" : "closed";
  const lead = name === "early" && opens === null ? "earlyUnknown" : /** @type {const} */ (`${name}Lead`);
  const again = () => location.reload();
  return make(
    "section",
    { class: "card closed", "data-phase": phase },
    make("h2", { tabindex: -1 }, say(`${name}Title`)),
    make("p", {}, say(lead, { time: opens === null ? "" : inWords(opens, pageLanguage) })),
    report && make("p", {}, say("closedWaiting")),
    (report || name !== "closed") &&
      make(
        "div",
        { class: "actions" },
        make(
          "button",
          { type: "button", class: "main", click: report ? send : again },
          say(report ? "waitingSend" : "lookAgain"),
        ),
      ),
  );
}

/**
 * A moment in the person's own time zone, which is named.
 *
 * @param {string} time
 * @param {string} language
 */
function inWords(time, language) {
  return new Intl.DateTimeFormat(language, {
    weekday: "long",
    day: "numeric",
    month: "long",
    year: "numeric",
    hour: "numeric",
    minute: "2-digit",
    timeZoneName: "short",
  }).format(new Date(time));
}
