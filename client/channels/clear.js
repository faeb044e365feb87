// No randomisation: an attribute that the study declares public is sent as it is, outside epsilon.

import { entries, whole } from "../weights.js";

/**
 * @param {{size: number}} document
 * @returns {import("../channel.js").Channel}
 */
export function read(document) {
  entries(document, ["size"]);
  const { size } = document;
  whole(size, 2);
  return {
    kind: "clear",
    inputs: size,
    outputs: size,
    total: 1,
    reportsAnswers: true,
    respond: (answer) => answer,
    weight: (answer, report) => Number(answer === report),
    // Whoever forgets that it is outside the budget gets no small number.
    epsilon: Infinity,
    odds: [1, 0],
    guess: () => ({ right: 1, worst: 1 }),
  };
}
