// Sums and products from the first number to the last, as Python takes them; fractions of whole numbers.

/**
 * @param {number[]} numbers
 * @param {number} [first]
 */
export function sum(numbers, first = 0) {
  return numbers.reduce((total, number) => total + number, first);
}

/** @param {number[]} numbers */
export function product(numbers) {
  return numbers.reduce((total, number) => total * number, 1);
}

/**
 * @param {number} one
 * @param {number} other
 * @returns {number}
 */
export function commonFactor(one, other) {
  return other > 0 ? commonFactor(other, one % other) : one;
}

/**
 * The number nearest to a fraction of whole numbers, between 0 and 1.
 *
 * @param {bigint} part
 * @param {bigint} all
 * @returns {number}
 */
export function ratio(part, all) {
  const scaled = part << 256n;
  const rest = scaled % all === 0n ? 0n : 1n; // so that no rounding takes it for a tie
  return Number((scaled / all) | rest) / 2 ** 256;
}
