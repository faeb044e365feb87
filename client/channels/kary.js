// k-ary randomised response: the answer with weight `same`, each other value with weight `other`, a
// power of two. A number's upper part is the report if it is a value at all; otherwise the report
// is the answer.

import { entries, epsilonOf, powerOfTwo, totalOf, whole } from "../weights.js";

/**
 * @param {{size: number, same: number, other: number}} document
 * @returns {import("../channel.js").Channel}
 */
export function read(document) {
  entries(document, ["size", "same", "other"]);
  const { size, same, other } = document;
  whole(size, 2);
  powerOfTwo(other);
  whole(same, other + 1);
  const total = totalOf(BigInt(same) + BigInt(size - 1) * BigInt(other));
  return {
    kind: "kary",
    inputs: size,
    outputs: size,
    total,
    reportsAnswers: true,
    respond(answer, number) {
      // Dividing by a power of two is exact, and both arms are there for everyone.
      const drawn = Math.floor(number / other);
      return [answer, drawn][Number(drawn < size)];
    },
    weight: (answer, report) => (answer === report ? same : other),
    epsilon: epsilonOf(same, other),
    odds: [same, other],
    guess(sizes, at) {
      const merged = at < 0 ? 1 : size / sizes[at];
      const right = (same + (merged - 1) * other) / total;
      return { right, worst: right }; // every report tells as much as any other
    },
  };
}
