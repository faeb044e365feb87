// An attribute as published, and rules about its values.

import { keys, listed, translations } from "./document_form.js";
import { checkScale } from "./scale.js";
import { broken } from "./weights.js";

/** @typedef {import("./scale.js").Scale} Scale */

/**
 * @typedef {object} Attribute
 * @property {string} name
 * @property {string} question
 * @property {string[]} values
 * @property {{[language: string]: {question?: string, values?: string[]}}} translations
 * @property {boolean} public whether it is sent as it is, outside epsilon
 * @property {boolean} maySkip whether its last value says that there is no answer, and is sent as it is
 * @property {Scale} [scale] which value a number belongs to, where values stand for numbers
 */

// Spaces as Python strips them, which JavaScript's trim() does not quite.
const SPACES =
  "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const SPACE_AT_END = new RegExp(`^[${SPACES}]|[${SPACES}]$`, "u");
const ONLY_SPACES = new RegExp(`^[${SPACES}]*$`, "u");

/**
 * @param {any} entry
 * @returns {Attribute}
 */
export function attributeOf(entry) {
  const more = ["translations", "ordered", "scale", "also", "none", "missing", "public"];
  keys(entry, ["name", "question", "values"], more, "an attribute");
  const { name, question, values } = entry;
  if (typeof name !== "string" || name === "" || SPACE_AT_END.test(name)) {
    throw broken("an attribute has no name");
  }
  if (typeof question !== "string") throw broken(`${name} has no question`);
  if ("public" in entry && entry.public !== true) throw broken(`${name} is public, or not`);
  checkValues(name, values, 2);
  checkScale(entry);
  translations(entry, ["question", "values"]);
  for (const translated of Object.values(entry.translations ?? {})) {
    if (translated.values === undefined) continue;
    checkValues(name, translated.values, values.length);
    if (translated.values.length !== values.length) {
      throw broken(`a translation of ${name} has another number of values`);
    }
  }
  return {
    name,
    question,
    values,
    translations: entry.translations ?? {},
    public: entry.public === true,
    maySkip: entry.missing === "skip",
    scale: entry.scale,
  };
}

/**
 * Whether a value of an attribute is the one that says that there is no answer, and shows it.
 *
 * @param {Attribute} attribute
 * @param {number} code
 */
export function isSkip({ maySkip, values }, code) {
  return maySkip && code === values.length - 1;
}

/**
 * How many values those choose from who answer.
 *
 * @param {Attribute} attribute
 */
export function choices({ maySkip, values }) {
  return values.length - Number(maySkip);
}

/**
 * @param {string} name
 * @param {any} values
 * @param {number} least
 */
function checkValues(name, values, least) {
  const texts = listed(values, least);
  if (texts.some((text) => typeof text !== "string" || ONLY_SPACES.test(text))) {
    throw broken(`${name} has an empty value`);
  }
  if (new Set(texts).size < texts.length) throw broken(`${name} lists a value twice`);
}

/**
 * A combination that the study declares impossible. It is for whoever estimates: what a device
 * reports does not depend on it, or it would tell who answered so.
 *
 * @param {any} rule codes of values, by attribute
 * @param {Map<string, Attribute>} byName
 */
export function checkRule(rule, byName) {
  const plain = rule !== null && typeof rule === "object" && !Array.isArray(rule);
  const named = plain ? Object.entries(rule) : [];
  if (named.length < 2) throw broken("a rule is not about two attributes or more");
  for (const [name, codes] of named) {
    const size = byName.get(name)?.values.length ?? 0;
    const fits = listed(codes, 1).every(
      (code, i) => Number.isInteger(code) && code < size && code > (codes[i - 1] ?? -1),
    );
    if (!fits || codes.length >= size) throw broken("a rule names values that no attribute has");
  }
}
