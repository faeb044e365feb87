// Things to know, and what became of a report.

import { reportParts } from "./leaving.js";
import { make, paragraphs } from "./parts.js";
import { plainOf } from "./plain_answers.js";

/** @typedef {import("./survey.js").State} State */
/** @typedef {import("./words.js").Speech} Speech */

/**
 * Something to know before going on, and the button that goes on, if there is a way on.
 *
 * @param {Speech} speech
 * @param {Parameters<Speech["say"]>[0]} title
 * @param {Parameters<Speech["say"]>[0]} lead
 * @param {Parameters<Speech["say"]>[0]} [action]
 * @param {() => void} [act]
 */
export function notice({ say }, title, lead, action, act) {
  return make(
    "section",
    { class: "card" },
    make("h2", { tabindex: -1 }, say(title)),
    make("p", {}, say(lead)),
    action &&
      make(
        "div",
        { class: "actions" },
        make("button", { type: "button", class: "main", click: act }, say(action)),
      ),
  );
}

/**
 * @param {State} state
 * @param {Speech} speech
 */
export function failure({ failure: refusal }, { say }) {
  if (!refusal) return null;
  const words = {
    network: say("failedNetwork"),
    changed: say("failedChanged"),
    stands: say("stands"),
  };
  const text =
    refusal.kind === "network" || refusal.kind === "changed" || refusal.kind === "stands"
      ? words[refusal.kind]
      : say("failedRefused", { problem: refusal.problem });
  return make(
    "div",
    { role: "alert", class: "alert", tabindex: -1 },
    make("h3", {}, say("failedTitle")),
    make("p", {}, text),
  );
}

/**
 * It has arrived, and this is what it was.
 *
 * @param {State} state
 * @param {Speech} speech
 * @param {string} url
 * @param {() => void} next what starts the page anew where many people use one device
 */
export function sentScreen(state, speech, url, next) {
  const { say } = speech;
  const { kiosk } = state.setting;
  const plain = plainOf(state.person.study, state.report?.codes ?? [], speech);
  return [
    make(
      "section",
      { class: "card done" },
      make("h2", { tabindex: -1 }, say("sentTitle")),
      paragraphs("thanks", speech.told(state.person.study, "thanks")),
      make("p", {}, say(plain ? "plainLeft" : kiosk ? "kioskSentLead" : "sentLead", { questions: plain })),
      kiosk ? leaving(speech, next) : completion(state, speech),
    ),
    make(
      "section",
      { class: "card review" },
      make("h2", {}, say("leftTitle")),
      make("p", {}, say(plain ? "plainMade" : "leftLead", { questions: plain })),
      reportParts(state, speech, url, true),
    ),
  ];
}

/**
 * The way to the next person; a link would lead the device away from the survey.
 *
 * @param {Speech} speech
 * @param {() => void} next
 */
function leaving({ say }, next) {
  return make(
    "div",
    { class: "actions" },
    make("button", { type: "button", class: "main", click: next }, say("kioskClear")),
    make("span", { class: "small", id: "next" }),
  );
}

/**
 * The way on, if the study has one: a link that a person may follow. Nothing is added to it.
 *
 * @param {State} state
 * @param {Speech} speech
 */
function completion({ person: { study } }, { say, link }) {
  const href = link(study, "completion");
  return (
    href !== "" &&
    make(
      "p",
      { class: "onward" },
      make("a", { href, rel: "noreferrer noopener" }, say("completion")),
      " ",
      make("span", { class: "small" }, href),
    )
  );
}

/**
 * It arrived earlier. What it was is there on request.
 *
 * @param {State} state
 * @param {Speech} speech
 * @param {string} url
 */
export function alreadyScreen(state, speech, url) {
  const { say } = speech;
  return make(
    "section",
    { class: "card review" },
    make("h2", { tabindex: -1 }, say("alreadyTitle")),
    make("p", {}, say("alreadyLead")),
    make(
      "details",
      {},
      make("summary", {}, say("leftTitle")),
      reportParts(state, speech, url, true),
    ),
    completion(state, speech),
  );
}

/**
 * @param {import("../client/refusal.js").Kind} kind
 * @param {string} reason
 * @param {Speech["say"]} say
 */
export function problemScreen(kind, reason, say) {
  const name = kind === "network" ? "unreachable" : kind === "device" ? "device" : "broken";
  return make(
    "main",
    {},
    make(
      "section",
      { class: "card", role: "alert" },
      make("h1", {}, say(`${name}Title`)),
      make("p", {}, say(`${name}Lead`)),
      name === "broken" && make("p", { class: "small" }, `${say("reason")}: ${reason}`),
    ),
  );
}
