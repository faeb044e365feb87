// The random choices of this device for a study, made once, before anything is answered.
//
// They are a secret key. The words that randomise the answer of a block are HMAC-SHA256 of (study
// digest, block) under it (the digest before any correction of the study's words): to the collector they are as good as random, and to this device they are
// always the same. So whoever goes back and forth between questions and report sees one report for
// one answer, and cannot look for a nicer one. The key fixes a report for every possible answer,
// given or not, and so tells none. Beside the report it would tell which answers fit: ledger.js
// deletes it in the step that writes the report down as handed over.

import { sum } from "./arithmetic.js";
import { canonical } from "./canonical.js";
import { numberBelow } from "./sampler.js";

/** @typedef {import("./channel.js").Channel} Channel */

/** @returns {Promise<CryptoKey>} a secret key that no script can read */
export function newKey() {
  const kind = { name: "HMAC", hash: "SHA-256", length: 256 };
  return crypto.subtle.generateKey(kind, false, ["sign"]);
}

/**
 * Words that belong to a label: the same each time, four for each HMAC.
 *
 * @param {CryptoKey} key
 * @param {(string | number)[]} label
 * @returns {() => Promise<bigint>}
 */
export function labelledWords(key, label) {
  let round = 0;
  /** @type {bigint[]} */
  let ready = [];
  return async () => {
    if (ready.length === 0) {
      const message = new TextEncoder().encode(canonical(["castell-1", ...label, round]));
      const view = new DataView(await crypto.subtle.sign("HMAC", key, message));
      ready = [0, 8, 16, 24].map((at) => view.getBigUint64(at, true));
      round += 1;
    }
    return /** @type {bigint} */ (ready.shift());
  };
}

/**
 * The report of an answer under this device's choices. What is drawn does not depend on the answer.
 *
 * @param {CryptoKey} key
 * @param {string} digest
 * @param {number} block
 * @param {Channel} channel
 * @param {number} answer
 * @returns {Promise<number>}
 */
export async function randomized(key, digest, block, channel, answer) {
  const words = labelledWords(key, ["report", digest, block]);
  return channel.respond(answer, await drawn(channel.total, words));
}

/**
 * Which block this device reports in a drawn design: always the same for one study, and known before
 * anything is answered. A block is drawn by as many numbers as it weighs.
 *
 * @param {CryptoKey} key
 * @param {string} digest
 * @param {number[]} weights of the blocks
 * @returns {Promise<number>}
 */
export async function drawnBlock(key, digest, weights) {
  let number = await drawn(sum(weights), labelledWords(key, ["draw", digest]));
  return weights.findIndex((weight) => (number -= weight) < 0);
}

/**
 * @param {number} total
 * @param {() => Promise<bigint>} words
 * @returns {Promise<number>}
 */
async function drawn(total, words) {
  for (;;) {
    const number = numberBelow(total, await words());
    if (number !== undefined) return number;
  }
}
