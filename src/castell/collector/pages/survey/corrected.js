// Words of the study that were corrected while reports came in: what they were, and what they are.

import { make } from "./parts.js";

/** @typedef {import("../client/corrections.js").Correction} Correction */
/** @typedef {import("./words.js").Speech} Speech */

/**
 * For whoever saw the words before and has not sent a report: to be read before going on.
 *
 * @param {Correction[]} corrections those since then
 * @param {Speech} speech
 * @param {() => void} accept
 */
export function correctedScreen(corrections, speech, accept) {
  const { say } = speech;
  return make(
    "section",
    { class: "card" },
    make("h2", { tabindex: -1 }, say("correctedTitle")),
    make("p", {}, say("correctedLead")),
    listed(corrections, speech),
    make(
      "div",
      { class: "actions" },
      make("button", { type: "button", class: "main", click: accept }, say("correctedAccept")),
    ),
  );
}

/**
 * For everybody else: that there were others, and which.
 *
 * @param {Correction[]} corrections
 * @param {Speech} speech
 */
export function correctedNote(corrections, speech) {
  if (corrections.length === 0) return null;
  return make(
    "details",
    { class: "small" },
    make("summary", {}, speech.say("correctedTitle")),
    listed(corrections, speech),
  );
}

/**
 * @param {Correction[]} corrections
 * @param {Speech} speech
 */
function listed(corrections, { say }) {
  return corrections.map(({ on, changes }) =>
    make(
      "div",
      {},
      make("p", {}, say("correctedOn", { day: on })),
      make(
        "ul",
        {},
        changes.map(({ was, now }) =>
          make(
            "li",
            {},
            was !== "" && make("del", { dir: "auto" }, was),
            " ",
            now !== "" && make("ins", { dir: "auto" }, now),
          ),
        ),
      ),
    ),
  );
}
