// What a report gives away, from the study's own weights. A guess is judged as if every answer were
// equally likely beforehand. The numbers are those of `castell check`, to the last bit: sums are of
// whole numbers, each is divided once, and what is added up after that is added in the same order.

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
 * @property {number} holders how many blocks ask it
 * @property {number} draws of how many blocks one is drawn; 1 if all are reported
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
  const { blocks, drawn } = study;
  const draws = drawn ? blocks.length : 1;
  const attributes = study.attributes.map(({ name, values }) => {
    const chance = 1 / values.length;
    const held = blocks.filter((block) => block.attributes.includes(name));
    const guesses = held.map((block) => guessAt(block, block.attributes.indexOf(name)));
    const each = guesses.map(({ right }) => right);
    return {
      name,
      chance,
      bestGuess: Math.max(...each),
      leastGuess: Math.min(...each),
      bestGuessOverDraw: each.reduce((sum, x) => sum + x, (draws - each.length) * chance) / draws,
      worstGuess: Math.max(...guesses.map(({ worst }) => worst)),
      holders: each.length,
      draws,
    };
  });
  const blind = attributes.reduce((product, { chance }) => product * chance, 1);
  const whole = blocks.map((block) => guessAt(block, -1).right);
  if (!drawn) {
    const right = whole.reduce((product, x) => product * x, 1);
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
  const sums = whole.map((x, i) => x * blocks[i].channel.inputs * blind);
  return {
    attributes,
    tellingBlock: blocks[most].attributes,
    allGuessedIfDrawn: whole[most],
    allByChanceIfDrawn: 1 / blocks[most].channel.inputs,
    allGuessed: sums.reduce((sum, x) => sum + x, 0) / draws,
    allByChance: blind,
  };
}

/**
 * What one person risks who is asked some blocks: each attribute, and all of them at once.
 *
 * @param {Study} study
 * @param {number[]} asked
 * @returns {{each: {name: string, chance: number, guess: Guess}[], chance: number, right: number}}
 */
export function riskOf(study, asked) {
  const blocks = asked.map((index) => study.blocks[index]);
  return {
    each: blocks.flatMap((block) =>
      block.attributes.map((name, i) => ({
        name,
        chance: 1 / block.sizes[i],
        guess: guessAt(block, i),
      })),
    ),
    chance: study.drawn
      ? 1 / blocks[0].channel.inputs
      : study.attributes.reduce((product, { values }) => product * (1 / values.length), 1),
    right: blocks.reduce((product, block) => product * guessAt(block, -1).right, 1),
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
  if (channel.kind === "matrix") return guessAtMatrix(channel);
  if (channel.kind === "cyclic") return guessAtCircle(sizes, channel, at);
  const merged = at < 0 ? 1 : channel.inputs / sizes[at];
  const right = (channel.weight(0, 0) + (merged - 1) * channel.weight(0, 1)) / channel.total;
  return { right, worst: right }; // every report tells as much as any other
}

/** @param {import("./channel.js").Channel} channel */
function guessAtMatrix({ inputs, outputs, total, weight }) {
  let best = 0n;
  let worst = 0;
  for (let report = 0; report < outputs; report += 1) {
    const column = Array.from({ length: inputs }, (_, x) => weight(x, report));
    const most = BigInt(Math.max(...column));
    best += most;
    worst = Math.max(
      worst,
      ratio(
        most,
        column.reduce((sum, w) => sum + BigInt(w), 0n),
      ),
    );
  }
  return { right: ratio(best, BigInt(total) * BigInt(inputs)), worst };
}

/**
 * On a circle a report speaks for an answer if their distance is in the set. How many answers with
 * one value it speaks for is counted one attribute after the other: each turns the circle by its
 * stride and adds up.
 *
 * @param {number[]} sizes
 * @param {import("./channel.js").Channel} channel
 * @param {number} at
 * @returns {Guess}
 */
function guessAtCircle(sizes, { inputs, outputs, total, weight }, at) {
  const weights = Array.from({ length: outputs }, (_, report) => weight(0, report));
  const [same, other] = [
    BigInt(Math.max(...new Set(weights))),
    BigInt(Math.min(...new Set(weights))),
  ];
  const strides = sizes.map((_, i) =>
    sizes.slice(i + 1).reduce((product, size) => product * size, 1),
  );
  let spoken = weights.map((w) => Number(BigInt(w) === same));
  sizes.forEach((size, i) => {
    if (i !== at) spoken = turned(spoken, size, strides[i]).sums;
  });
  const one = { sums: spoken, most: spoken.map((held) => Math.min(held, 1)) };
  const { sums, most } = at < 0 ? one : turned(spoken, sizes[at], strides[at]);
  const merged = BigInt(at < 0 ? 1 : inputs / sizes[at]);
  const [gap, all] = [same - other, BigInt(inputs)];
  const best = most.reduce((sum, held) => sum + held, 0);
  const kinds = new Map(
    most.map((held, report) => [`${held} ${sums[report]}`, [held, sums[report]]]),
  );
  const after = [...kinds.values()].map(([held, every]) =>
    ratio(merged * other + BigInt(held) * gap, all * other + BigInt(every) * gap),
  );
  return {
    right: ratio(BigInt(outputs) * merged * other + BigInt(best) * gap, BigInt(total) * all),
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
      const held = circle[(report + shift) % circle.length];
      sums[report] += held;
      if (held > most[report]) most[report] = held;
    }
  }
  return { sums, most };
}

/**
 * The number nearest to a fraction of whole numbers, between 0 and 1.
 *
 * @param {bigint} part
 * @param {bigint} whole
 * @returns {number}
 */
function ratio(part, whole) {
  const scaled = part << 256n;
  const rest = scaled % whole === 0n ? 0n : 1n; // so that no rounding takes it for a tie
  return Number((scaled / whole) | rest) / 2 ** 256;
}
