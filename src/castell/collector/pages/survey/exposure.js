// What one report tells about one answer, from the study's own weights. A guess is judged as if every
// answer were equally likely beforehand.

/** @typedef {import("../client/study.js").Study} Study */
/** @typedef {import("../client/study.js").Block} Block */

// Larger tables of weights are not worth a person's waiting.
const MOST_CELLS = 4_000_000;

/**
 * @typedef {object} Exposure
 * @property {string} name of the attribute
 * @property {number} chance how often a blind guess is right
 * @property {number} right how often the best guess is right after seeing the report
 */

/**
 * The exposure of every attribute that a report tells about.
 *
 * @param {Study} study
 * @param {number[]} asked the blocks that this device reports
 * @returns {Exposure[]}
 */
export function exposures(study, asked) {
  return asked.flatMap((index) => {
    const block = study.blocks[index];
    return block.attributes.map((name, i) => ({
      name,
      chance: 1 / block.sizes[i],
      right: bestGuess(block, i),
    }));
  });
}

/**
 * How often all answers of a report are guessed right at once, with it and by chance.
 *
 * @param {Study} study
 * @param {number[]} asked
 * @returns {{chance: number, right: number}}
 */
export function together(study, asked) {
  const blocks = asked.map((index) => study.blocks[index]);
  return {
    chance: blocks.reduce((product, { channel }) => product / channel.inputs, 1),
    right: blocks.reduce((product, block) => product * bestGuess(block, -1), 1),
  };
}

/**
 * The best guess at one attribute of a block, or at all of them (-1): for each report the answer
 * that weighs most.
 *
 * @param {Block} block
 * @param {number} at
 * @returns {number} NaN if it would take too long
 */
function bestGuess({ sizes, channel }, at) {
  const kept = at < 0 ? channel.inputs : sizes[at];
  const merged = channel.inputs / kept;
  if (channel.kind === "kary") {
    const other = channel.weight(0, 1);
    return (channel.weight(0, 0) + (merged - 1) * other) / channel.total;
  }
  if (channel.inputs * channel.outputs > MOST_CELLS) return Number.NaN;
  const stride = at < 0 ? 1 : sizes.slice(at + 1).reduce((product, size) => product * size, 1);
  let best = 0;
  for (let report = 0; report < channel.outputs; report += 1) {
    const sums = new Array(kept).fill(0);
    for (let answer = 0; answer < channel.inputs; answer += 1) {
      sums[Math.floor(answer / stride) % kept] += channel.weight(answer, report);
    }
    best += Math.max(...sums) / channel.total;
  }
  return best / channel.inputs;
}

/**
 * The answers of a block that a report speaks for: those under which it is most likely.
 *
 * @param {Block} block
 * @param {number} report
 * @returns {number[]}
 */
export function likeliest({ channel }, report) {
  const weights = Array.from({ length: channel.inputs }, (_, x) => channel.weight(x, report));
  const most = Math.max(...weights);
  return weights.flatMap((weight, answer) => (weight === most ? [answer] : []));
}

/**
 * The code of each attribute of a block in one of its answers.
 *
 * @param {Block} block
 * @param {number} answer
 * @returns {number[]}
 */
export function unpack({ sizes }, answer) {
  const codes = [];
  for (const size of [...sizes].reverse()) {
    codes.unshift(answer % size);
    answer = Math.floor(answer / size);
  }
  return codes;
}
