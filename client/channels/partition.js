// A block that asks coarsely. Its answers are put together in leaves, and the leaf is randomised. A
// leaf is a box: for each attribute the codes inside. Every answer is in one leaf.

import { product } from "../arithmetic.js";
import { broken, entries, guessBySums, whole } from "../weights.js";

/** @typedef {import("../channel.js").Channel} Channel */
/** @typedef {import("../channel.js").Coarse} Coarse */

// The leaf of each answer is written down.
const MOST_ANSWERS = 2 ** 20;
const MOST_LEAVES = 1024;

/**
 * @param {{sizes: number[], leaves: number[][][], channel: any}} document
 * @param {(document: any) => Channel} channelOf
 * @returns {Channel}
 */
export function read(document, channelOf) {
  entries(document, ["sizes", "leaves", "channel"]);
  const { sizes, leaves, channel } = document;
  if (!["cyclic", "kary", "matrix"].includes(channel?.kind)) {
    throw noPartition();
  }
  const inner = channelOf(channel);
  listed(sizes).forEach((size) => whole(size, 2));
  const inputs = product(sizes);
  if (inputs > MOST_ANSWERS || inner.inputs > MOST_LEAVES) throw noPartition();
  const leafOf = new Array(inputs).fill(-1);
  listed(leaves, inner.inputs).forEach((box, leaf) => {
    for (const answer of inside(box, sizes)) {
      if (leafOf[answer] >= 0) throw noPartition();
      leafOf[answer] = leaf;
    }
  });
  if (leafOf.includes(-1)) throw noPartition();
  const { outputs, total, epsilon, odds } = inner;
  const coarse = { sizes, leaves, inner };
  return {
    kind: "partition",
    inputs,
    outputs,
    total,
    reportsAnswers: false,
    // One look into a table, whatever the answer.
    respond: (answer, number) => inner.respond(leafOf[answer], number),
    weight: (answer, report) => inner.weight(leafOf[answer], report),
    epsilon, // every leaf has answers, so no two rows of the inner channel are lost
    odds,
    guess: (_, at) => guess(coarse, inputs, at),
    coarse,
  };
}

/**
 * The answers of a box, the last attribute's code moving fastest.
 *
 * @param {number[][]} box
 * @param {number[]} sizes
 */
function inside(box, sizes) {
  return listed(box, sizes.length).reduce(
    (answers, codes, i) => {
      listed(codes).forEach((code, j) => whole(code, j === 0 ? 0 : codes[j - 1] + 1));
      if (codes[codes.length - 1] >= sizes[i]) throw noPartition();
      return answers.flatMap((answer) => codes.map((code) => answer * sizes[i] + code));
    },
    [0],
  );
}

/**
 * Leaf by leaf: the answers of one weigh the same.
 *
 * @param {Coarse} coarse
 * @param {number} inputs
 * @param {number} at
 */
function guess({ sizes, leaves, inner }, inputs, at) {
  const volumes = leaves.map((box) => product(box.map(({ length }) => length)));
  return guessBySums(inner.outputs, BigInt(inner.total) * BigInt(inputs), (report) => {
    const weights = leaves.map((_, leaf) => BigInt(inner.weight(leaf, report)));
    const all = weights.reduce((sum, weight, leaf) => sum + weight * BigInt(volumes[leaf]), 0n);
    if (at < 0) return [weights, all];
    const sums = new Array(sizes[at]).fill(0n);
    leaves.forEach((box, leaf) => {
      const each = weights[leaf] * BigInt(volumes[leaf] / box[at].length);
      for (const code of box[at]) sums[code] += each;
    });
    return [sums, all];
  });
}

/**
 * @template Entry
 * @param {Entry[]} value
 * @param {number} [length] if there is only one that fits
 * @returns {Entry[]}
 */
function listed(value, length = value?.length) {
  if (!Array.isArray(value) || value.length === 0 || value.length !== length) throw noPartition();
  return value;
}

function noPartition() {
  return broken("this is no partition into boxes that hold every answer once");
}
