// A question that may be skipped, which shows: the last answer is reported as it is, all others pass
// through the channel inside. Epsilon and guesses are about those who answer.

import { broken, entries } from "../weights.js";

const INSIDE = ["kary", "matrix"];

/**
 * @param {{channel: any}} document
 * @param {(document: any) => import("../channel.js").Channel} channelOf
 * @returns {import("../channel.js").Channel}
 */
export function read(document, channelOf) {
  entries(document, ["channel"]);
  const inner = channelOf(document.channel);
  if (!INSIDE.includes(inner.kind)) {
    throw broken(`a question that may be skipped has a channel of kind ${inner.kind} inside`);
  }
  const [skip, skipped] = [inner.inputs, inner.outputs];
  return {
    kind: "skip",
    inputs: inner.inputs + 1,
    outputs: inner.outputs + 1,
    total: inner.total,
    reportsAnswers: inner.reportsAnswers,
    respond(answer, number) {
      // Both arms are there for everyone.
      const report = inner.respond(Math.min(answer, skip - 1), number);
      return [report, skipped][Number(answer === skip)];
    },
    weight(answer, report) {
      if (answer < skip && report < skipped) return inner.weight(answer, report);
      return answer === skip && report === skipped ? inner.total : 0;
    },
    epsilon: inner.epsilon,
    odds: inner.odds,
    guess: (_, at) => inner.guess([inner.inputs], at),
  };
}
