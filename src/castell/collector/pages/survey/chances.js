// Chances as people read them, by the same rules as `castell check`, to the digit.

import { commonFactor } from "../client/arithmetic.js";

/** @typedef {import("./words.js").Speech} Speech */

const RAREST = 1_000_000_000_000;

/**
 * How many of 100, to a tenth, which is never all or nothing if the chance is not.
 *
 * @param {Speech} speech
 * @param {number} chance
 * @returns {string}
 */
export function ofHundred({ say, number }, chance) {
  const tenths = Math.floor(1000 * chance + 0.5);
  if (tenths >= 1000 && chance < 1) return say("moreThan", { n: number(99.9, 1) });
  if (tenths === 0 && chance > 0) return say("lessThan", { n: number(0.1, 1) });
  return number(tenths / 10, 1);
}

/**
 * How many people out of how many, both whole: of 100 or, where that is less than one, of more.
 * Rounded down, so that nobody is promised more doubt than there is.
 *
 * @param {Speech} speech
 * @param {number} chance
 * @returns {{some: string, all: string}}
 */
export function people({ number }, chance) {
  let all = 100;
  while (all < RAREST && all * chance < 1 - 1e-9 && chance > 0) all *= 10;
  const some = Math.floor(all * chance + 1e-9);
  // Of very many, one at most; and never all of them if the chance is not 1.
  const least = chance > 0 ? 1 : 0;
  const most = chance < 1 ? all - 1 : all;
  return { some: number(Math.min(most, Math.max(least, some))), all: number(all) };
}

/**
 * Two chances, or one if they read the same.
 *
 * @param {Speech} speech
 * @param {number} least
 * @param {number} most
 * @returns {string}
 */
export function range(speech, least, most) {
  const [low, high] = [ofHundred(speech, least), ofHundred(speech, most)];
  return low === high ? high : speech.say("range", { low, high });
}

/**
 * How often something happens, be it rare or not.
 *
 * @param {Speech} speech
 * @param {number} chance
 * @returns {string}
 */
export function often(speech, chance) {
  const { say, number } = speech;
  if (chance >= 0.01) return say("oftenOf100", { n: ofHundred(speech, chance) });
  if (chance < 1 / RAREST) return say("onceInMore", { n: number(RAREST) });
  return say("onceIn", { n: number(Math.floor(1 / chance + 0.5)) });
}

/**
 * @param {Speech} speech
 * @param {number} some
 * @param {number} all
 * @returns {string}
 */
export function outOf({ say }, some, all) {
  const common = commonFactor(all, some);
  return say("outOf", { some: some / common, all: all / common });
}

/**
 * The largest number, up to a million, that a chance is less than one in.
 *
 * @param {number} chance
 * @returns {number}
 */
export function lessThanOnceIn(chance) {
  return chance < 1e-6 ? 1_000_000 : Math.floor((1 / chance) * (1 - 1e-9));
}

/**
 * e^epsilon in three digits or so, upwards.
 *
 * @param {Speech} speech
 * @param {number} epsilon
 * @returns {string}
 */
export function factor({ number, atMost }, epsilon) {
  if (epsilon > 32) return `10^${Math.ceil(epsilon / Math.log(10))}`;
  const value = Math.exp(epsilon);
  if (value < 100) return atMost(value, 2);
  const unit = 10 ** (Math.floor(Math.log10(value)) - 2);
  return number(Math.ceil(value / unit - 1e-6) * unit);
}
