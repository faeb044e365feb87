// The exact numbers: what is guessed of this person, and of everybody else who is asked.

import { statementOf } from "../client/exposure.js";
import { attributeNamed } from "../client/study.js";
import { ofHundred, often, outOf, range } from "./chances.js";
import { make, spokenQuestion, table } from "./parts.js";

/** @typedef {import("../client/study.js").Study} Study */
/** @typedef {import("./words.js").Speech} Speech */
/** @typedef {import("../client/exposure.js").Guess} Guess */
/** @typedef {{name: string, chance: number, guess: Guess}} Risk of one answer */

/**
 * @param {number} count
 * @param {number} right
 * @param {number} chance
 * @param {Speech} speech
 */
export function together(count, right, chance, speech) {
  return { count, right: often(speech, right), chance: often(speech, chance) };
}

/**
 * What is guessed of each answer of this person.
 *
 * @param {Study} study
 * @param {Risk[]} each
 * @param {Speech} speech
 */
export function risks(study, each, speech) {
  const { say } = speech;
  const of100 = (/** @type {number} */ chance) => say("of100", { n: ofHundred(speech, chance) });
  const varies = each.some(({ guess }) => of100(guess.worst) !== of100(guess.right));
  const worst = varies ? [say("tableWorst")] : [];
  return table(
    say("guessTitle"),
    [say("tableQuestion"), say("tableRight"), ...worst, say("tableChance")],
    each.map(({ name, guess, chance }) => [
      spokenQuestion(speech, attributeNamed(study, name)),
      of100(guess.right),
      ...(varies ? [of100(guess.worst)] : []),
      of100(chance),
    ]),
  );
}

/**
 * What is guessed of everybody, whichever questions were drawn.
 *
 * @param {Study} study
 * @param {Speech} speech
 */
export function draw(study, speech) {
  const { say, number } = speech;
  const { attributes, allGuessed, allByChance } = statementOf(study);
  return [
    make("h3", {}, say("drawTitle")),
    make("p", {}, say("drawLead", { sets: number(study.weights.length) })),
    table(
      say("drawTitle"),
      [
        say("tableQuestion"),
        say("tableAsked"),
        say("tableDraw"),
        say("tableChance"),
        say("tableLikely"),
      ],
      attributes.map((one) => [
        spokenQuestion(speech, attributeNamed(study, one.name)),
        range(speech, one.leastGuess, one.bestGuess),
        ofHundred(speech, one.bestGuessOverDraw),
        ofHundred(speech, one.chance),
        outOf(speech, one.holders, one.draws),
      ]),
    ),
    make("p", {}, say("allDraw", together(attributes.length, allGuessed, allByChance, speech))),
  ];
}
