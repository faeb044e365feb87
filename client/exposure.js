// What a report gives away, from the study's own weights. A guess is judged as if every answer were
// equally likely beforehand. The numbers are those of `castell check`, to the last bit: sums are of
// whole numbers, each is divided once, and what is added up after that is added in the same order.

import { product, sum } from "./arithmetic.js";
import { choices } from "./attribute.js";
import { hidden } from "./study.js";

/** @typedef {import("./study.js").Study} Study */
/** @typedef {import("./study.js").Block} Block */

/**
 * How often the best guess is right after seeing the report.
 *
 * @typedef {object} Guess
 * @property {number} right on average over the reports
 * @property {number} worst after the report that gives most away
 */

/**
 * One attribute of a study.
 *
 * @typedef {object} Exposure
 * @property {string} name
 * @property {number} chance how often a guess without the report is right
 * @property {number} bestGuess how often the best is if it is asked, in the worst of blocks
 * @property {number} leastGuess the same in the block that gives away least
 * @property {number} bestGuessOverDraw on average over the draw, if a blind guess fills in
 * @property {number} worstGuess after the worst report
 * @property {number} holders the weights of the blocks that ask it
 * @property {number} draws the weights of all blocks of a draw; 1 if all are reported
 */

/**
 * All of a study.
 *
 * @typedef {object} Statement
 * @property {Exposure[]} attributes
 * @property {string[]} tellingBlock the block of a draw that gives away most, or everything
 * @property {number} allGuessedIfDrawn how often all its answers at once are guessed right
 * @property {number} allByChanceIfDrawn
 * @property {number} allGuessed the same of all answers of a respondent, over the draw
 * @property {number} allByChance
 */

/**
 * What everybody who takes part risks.
 *
 * @param {Study} study
 * @returns {Statement}
 */
export function statementOf(study) {
  const { drawn } = study;
  const blocks = hidden(study.blocks);
  const weights = drawn ? study.weights : [1];
  const draws = sum(weights);
  const attributes = secret(study).map((attribute) => {
    const { name } = attribute;
    const chance = 1 / choices(attribute);
    const asking = blocks.flatMap((block, i) => (block.attributes.includes(name) ? [i] : []));
    const guesses = asking.map((i) => guessAt(blocks[i], blocks[i].attributes.indexOf(name)));
    const asked = drawn ? asking.map((i) => weights[i]) : weights;
    const each = guesses.map(({ right }) => right);
    const holders = sum(asked);
    return {
      name,
      chance,
      bestGuess: Math.max(...each),
      leastGuess: Math.min(...each),
      bestGuessOverDraw: sum(
        each.map((x, i) => asked[i] * x),
        (draws - holders) * chance,
      ) / draws,
      worstGuess: Math.max(...guesses.map(({ worst }) => worst)),
      holders,
      draws,
    };
  });
  const blind = product(attributes.map(({ chance }) => chance));
  const whole = blocks.map((block) => guessAt(block, -1).right);
  if (!drawn) {
    const right = product(whole);
    return {
      attributes,
      tellingBlock: attributes.map(({ name }) => name),
      allGuessedIfDrawn: right,
      allByChanceIfDrawn: blind,
      allGuessed: right,
      allByChance: blind,
    };
  }
  const most = whole.indexOf(Math.max(...whole));
  // What was not asked is guessed by chance. In the order of castell's Python: the same bits.
  const chances = blocks.map((block) => 1 / answers(block));
  const each = whole.map((x, i) => weights[i] * (x * (blind / chances[i])));
  return {
    attributes,
    tellingBlock: blocks[most].attributes,
    allGuessedIfDrawn: whole[most],
    allByChanceIfDrawn: chances[most],
    allGuessed: sum(each) / draws,
    allByChance: blind,
  };
}

/**
 * How many answers to a block there are, of those who answer.
 *
 * @param {Block} block
 */
function answers({ channel }) {
  return channel.inputs - Number(channel.kind === "skip");
}

/** @param {Study} study */
function secret({ attributes }) {
  return attributes.filter((attribute) => !attribute.public);
}

/**
 * What one person risks who is asked some blocks: each attribute, and all of them at once.
 *
 * @param {Study} study
 * @param {number[]} asked
 * @returns {{each: {name: string, chance: number, guess: Guess}[], chance: number, right: number}}
 */
export function riskOf(study, asked) {
  const blocks = hidden(asked.map((index) => study.blocks[index]));
  return {
    each: blocks.flatMap((block) =>
      block.attributes.map((name, i) => ({
        name,
        chance: 1 / (block.sizes[i] - Number(block.channel.kind === "skip")),
        guess: guessAt(block, i),
      })),
    ),
    chance: study.drawn
      ? 1 / answers(blocks[0])
      : product(secret(study).map((attribute) => 1 / choices(attribute))),
    right: product(blocks.map((block) => guessAt(block, -1).right)),
  };
}

/**
 * The best guess at one attribute of a block, or at all of them (-1): for each report the answer
 * that weighs most.
 *
 * @param {Block} block
 * @param {number} at
 * @returns {Guess}
 */
export function guessAt({ sizes, channel }, at) {
  return channel.guess(sizes, at);
}
