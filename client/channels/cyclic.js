// Reports on a circle of `outputs`: those whose distance from the answer is in `set` weigh `same`,
// the rest `other`, a power of two.

import { product, ratio, sum } from "../arithmetic.js";
import { broken, entries, epsilonOf, powerOfTwo, totalOf, whole } from "../weights.js";

/**
 * @typedef {{size: number, outputs: number, set: number[], same: number, other: number}} Circle
 */

/**
 * @param {Circle} document
 * @returns {import("../channel.js").Channel}
 */
export function read(document) {
  entries(document, ["size", "outputs", "set", "same", "other"]);
  const { size, outputs, set, same, other } = document;
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
    reportsAnswers: false,
    respond(answer, number) {
      const beyond = Math.max(number - base, 0);
      // Below 2^53 a quotient never rounds up to the next whole number, so floor() is exact.
      const chosen = (answer + set[Math.floor(beyond / gap)]) % outputs;
      return [chosen, Math.floor(number / other)][Number(number < base)];
    },
    weight: (answer, report) =>
      near.has((((report - answer) % outputs) + outputs) % outputs) ? same : other,
    epsilon: epsilonOf(same, other),
    odds: [same, other],
    guess: (sizes, at) => guess(document, total, sizes, at),
  };
}

/**
 * A report speaks for an answer if their distance is in the set. How many answers with one value it
 * speaks for is counted one attribute after the other: each turns the circle by its stride and adds
 * up.
 *
 * @param {Circle} circle
 * @param {number} total
 * @param {number[]} sizes
 * @param {number} at
 */
function guess({ size, outputs, set, same, other }, total, sizes, at) {
  const strides = sizes.map((_, i) => product(sizes.slice(i + 1)));
  let spoken = new Array(outputs).fill(0);
  for (const distance of set) spoken[distance] = 1;
  sizes.forEach((each, i) => {
    if (i !== at) spoken = turned(spoken, each, strides[i]).sums;
  });
  const one = { sums: spoken, most: spoken.map((many) => Math.min(many, 1)) };
  const { sums, most } = at < 0 ? one : turned(spoken, sizes[at], strides[at]);
  const merged = BigInt(at < 0 ? 1 : size / sizes[at]);
  const [low, gap, all] = [BigInt(other), BigInt(same) - BigInt(other), BigInt(size)];
  const best = sum(most);
  const kinds = new Map(
    most.map((many, report) => [`${many} ${sums[report]}`, [many, sums[report]]]),
  );
  const after = [...kinds.values()].map(([many, every]) =>
    ratio(merged * low + BigInt(many) * gap, all * low + BigInt(every) * gap),
  );
  return {
    right: ratio(BigInt(outputs) * merged * low + BigInt(best) * gap, BigInt(total) * all),
    worst: Math.max(...after),
  };
}

/**
 * The sum and the largest of some turns of a circle.
 *
 * @param {number[]} circle
 * @param {number} turns
 * @param {number} stride
 */
function turned(circle, turns, stride) {
  const sums = new Array(circle.length).fill(0);
  const most = new Array(circle.length).fill(0);
  for (let turn = 0; turn < turns; turn += 1) {
    const shift = circle.length - ((turn * stride) % circle.length);
    for (let report = 0; report < circle.length; report += 1) {
      const many = circle[(report + shift) % circle.length];
      sums[report] += many;
      if (many > most[report]) most[report] = many;
    }
  }
  return { sums, most };
}
