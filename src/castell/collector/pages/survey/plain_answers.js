// Answers that leave as they are: public ones, and that a question was skipped.

import { isSkip } from "../client/attribute.js";
import { readCodes } from "../client/report.js";

/** @typedef {import("../client/study.js").Study} Study */
/** @typedef {import("../client/study.js").Attribute} Attribute */
/** @typedef {import("./words.js").Speech} Speech */

/**
 * The questions whose answers would leave as they are.
 *
 * @param {Study} study
 * @param {{[attribute: string]: string}} answers
 * @param {Speech} speech
 * @returns {string} "" if there are none
 */
export function plainIn(study, answers, speech) {
  return named(
    study.attributes.filter(
      (one) => one.public || isSkip(one, one.values.indexOf(answers[one.name] ?? "")),
    ),
    speech,
  );
}

/**
 * The questions whose answers stand in a report as they are.
 *
 * @param {Study} study
 * @param {number[]} codes
 * @param {Speech} speech
 * @returns {string} "" if there are none
 */
export function plainOf(study, codes, speech) {
  const skipped = readCodes(study, codes).filter(({ block, code }) => {
    const { channel } = study.blocks[block];
    return channel.kind === "skip" && code === channel.outputs - 1;
  });
  const names = skipped.flatMap(({ block }) => study.blocks[block].attributes);
  return named(
    study.attributes.filter((one) => one.public || names.includes(one.name)),
    speech,
  );
}

/**
 * @param {Attribute[]} attributes
 * @param {Speech} speech
 */
function named(attributes, speech) {
  return attributes.map((one) => `“${speech.question(one)}”`).join(", ");
}
