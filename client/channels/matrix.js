// Any matrix: row x holds the weights of the reports of answer x.

import { broken, entries, epsilonOf, guessByWeights, totalOf, whole } from "../weights.js";

/**
 * @param {{weights: number[][]}} document
 * @returns {import("../channel.js").Channel}
 */
export function read(document) {
  entries(document, ["weights"]);
  const { weights } = document;
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
  /** @param {number} answer @param {number} report */
  const weight = (answer, report) => weights[answer][report];
  const size = { inputs: weights.length, outputs, total };
  return {
    kind: "matrix",
    ...size,
    // A matrix of somebody's own may mean anything by its reports: the page shows for which answers
    // each speaks.
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
    guess: (sizes, at) => guessByWeights({ ...size, weight }, sizes, at),
  };
}
