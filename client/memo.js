// The same answer to the same question is always reported the same.
//
// A device that randomises anew each time it is asked gives itself away: the average of a hundred
// reports is the answer. So the words that randomise an answer are not drawn each time. They are
// HMAC-SHA256 of (study digest, block, answer) under a secret key that is drawn once on this device
// and never leaves it. To the collector they are as good as random; to this device they are always
// the same. A list of (answer, report) pairs would do that too, but such a list tells whoever opens
// it which answer was given. The key alone tells nothing: it fixes a report for every possible
// answer, given or not.

import { canonical } from "./canonical.js";
import { numberBelow } from "./sampler.js";

/** @typedef {import("./channel.js").Channel} Channel */
/** @typedef {import("./store.js").Store} Store */

/**
 * @typedef {object} Memo
 * @property {boolean} persistent whether it will know the same answers after the page is closed
 * @property {CryptoKey} key
 */

/**
 * The memo of this device, made when first asked for.
 *
 * @param {Store} store
 * @returns {Promise<Memo>}
 */
export async function openMemo(store) {
  const kept = await store.get("memo");
  if (kept) return { persistent: store.persistent, key: kept };
  const made = await newKey();
  // Another tab may have been quicker: the first key stands.
  const key = await store.update("memo", (earlier) => earlier ?? made);
  return { persistent: store.persistent, key };
}

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
 * The report of an answer, the one this device always gives.
 *
 * @param {Memo} memo
 * @param {string} digest
 * @param {number} block
 * @param {Channel} channel
 * @param {number} answer
 * @returns {Promise<number>}
 */
export async function remembered(memo, digest, block, channel, answer) {
  const words = labelledWords(memo.key, ["report", digest, block, answer]);
  return channel.respond(answer, await drawn(channel.total, words));
}

/**
 * Which block this device reports in a drawn design: uniform, always the same for one study, and
 * known before anything is answered.
 *
 * @param {Memo} memo
 * @param {string} digest
 * @param {number} blocks
 * @returns {Promise<number>}
 */
export function drawnBlock(memo, digest, blocks) {
  return drawn(blocks, labelledWords(memo.key, ["draw", digest]));
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
