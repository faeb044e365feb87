// Exact sampling: numbers drawn uniformly below a total, from 64-bit words.

/** @typedef {import("./channel.js").Channel} Channel */
/** @typedef {() => bigint} Words */

const WORDS = 2n ** 64n;

/**
 * A word as a number below `total`, or undefined if it must be thrown away: words at or above the
 * largest multiple of the total would make small numbers likelier. Has nothing to do with answers.
 *
 * @param {number} total
 * @param {bigint} word
 * @returns {number | undefined}
 */
export function numberBelow(total, word) {
  const size = BigInt(total);
  return word < WORDS - (WORDS % size) ? Number(word % size) : undefined;
}

/**
 * A number drawn exactly uniformly from 0 to total - 1.
 *
 * @param {number} total
 * @param {Words} words
 * @returns {number}
 */
export function drawBelow(total, words) {
  for (;;) {
    const number = numberBelow(total, words());
    if (number !== undefined) return number;
  }
}

/**
 * One report of one answer, without remembering it: every call spends the channel's epsilon anew.
 *
 * @param {Channel} channel
 * @param {number} answer
 * @param {Words} [words]
 * @returns {number}
 */
export function randomize(channel, answer, words = secureWords()) {
  return channel.respond(answer, drawBelow(channel.total, words));
}

/**
 * Words from the browser's cryptographic generator. There is no fallback.
 *
 * @returns {Words}
 */
export function secureWords() {
  const buffer = new BigUint64Array(512);
  let next = buffer.length;
  return () => {
    if (next === buffer.length) {
      crypto.getRandomValues(buffer);
      next = 0;
    }
    const word = buffer[next];
    buffer[next] = 0n;
    next += 1;
    return word;
  };
}
