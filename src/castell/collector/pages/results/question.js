// What the analyst asks for: a small frozen value that lives in the page's address.

/** @typedef {import("./api.js").Overview} Overview */

/**
 * @typedef {object} Question
 * @property {readonly string[]} attributes in the order of the table
 * @property {string} method
 * @property {string} level
 * @property {string} post
 * @property {string} chart
 * @property {Picked} picked
 * @property {string} within an attribute shown: shares are of those with each of its values
 * @property {string} sort "share", or "" for the order of values; nothing that is asked for
 */

/**
 * Values picked, by attribute. Those of an attribute shown are merged, those of another are the only
 * respondents asked about.
 *
 * @typedef {Readonly<{[name: string]: readonly string[]}>} Picked
 */

export const LEVELS = ["0.9", "0.95", "0.99"];

/** Which charts make sense; the collector says the same. @param {Question} question */
export function possible(question) {
  const many = question.attributes.length;
  if (many !== 2 && many !== 3) return ["bars"];
  return isWhole(question) ? ["heat", "bars", "mosaic"] : ["heat", "bars"];
}

/** Whether the whole joint table is asked for, not parts of it. @param {Question} question */
export const isWhole = (question) =>
  !question.within && !merged(question).length && !given(question).length;

/** Values that count as one. @param {Question} question @returns {[string, readonly string[]][]} */
export const merged = ({ attributes, picked }) =>
  Object.entries(picked).filter(([name, values]) => attributes.includes(name) && values.length > 1);

/** Values that those asked about have. @param {Question} question @returns {[string, readonly string[]][]} */
export const given = ({ attributes, picked }) =>
  Object.entries(picked).filter(([name, values]) => !attributes.includes(name) && values.length > 0);

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
    picked: pickedIn(overview, [...address.getAll("merge"), ...address.getAll("given")]),
    within: wanted.length > 1 ? one("within", wanted, "") : "",
    sort: one("sort", ["share"], ""),
  });
}

/** @param {Overview} overview @param {string[]} texts name=value each @returns {Picked} */
function pickedIn(overview, texts) {
  const found = overview.study.attributes.map((a) => {
    const values = a.values.filter((value) => texts.includes(`${a.name}=${value}`));
    // All values together are everybody.
    return /** @type {const} */ ([a.name, Object.freeze(values.length < a.values.length ? values : [])]);
  });
  return Object.freeze(Object.fromEntries(found.filter(([, values]) => values.length)));
}

/** The question as a request takes it. @param {Question} question */
export function parametersOf(question) {
  const whole = isWhole(question);
  const asked = new URLSearchParams(question.attributes.map((name) => ["attributes", name]));
  asked.set("method", question.method);
  asked.set("level", question.level);
  // Shares of a part are not post-processed.
  asked.set("post", whole ? question.post : "raw");
  asked.set("chart", chartOf(question));
  for (const [name, values] of merged(question)) for (const value of values) asked.append("merge", `${name}=${value}`);
  for (const [name, values] of given(question)) for (const value of values) asked.append("given", `${name}=${value}`);
  if (question.within) asked.set("within", question.within);
  return asked;
}

/** The question as an address holds it: also how its answer is shown. @param {Question} question */
export function addressOf(question) {
  const address = parametersOf(question);
  if (question.sort) address.set("sort", question.sort);
  return `#${address}`;
}

/** The chart, or the usual one where that asked for cannot be. @param {Question} question */
export const chartOf = (question) => (possible(question).includes(question.chart) ? question.chart : "auto");

/** Whether two questions have the same answer. @param {Question | null} one @param {Question | null} other */
export const isSame = (one, other) =>
  one === other || (!!one && !!other && String(parametersOf(one)) === String(parametersOf(other)));

/**
 * The question with another attribute, last, or without it; one stays. Values that were picked of it
 * meant something else before, so they go.
 *
 * @param {Question} question
 * @param {string} name
 */
export function toggled(question, name) {
  const { attributes, picked, within } = question;
  const rest = attributes.filter((each) => each !== name);
  const next = rest.length < attributes.length ? (rest.length ? rest : attributes) : [...attributes, name];
  const { [name]: _, ...others } = picked;
  return withChanges(question, {
    attributes: Object.freeze(next),
    picked: Object.freeze(others),
    within: next.length > 1 && next.includes(within) ? within : "",
  });
}

/**
 * The question with a value picked, or not. All values of an attribute would be everybody: the last
 * one is not taken.
 *
 * @param {Question} question
 * @param {string} name
 * @param {string} value
 * @param {number} size of the attribute
 */
export function pickedValue(question, name, value, size) {
  const before = question.picked[name] ?? [];
  const next = before.includes(value) ? before.filter((each) => each !== value) : [...before, value];
  if (next.length === size) return question;
  const { [name]: _, ...others } = question.picked;
  const picked = next.length ? { ...others, [name]: Object.freeze(next) } : others;
  return withChanges(question, { picked: Object.freeze(picked) });
}

/** @param {Question} question @param {Partial<Question>} changes @returns {Question} */
export const withChanges = (question, changes) => Object.freeze({ ...question, ...changes });
