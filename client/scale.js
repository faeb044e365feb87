// Values that stand for numbers or days: what a study publishes of them, and the value of a number.
//
// A number is typed into a page and turned into one of the study's values there; it goes nowhere else.

import { broken } from "./weights.js";

/**
 * One of three: bins from each edge up to the next (null is open), points to which a number is rounded
 * at random, or days by period.
 *
 * @typedef {object} Scale
 * @property {(string | null)[]} [bins]
 * @property {true} [whole] only whole numbers occur
 * @property {string[]} [points]
 * @property {string} [unit]
 * @property {string} [period]
 */

const PERIODS = ["day", "month", "quarter", "year"];
const PUBLISHED = /^(?!-0$)-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$/;
// One that cannot part thousands.
const COMMA = /^-?(0[0-9]*,|[0-9]+,(?![0-9]{3}$))[0-9]+$/;
const NUMBER = /^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{1,3})?$/;

/**
 * Whether an attribute's order, scale and values beside them are what a study may publish.
 *
 * @param {any} attribute
 */
export function checkScale(attribute) {
  const { name, values, scale, also = 0 } = attribute;
  const wrong = () => broken(`the values of ${name} are not what is said of them`);
  const own = values.length - also;
  if (!Number.isInteger(also) || own < 2 || also < 0) throw wrong();
  if ("also" in attribute && also === 0) throw wrong();
  if ("ordered" in attribute && (attribute.ordered !== true || "scale" in attribute)) throw wrong();
  // The first value beside them may be what those answer who have none of what is asked about.
  if ("none" in attribute && (attribute.none !== true || also === 0)) throw wrong();
  const ways = also - Number("none" in attribute);
  if ("missing" in attribute && !becomes(attribute, ways)) throw wrong();
  if (!("scale" in attribute)) return;
  if (sizeOf(scale, own) !== own) throw wrong();
  if (scale.period !== undefined) return;
  // A bin that is called by a number would be taken for the bin of that number.
  values.forEach((/** @type {string} */ text, /** @type {number} */ place) => {
    if (!Number.isNaN(numberOf(text)) && codeOf(scale, text, 0) !== place) throw wrong();
  });
}

/**
 * Whether there is a value that a missing answer becomes.
 *
 * @param {any} attribute
 * @param {number} ways how many values beside the others say that there is no answer
 */
function becomes({ missing, none }, ways) {
  return missing === "none" ? none === true : ["category", "skip"].includes(missing) && ways > 0;
}

/**
 * @param {any} scale
 * @param {number} own how many values are on it
 * @returns {number} of how many values it is; less than none if it is no scale
 */
function sizeOf(scale, own) {
  if (scale === null || typeof scale !== "object" || Array.isArray(scale)) return -1;
  const { unit, ...rest } = scale;
  if ("unit" in scale && (typeof unit !== "string" || unit === "")) return -1;
  const keys = Object.keys(rest).sort().join();
  if (keys === "period") return "unit" in scale || !PERIODS.includes(rest.period) ? -1 : own;
  if (keys === "points") return ascend(rest.points, 2) ? rest.points.length : -1;
  if (!["bins", "bins,whole"].includes(keys) || !Array.isArray(rest.bins)) return -1;
  if ("whole" in rest && rest.whole !== true) return -1;
  const last = rest.bins.length - 1;
  // Open at both ends, or at none.
  const open = last > 0 && rest.bins[0] === null && rest.bins[last] === null;
  /** @type {unknown[]} */
  const edges = open ? rest.bins.slice(1, -1) : rest.bins;
  const fraction = rest.whole && edges.some((edge) => String(edge).includes("."));
  return ascend(edges, open ? 1 : 2) && !fraction ? last : -1;
}

/**
 * @param {any} numbers
 * @param {number} least
 */
function ascend(numbers, least) {
  return (
    Array.isArray(numbers) &&
    numbers.length >= least &&
    numbers.every((text) => typeof text === "string" && text.length < 300 && PUBLISHED.test(text)) &&
    numbers.every((text, i) => i === 0 || Number(numbers[i - 1]) < Number(text))
  );
}

/**
 * The number that a text says; not a number if it says none, or may say two.
 *
 * @param {string} text
 */
export function numberOf(text) {
  const trimmed = text.trim();
  const plain = COMMA.test(trimmed) ? trimmed.replace(",", ".") : trimmed;
  return NUMBER.test(plain) ? Number(plain) : NaN;
}

/**
 * The code of a number, -1 if it has none.
 *
 * @param {Scale} scale
 * @param {string} text as it was typed
 * @param {number} chance uniform from 0 to 1: rounds up or down where the study rounds at random
 * @returns {number}
 */
export function codeOf(scale, text, chance) {
  const number = numberOf(text);
  if (!Number.isFinite(number)) return -1;
  if (scale.points) return rounded(scale.points.map(Number), number, chance);
  const edges = scale.bins ?? [];
  const [first, last] = [edges[0] ?? "-Infinity", edges.at(-1) ?? "Infinity"];
  if (number < Number(first) || number > Number(last)) return -1;
  if (scale.whole && !Number.isInteger(number)) return -1;
  return edges.slice(1, -1).filter((edge) => Number(edge) <= number).length;
}

/**
 * @param {number[]} points
 * @param {number} number
 * @param {number} chance
 */
function rounded(points, number, chance) {
  const last = points.length - 1;
  if (number < points[0] || number > points[last]) return -1;
  const low = Math.min(points.filter((point) => point <= number).length - 1, last - 1);
  const place = (number - points[low]) / (points[low + 1] - points[low]);
  return chance < place ? low + 1 : low;
}
