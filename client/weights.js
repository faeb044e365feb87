// What every channel checks of its weights, and works out from them.

import { commonFactor, product, ratio } from "./arithmetic.js";
import { Refusal } from "./refusal.js";

/** @typedef {import("./channel.js").Channel} Channel */
/** @typedef {import("./exposure.js").Guess} Guess */

// Above, a report is the answer as it is: no privacy choice at all.
const MAX_EPSILON = 32;
const MAX_ODDS = 78962960182680695160978n; // e^32 times 10^9
const MAX_TOTAL = 2n ** 53n;

/**
 * What a published channel holds: these entries beside its kind, and no others.
 *
 * @param {any} document
 * @param {string[]} names
 */
export function entries(document, names) {
  const found = Object.keys(document).sort().join(" ");
  if (found !== ["kind", ...names].sort().join(" ")) {
    throw broken(`a channel of kind ${document.kind} has other entries than it should`);
  }
}

/**
 * @param {unknown} value
 * @param {number} least
 */
export function whole(value, least) {
  if (!Number.isSafeInteger(value) || /** @type {number} */ (value) < least) {
    throw broken(`${JSON.stringify(value)} is no weight or size that a channel can have`);
  }
}

/** @param {number} value */
export function powerOfTwo(value) {
  whole(value, 1);
  const exact = BigInt(value);
  if ((exact & (exact - 1n)) !== 0n) throw broken(`the weight ${value} is not a power of two`);
}

/** @param {bigint} sum */
export function totalOf(sum) {
  if (sum > MAX_TOTAL) throw broken("the weights are too large to be exact");
  return Number(sum);
}

/**
 * How often each block is drawn, beside the others: once, or as whole numbers say that have no common
 * factor and are not all alike.
 *
 * @param {any} draw
 * @param {number} blocks
 * @returns {number[]}
 */
export function drawWeights(draw, blocks) {
  if (draw === 1) return new Array(blocks).fill(1);
  if (!Array.isArray(draw) || draw.length !== blocks) throw broken("the study draws not one block");
  draw.forEach((weight) => whole(weight, 1));
  totalOf(draw.reduce((sum, weight) => sum + BigInt(weight), 0n));
  if (draw.every((weight) => weight === draw[0]) || draw.reduce(commonFactor) > 1) {
    throw broken("the weights of a draw are not the smallest");
  }
  return draw;
}

/**
 * @param {number} most
 * @param {number} least
 */
export function epsilonOf(most, least) {
  // The quotient and its logarithm are each right to about one unit in the last place; a loss is
  // never understated.
  const loss = Math.log(most / least) * (1 + 2 ** -50) + 2 ** -50;
  // In whole numbers: exactly 32 may round up.
  if (BigInt(most) * 10n ** 9n > BigInt(least) * MAX_ODDS) throw broken("a channel would report the answer as it is");
  return Math.min(loss, MAX_EPSILON);
}

/**
 * The best guess at one attribute of a block, or at all of them (-1), from any matrix of weights:
 * for each report the value whose answers weigh most.
 *
 * @param {{inputs: number, outputs: number, total: number,
 *   weight: (answer: number, report: number) => number}} channel
 * @param {number[]} sizes of the block's attributes, the last one's value moving fastest
 * @param {number} at
 * @returns {Guess}
 */
export function guessByWeights({ inputs, outputs, total, weight }, sizes, at) {
  const stride = product(sizes.slice(at + 1));
  const values = at < 0 ? inputs : sizes[at];
  return guessBySums(outputs, BigInt(total) * BigInt(inputs), (report) => {
    const sums = new Array(values).fill(0n);
    for (let answer = 0; answer < inputs; answer += 1) {
      const value = at < 0 ? answer : Math.floor(answer / stride) % values;
      sums[value] += BigInt(weight(answer, report));
    }
    return [sums, sums.reduce((a, b) => a + b)];
  });
}

/**
 * The best guess, from what each value weighs under each report.
 *
 * @param {number} outputs
 * @param {bigint} total the weights of all answers and reports
 * @param {(report: number) => [bigint[], bigint]} sumsOf those of one report, and of all its answers
 * @returns {Guess}
 */
export function guessBySums(outputs, total, sumsOf) {
  let best = 0n;
  let worst = 0;
  for (let report = 0; report < outputs; report += 1) {
    const [sums, all] = sumsOf(report);
    const most = sums.reduce((a, b) => (a > b ? a : b));
    best += most;
    worst = Math.max(worst, ratio(most, all));
  }
  return { right: ratio(best, total), worst };
}

/**
 * A channel from its weights alone: row x holds those of the reports of answer x.
 *
 * @param {string} kind
 * @param {number[][]} weights
 * @returns {Channel}
 */
export function weighted(kind, weights) {
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
  const odds = columns.map((column) => /** @type {[number, number]} */ ([Math.max(...column), Math.min(...column)]));
  const losses = odds.map(([most, least]) => epsilonOf(most, least));
  /** @param {number} answer @param {number} report */
  const weight = (answer, report) => weights[answer][report];
  const size = { inputs: weights.length, outputs, total };
  return {
    kind,
    ...size,
    // Such a channel may mean anything by its reports: the page shows for which answers each speaks.
    reportsAnswers: false,
    respond(answer, number) {
      let report = 0;
      for (let step = width / 2; step >= 1; step /= 2) {
        report += step * Number(number >= ends[answer][report + step - 1]);
      }
      return report;
    },
    weight,
    epsilon: Math.max(...losses),
    odds: odds.reduce((one, other) => (isMore(other, one) ? other : one)),
    guess: (sizes, at) => guessByWeights({ ...size, weight }, sizes, at),
  };
}

/**
 * Whether a ratio of weights is above another, in whole numbers.
 *
 * @param {[number, number]} one
 * @param {[number, number]} other
 */
function isMore([most, least], [more, less]) {
  return BigInt(most) * BigInt(less) > BigInt(more) * BigInt(least);
}

/** @param {string} problem */
export function broken(problem) {
  return new Refusal("study", problem, "do not answer; tell whoever runs the study");
}
