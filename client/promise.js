// What a study with stages promises: an epsilon that no stage of it exceeds. How later respondents are
// asked depends on earlier reports, so the server publishes other channels while the study runs. This
// device works their exact privacy loss out from their weights, in whole numbers, and refuses a stage
// that costs more. castell/study/promise.py says more, and both must refuse the same.

import { broken } from "./weights.js";

/**
 * @typedef {object} Promised
 * @property {string} epsilon that no stage exceeds, as it is written
 * @property {number} stage which one this is, from 1 up
 */

const MOST_STAGES = 50;
const MAX_EPSILON = 32;
// One way to write each number: no zeros at its ends.
const EPSILON = /^(0|[1-9][0-9]?)(\.[0-9]{0,23}[1-9])?$/;
const DIGEST = /^[0-9a-f]{64}$/;
// Bits after the point: far more than any weights can tell apart.
const BITS = 320n;

/**
 * What a published study says of its stages.
 *
 * @param {any} stages
 * @returns {Promised}
 */
export function promiseOf(stages) {
  const plain = stages !== null && typeof stages === "object" && !Array.isArray(stages);
  const { epsilon, after, ...rest } = plain ? stages : {};
  if (!plain || Object.keys(rest).length > 0 || typeof epsilon !== "string") throw noPromise();
  if (!EPSILON.test(epsilon) || Number(epsilon) === 0 || isAbove(epsilon)) throw noPromise();
  if (!("after" in stages)) return { epsilon, stage: 1 };
  const listed =
    Array.isArray(after) &&
    after.every((digest) => typeof digest === "string" && DIGEST.test(digest));
  if (!listed || after.length === 0 || after.length >= MOST_STAGES) throw noPromise();
  if (new Set(after).size < after.length) throw noPromise();
  return { epsilon, stage: after.length + 1 };
}

/**
 * Refuse a stage that costs more than was promised.
 *
 * @param {Promised} promised
 * @param {import("./study.js").Block[]} blocks
 * @param {boolean} drawn whether one of them is reported, or all
 */
export function checkPromise({ epsilon }, blocks, drawn) {
  const odds = blocks.map(({ channel }) => channel.odds.map(BigInt));
  const whole = drawn
    ? odds
    : [odds.reduce(([most, least], [more, less]) => [most * more, least * less])];
  const limit = exponential(epsilon);
  if (whole.some(([most, least]) => most << BITS > least * limit)) {
    throw broken(`this stage gives away more than the study promises (epsilon ${epsilon})`);
  }
}

/**
 * What all stages of a study have in common.
 *
 * @param {any} content without its digest
 * @returns {any}
 */
export function inCommon({ blocks: _blocks, draw: _draw, corrections: _made, ...rest }) {
  return { ...rest, stages: { epsilon: rest.stages.epsilon } };
}

/**
 * e to the power of a number as it is written, times 2^BITS, by its series.
 *
 * @param {string} written
 * @returns {bigint}
 */
function exponential(written) {
  const [units, decimals = ""] = written.split(".");
  const [number, scale] = [BigInt(units + decimals), 10n ** BigInt(decimals.length)];
  let term = 1n << BITS;
  let sum = 0n;
  for (let n = 1n; term > 0n; n += 1n) {
    sum += term;
    term = (term * number) / (scale * n);
  }
  return sum;
}

/** @param {string} epsilon */
function isAbove(epsilon) {
  const [units, decimals] = epsilon.split(".");
  return Number(units) > MAX_EPSILON || (Number(units) === MAX_EPSILON && decimals !== undefined);
}

function noPromise() {
  return broken("what the study says of its stages is broken");
}
