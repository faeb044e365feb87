// Exactly what will leave, in words and to the letter.

import { bodyOf, readCodes } from "../client/report.js";
import { attributeNamed } from "../client/study.js";
import { make, spoken, table } from "./parts.js";

/** @typedef {import("../client/ledger.js").Entry} Entry */
/** @typedef {import("../client/report.js").Report} Report */
/** @typedef {import("../client/study.js").Block} Block */
/** @typedef {import("./survey.js").State} State */
/** @typedef {import("./words.js").Speech} Speech */

/**
 * @param {State} state
 * @param {Speech} speech
 * @param {string} url
 * @param {Entry[]} entries
 * @param {{send: () => void, back: (() => void) | null}} act no way back once it may have arrived
 */
export function reviewScreen(state, speech, url, entries, act) {
  const { say, atMost } = speech;
  const { study } = state.person;
  const report = /** @type {Report} */ (state.report);
  const stands = entries.some(({ digest }) => digest === study.digest);
  const cost = atMost(study.epsilon, 2);
  const explained = [
    ["id", "bodyId"],
    ["study", "bodyStudy"],
    ["codes", study.drawn ? "bodyCodesDrawn" : "bodyCodes"],
    ...(report.invitation === undefined ? [] : [["invitation", "bodyInvitation"]]),
  ];
  return make(
    "section",
    { class: "card review" },
    make("h2", { tabindex: -1 }, say("reviewTitle")),
    make("p", {}, say("reviewLead")),
    table(
      say("reviewTitle"),
      [say("columnQuestion"), say("columnAnswer"), say("columnSent")],
      sentRows(state, speech),
    ),
    make("h3", {}, say("bodyTitle")),
    make("p", {}, say("bodyLead", { url })),
    make(
      "pre",
      { id: "body", tabindex: 0, "aria-label": say("bodyTitle") },
      make("code", {}, bodyOf(report)),
    ),
    make(
      "dl",
      {},
      explained.flatMap(([name, words]) => [
        make("dt", {}, make("code", {}, name)),
        make("dd", {}, say(/** @type {"bodyId"} */ (words))),
      ]),
    ),
    make("p", {}, stands ? say("stands") : say("cost", { epsilon: cost })),
    make(
      "div",
      { class: "actions" },
      make(
        "button",
        { type: "button", class: "main", id: "send", click: act.send },
        say(state.failure ? "retry" : "send"),
      ),
      act.back && make("button", { type: "button", class: "plain", click: act.back }, say("back")),
    ),
  );
}

/**
 * @param {State} state
 * @param {Speech} speech
 */
function sentRows({ person: { study }, answers, report }, speech) {
  const { say } = speech;
  return readCodes(study, report?.codes ?? []).flatMap(({ block: index, code }) => {
    const block = study.blocks[index];
    const written = study.drawn ? block.offset + code : code; // as it stands in the text below
    // Reports of k-ary response are answers; those of other channels only speak for some.
    const sent = block.channel.reportsAnswers ? unpack(block, code) : null;
    return block.attributes.map((name, i) => {
      const attribute = attributeNamed(study, name);
      const values = speech.values(attribute);
      const own = attribute.values.indexOf(answers[name]);
      return [
        spoken(speech, speech.question(attribute)),
        spoken(speech, values[own]),
        sent === null
          ? say("sentCode", { code: written, values: spokenFor(block, i, code, values, speech) })
          : make(
              "span",
              {},
              spoken(speech, values[sent[i]]),
              make(
                "span",
                { class: "small note" },
                say(sent[i] === own ? "sentSame" : "sentOther"),
              ),
            ),
      ];
    });
  });
}

/**
 * @param {Block} block
 * @param {number} at
 * @param {number} code
 * @param {string[]} values
 * @param {Speech} speech
 */
function spokenFor(block, at, code, values, { say }) {
  const codes = new Set(likeliest(block, code).map((answer) => unpack(block, answer)[at]));
  const named = [...codes].sort((a, b) => a - b).map((value) => values[value]);
  const rest = named.length > 5 ? [say("andMore", { n: named.length - 5 })] : [];
  return [...named.slice(0, 5), ...rest].join(", ");
}

/**
 * The answers of a block that a report speaks for: those under which it is most likely.
 *
 * @param {Block} block
 * @param {number} report
 * @returns {number[]}
 */
function likeliest({ channel }, report) {
  const weights = Array.from({ length: channel.inputs }, (_, x) => channel.weight(x, report));
  const most = weights.reduce((a, b) => Math.max(a, b));
  return weights.flatMap((weight, answer) => (weight === most ? [answer] : []));
}

/**
 * The code of each attribute of a block in one of its answers.
 *
 * @param {Block} block
 * @param {number} answer
 * @returns {number[]}
 */
function unpack({ sizes }, answer) {
  const codes = [];
  for (const size of [...sizes].reverse()) {
    codes.unshift(answer % size);
    answer = Math.floor(answer / size);
  }
  return codes;
}
