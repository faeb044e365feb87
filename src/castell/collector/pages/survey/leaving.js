// Exactly what leaves, in words and to the letter.

import { bodyOf, readCodes } from "../client/report.js";
import { attributeNamed } from "../client/study.js";
import { people } from "./chances.js";
import { make, spokenQuestion, spokenValue, table } from "./parts.js";

/** @typedef {import("../client/report.js").Report} Report */
/** @typedef {import("../client/study.js").Block} Block */
/** @typedef {import("./survey.js").State} State */
/** @typedef {import("./words.js").Speech} Speech */

/**
 * The table and the text of a report, to be read before it leaves or after it has.
 *
 * @param {State} state whose report is shown, beside the answers it was drawn from if there are any
 * @param {Speech} speech
 * @param {string} url
 * @param {boolean} left whether it has left
 * @returns {import("./parts.js").Child[]}
 */
export function reportParts(state, speech, url, left) {
  const { say } = speech;
  const { study } = state.person;
  const report = /** @type {Report} */ (state.report);
  const own = Object.keys(state.answers).length > 0 ? [say("columnAnswer")] : [];
  const explained = [
    ["id", "bodyId"],
    ["study", "bodyStudy"],
    ["codes", study.drawn ? "bodyCodesDrawn" : "bodyCodes"],
    ...(report.invitation === undefined ? [] : [["invitation", "bodyInvitation"]]),
  ];
  return [
    table(
      say(left ? "leftTitle" : "reviewTitle"),
      [say("columnQuestion"), ...own, say(left ? "columnLeft" : "columnSent")],
      sentRows(state, speech),
    ),
    make("h3", {}, say("bodyTitle")),
    make("p", {}, say(left ? "bodyLeft" : "bodyLead", { url })),
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
  ];
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
      // Of a report that was sent earlier nobody knows any more what was answered.
      const known = Object.hasOwn(answers, name);
      const own = known ? attribute.values.indexOf(answers[name]) : -1;
      return [
        spokenQuestion(speech, attribute),
        ...(known ? [spokenValue(speech, attribute, own)] : []),
        make(
          "span",
          {},
          sent === null
            ? say("sentCode", { code: written, values: spokenFor(block, i, code, values, speech) })
            : spokenValue(speech, attribute, sent[i]),
          sent !== null &&
            known &&
            make("span", { class: "small note" }, say(sent[i] === own ? "sentSame" : "sentOther")),
          others(block, i, code, speech),
        ),
      ];
    });
  });
}

/**
 * How many people who send this mean something else than it says or fits, if there are any.
 *
 * @param {Block} block
 * @param {number} at
 * @param {number} code
 * @param {Speech} speech
 */
function others(block, at, code, speech) {
  const share = meantOtherwise(block, at, code);
  return (
    share > 0 &&
    make("span", { class: "small note" }, speech.say("others", people(speech, share)))
  );
}

/**
 * The share of those who send a code whose answer is none that it speaks for, if all answers are
 * equally likely beforehand.
 *
 * @param {Block} block
 * @param {number} at
 * @param {number} code
 * @returns {number}
 */
export function meantOtherwise(block, at, code) {
  const { channel } = block;
  const fits = fitting(block, at, code);
  let [all, other] = [0, 0];
  for (let answer = 0; answer < channel.inputs; answer += 1) {
    const weight = channel.weight(answer, code);
    all += weight;
    if (!fits.has(unpack(block, answer)[at])) other += weight;
  }
  return other / all;
}

/**
 * The values of an attribute that a code speaks for.
 *
 * @param {Block} block
 * @param {number} at
 * @param {number} code
 */
function fitting(block, at, code) {
  return new Set(likeliest(block, code).map((answer) => unpack(block, answer)[at]));
}

/**
 * @param {Block} block
 * @param {number} at
 * @param {number} code
 * @param {string[]} values
 * @param {Speech} speech
 */
function spokenFor(block, at, code, values, { say }) {
  const named = [...fitting(block, at, code)].sort((a, b) => a - b).map((value) => values[value]);
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
