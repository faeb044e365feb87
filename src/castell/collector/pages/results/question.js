// What the analyst asks for: a small frozen value that lives in the page's address.

/** @typedef {import("./api.js").Overview} Overview */

/**
 * @typedef {object} Question
 * @property {readonly string[]} attributes in the order of the table
 * @property {string} method
 * @property {string} level
 * @property {string} post
 * @property {string} chart
 */

export const LEVELS = ["0.9", "0.95", "0.99"];

/** Which charts make sense for so many attributes; the collector says the same. @param {number} many */
export const possible = (many) => (many === 2 || many === 3 ? ["heat", "bars", "mosaic"] : ["bars"]);

/**
 * A question as an address has it. What the study does not know is left out: an old link still opens.
 *
 * @param {Overview} overview
 * @param {URLSearchParams} address
 * @returns {Question}
 */
export function questionOf(overview, address) {
  const names = overview.study.attributes.map((a) => a.name);
  const wanted = [...new Set(address.getAll("attributes"))].filter((name) => names.includes(name));
  const methods = overview.methods.map((m) => m.name);
  /** @type {(name: string, known: string[], usual: string) => string} */
  const one = (name, known, usual) => known.find((text) => text === address.get(name)) ?? usual;
  return Object.freeze({
    attributes: Object.freeze(wanted.length ? wanted : names.slice(0, 2)),
    method: one("method", methods, overview.method),
    level: one("level", LEVELS, "0.95"),
    post: one("post", overview.posts, "raw"),
    chart: one("chart", overview.charts, "auto"),
  });
}

/** The question as a request takes it, and an address holds it. @param {Question} question */
export function parametersOf(question) {
  const asked = new URLSearchParams(question.attributes.map((name) => ["attributes", name]));
  asked.set("method", question.method);
  asked.set("level", question.level);
  asked.set("post", question.post);
  asked.set("chart", chartOf(question));
  return asked;
}

/** The chart, or the usual one where that asked for cannot be. @param {Question} question */
export const chartOf = ({ attributes, chart }) => (possible(attributes.length).includes(chart) ? chart : "auto");

/** Whether two questions have the same answer. @param {Question | null} one @param {Question | null} other */
export const isSame = (one, other) =>
  one === other || (!!one && !!other && String(parametersOf(one)) === String(parametersOf(other)));

/** The question with another attribute, last, or without it; one stays. @param {Question} question @param {string} name */
export function toggled(question, name) {
  const { attributes } = question;
  const rest = attributes.filter((each) => each !== name);
  const next = rest.length < attributes.length ? (rest.length ? rest : attributes) : [...attributes, name];
  return withChanges(question, { attributes: Object.freeze(next) });
}

/** @param {Question} question @param {Partial<Question>} changes @returns {Question} */
export const withChanges = (question, changes) => Object.freeze({ ...question, ...changes });
