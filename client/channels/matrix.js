// Any matrix: row x holds the weights of the reports of answer x.

import { entries, weighted } from "../weights.js";

/**
 * @param {{weights: number[][]}} document
 * @returns {import("../channel.js").Channel}
 */
export function read(document) {
  entries(document, ["weights"]);
  return weighted("matrix", document.weights);
}
