// Channels: randomised response as exact integer weights. Answer x is reported as y with probability
// weight(x, y) / total. The same integers are used by the server that estimates, so no rounding
// stands between what is claimed and what happens here.

import { Refusal } from "./refusal.js";

/**
 * @typedef {object} Channel
 * @property {string} kind
 * @property {number} inputs how many answers there are
 * @property {number} outputs how many reports there are
 * @property {number} total what the weights of one answer sum to, at most 2^53
 * @property {(answer: number, number: number) => number} respond the report of an answer, given a
 *   number drawn uniformly below `total`; the path does not depend on the answer
 * @property {(answer: number, report: number) => number} weight
 * @property {number} epsilon the privacy loss of one report, rounded up
 */

// Above, a report is the answer as it is: no privacy choice at all.
const MAX_EPSILON = 32;
const MAX_TOTAL = 2n ** 53n;

/**
 * The channel a published study describes.
 *
 * @param {any} document
 * @returns {Channel}
 */
export function channelOf(document) {
  const kind = document !== null && typeof document === "object" ? document.kind : undefined;
  const keys = kind === undefined ? "" : Object.keys(document).sort().join(" ");
  if (kind === "kary" && keys === "kind other same size") return kary(document);
  if (kind === "matrix" && keys === "kind weights") return matrix(document);
  if (kind === "cyclic" && keys === "kind other outputs same set size") return cyclic(document);
  throw broken(`a channel of kind ${JSON.stringify(kind) ?? "?"} is unknown here`);
}

/**
 * The answer with weight `same`, each other value with weight `other`, a power of two. A number's
 * upper part is the report if it is a value at all; otherwise the report is the answer.
 *
 * @param {{size: number, same: number, other: number}} document
 * @returns {Channel}
 */
function kary({ size, same, other }) {
  whole(size, 2);
  powerOfTwo(other);
  whole(same, other + 1);
  return {
    kind: "kary",
    inputs: size,
    outputs: size,
    total: totalOf(BigInt(same) + BigInt(size - 1) * BigInt(other)),
    respond(answer, number) {
      // Dividing by a power of two is exact, and both arms are there for everyone.
      const drawn = Math.floor(number / other);
      return [answer, drawn][Number(drawn < size)];
    },
    weight: (answer, report) => (answer === report ? same : other),
    epsilon: epsilonOf(same, other),
  };
}

/**
 * Any matrix: row x holds the weights of the reports of answer x.
 *
 * @param {{weights: number[][]}} document
 * @returns {Channel}
 */
function matrix({ weights }) {
  if (!Array.isArray(weights) || weights.length < 2 || !weights.every(Array.isArray)) {
    throw broken("a randomisation matrix needs two rows or more");
  }
  const outputs = weights[0].length;
  if (weights.some((row) => row.length !== outputs) || outputs < weights.length) {
    throw broken("the rows of a matrix differ in length, or are too short");
  }
  weights.flat().forEach((weight) => whole(weight, 1));
  const sums = weights.map((row) => row.reduce((sum, weight) => sum + BigInt(weight), 0n));
  if (sums.some((sum) => sum !== sums[0])) throw broken("the rows of a matrix differ in total");
  const total = totalOf(sums[0]);

  // Each row's running sums, filled up so that every search takes the same number of steps.
  let width = 1;
  while (width < outputs) width *= 2;
  const ends = weights.map((row) => {
    const line = new Array(width).fill(total);
    row.reduce((sum, weight, y) => (line[y] = sum + weight), 0);
    return line;
  });
  const columns = weights[0].map((_, y) => weights.map((row) => row[y]));
  const losses = columns.map((column) => epsilonOf(Math.max(...column), Math.min(...column)));
  return {
    kind: "matrix",
    inputs: weights.length,
    outputs,
    total,
    respond(answer, number) {
      let report = 0;
      for (let step = width / 2; step >= 1; step /= 2) {
        report += step * Number(number >= ends[answer][report + step - 1]);
      }
      return report;
    },
    weight: (answer, report) => weights[answer][report],
    epsilon: Math.max(...losses),
  };
}

/**
 * Reports on a circle of `outputs`: those whose distance from the answer is in `set` weigh `same`,
 * the rest `other`, a power of two.
 *
 * @param {{size: number, outputs: number, set: number[], same: number, other: number}} document
 * @returns {Channel}
 */
function cyclic({ size, outputs, set, same, other }) {
  whole(size, 2);
  whole(outputs, size);
  powerOfTwo(other);
  whole(same, other + 1);
  if (!Array.isArray(set) || set.length < 1 || set.length >= outputs) {
    throw broken("the set of a cyclic channel is empty or everything");
  }
  set.forEach((distance, i) => {
    whole(distance, i === 0 ? 0 : set[i - 1] + 1);
    if (distance >= outputs) throw broken("the set of a cyclic channel leaves the circle");
  });
  const gap = same - other;
  const total = totalOf(BigInt(outputs) * BigInt(other) + BigInt(set.length) * BigInt(gap));
  const base = outputs * other;
  const near = new Set(set);
  return {
    kind: "cyclic",
    inputs: size,
    outputs,
    total,
    respond(answer, number) {
      const beyond = Math.max(number - base, 0);
      // Below 2^53 a quotient never rounds up to the next whole number, so floor() is exact.
      const chosen = (answer + set[Math.floor(beyond / gap)]) % outputs;
      return [chosen, Math.floor(number / other)][Number(number < base)];
    },
    weight: (answer, report) =>
      near.has((((report - answer) % outputs) + outputs) % outputs) ? same : other,
    epsilon: epsilonOf(same, other),
  };
}

/**
 * @param {unknown} value
 * @param {number} least
 */
function whole(value, least) {
  if (!Number.isSafeInteger(value) || /** @type {number} */ (value) < least) {
    throw broken(`${JSON.stringify(value)} is no weight or size that a channel can have`);
  }
}

/** @param {number} value */
function powerOfTwo(value) {
  whole(value, 1);
  const exact = BigInt(value);
  if ((exact & (exact - 1n)) !== 0n) throw broken(`the weight ${value} is not a power of two`);
}

/** @param {bigint} sum */
function totalOf(sum) {
  if (sum > MAX_TOTAL) throw broken("the weights are too large to be exact");
  return Number(sum);
}

/**
 * @param {number} most
 * @param {number} least
 */
function epsilonOf(most, least) {
  // The quotient and its logarithm are each right to about one unit in the last place; a loss is
  // never understated.
  const loss = Math.log(most / least) * (1 + 2 ** -50) + 2 ** -50;
  if (loss > MAX_EPSILON) throw broken("a channel would report the answer as it is");
  return loss;
}

/** @param {string} problem */
function broken(problem) {
  return new Refusal("study", problem, "do not answer; tell whoever runs the study");
}
