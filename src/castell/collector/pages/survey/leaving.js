// Exactly what leaves, in words and to the letter.

import { product } from "../client/arithmetic.js";
import { isSkip } from "../client/attribute.js";
import { bodyOf, readCodes } from "../client/report.js";
import { attributeNamed } from "../client/study.js";
import { people } from "./chances.js";
import { make, spokenQuestion, spokenValue, table } from "./parts.js";
import { plainOf } from "./plain_answers.js";

/** @typedef {import("../client/report.js").Report} Report */
/** @typedef {import("../client/study.js").Attribute} Attribute */
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
  const plain = plainOf(study, report.codes, speech);
  const answered = Object.keys(state.answers).length > 0;
  const own = answered ? [say(plain ? "plainAnswer" : "columnAnswer")] : [];
  const explained = [
    ["id", "bodyId"],
    ["study", "bodyStudy"],
    ["codes", plain ? "plainCodes" : study.drawn ? "bodyCodesDrawn" : "bodyCodes"],
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
        make("dd", {}, say(/** @type {"plainCodes"} */ (words), { questions: plain })),
      ]),
    ),
  ];
}

/**
 * @param {State} state
 * @param {Speech} speech
 */
function sentRows({ person: { study }, answers, report }, speech) {
  return readCodes(study, report?.codes ?? []).flatMap(({ block: index, code }) => {
    const block = study.blocks[index];
    const written = block.offset + code; // as it stands in the text below
    const { reportsAnswers } = block.channel.coarse?.inner ?? block.channel;
    const all = pieces(block, code);
    return block.attributes.map((name, i) => {
      const attribute = attributeNamed(study, name);
      // Of a report that was sent earlier nobody knows any more what was answered.
      const known = Object.hasOwn(answers, name);
      const own = known ? attribute.values.indexOf(answers[name]) : -1;
      return [
        spokenQuestion(speech, attribute),
        ...(known ? [spokenValue(speech, attribute, own)] : []),
        make(
          "span",
          {},
          sentValues(fitting(all, i), reportsAnswers ? "" : written, attribute, own, speech),
          others(all, i, speech),
        ),
      ];
    });
  });
}

/**
 * What a report says of an attribute, and how that came. Reports of k-ary response are answers or,
 * where a block asks coarsely, groups of them; those of other channels only speak for some.
 *
 * @param {Set<number>} fits
 * @param {number | ""} code the report, if it only speaks for some
 * @param {Attribute} attribute
 * @param {number} own the code of the answer; -1 if it is not known any more
 * @param {Speech} speech
 */
function sentValues(fits, code, attribute, own, speech) {
  const { say } = speech;
  const codes = [...fits].sort((a, b) => a - b);
  const named = codes.map((value) => speech.values(attribute)[value]);
  const rest = named.length > 5 ? [say("andMore", { n: named.length - 5 })] : [];
  const values = [...named.slice(0, 5), ...rest].join(", ");
  const skipped = codes.length === 1 && isSkip(attribute, codes[0]);
  if (code !== "" && !skipped) return [say("sentCode", { code, values })];
  if (codes.length === attribute.values.length) return [say("sentAny")];
  const one = codes.length === 1;
  const changed = !fits.has(own) ? "sentOther" : one ? "sentSame" : "sentAmong";
  const plain = attribute.public ? "publicSent" : skipped && "skipSent";
  return [
    one ? spokenValue(speech, attribute, codes[0]) : say("sentGroup", { values }),
    (own >= 0 || plain) && make("span", { class: "small note" }, say(plain || changed)),
  ];
}

/**
 * How many people who send this mean something else than it says or fits, if there are any.
 *
 * @param {Piece[]} all
 * @param {number} at
 * @param {Speech} speech
 */
function others(all, at, speech) {
  const share = meantOtherwise(all, at);
  return (
    share > 0 &&
    make("span", { class: "small note" }, speech.say("others", people(speech, share)))
  );
}

/**
 * The share of those who send a code whose answer is none that it speaks for, if all answers are
 * equally likely beforehand.
 *
 * @param {Piece[]} all
 * @param {number} at
 * @returns {number}
 */
export function meantOtherwise(all, at) {
  const fits = fitting(all, at);
  let [every, other] = [0, 0];
  for (const { box, weight } of all) {
    const each = weight * product(box.map(({ length }) => length));
    every += each;
    other += (each * box[at].filter((value) => !fits.has(value)).length) / box[at].length;
  }
  return other / every;
}

/**
 * The values of an attribute that a code speaks for: those under which it is most likely.
 *
 * @param {Piece[]} all
 * @param {number} at
 */
function fitting(all, at) {
  const most = all.reduce((best, { weight }) => Math.max(best, weight), 0);
  return new Set(all.flatMap(({ box, weight }) => (weight === most ? box[at] : [])));
}

/**
 * Something that reports tell apart, an answer or a group of answers, as a box of values; and what
 * each answer in it weighs under one report.
 *
 * @typedef {{box: number[][], weight: number}} Piece
 */

/**
 * All that reports of a block tell apart.
 *
 * @param {Block} block
 * @param {number} code
 * @returns {Piece[]}
 */
export function pieces({ sizes, channel }, code) {
  const { coarse, inputs } = channel;
  if (coarse) {
    return coarse.leaves.map((box, leaf) => ({ box, weight: coarse.inner.weight(leaf, code) }));
  }
  return Array.from({ length: inputs }, (_, answer) => ({
    box: unpack(sizes, answer),
    weight: channel.weight(answer, code),
  }));
}

/**
 * The code of each attribute of a block in one of its answers, as a box of one.
 *
 * @param {number[]} sizes
 * @param {number} answer
 * @returns {number[][]}
 */
function unpack(sizes, answer) {
  const codes = [];
  for (const size of [...sizes].reverse()) {
    codes.unshift([answer % size]);
    answer = Math.floor(answer / size);
  }
  return codes;
}
