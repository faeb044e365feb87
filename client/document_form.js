// The form of a published study: which entries it has, and what kind of value each one is.

import { broken } from "./weights.js";

// An https address, or a path. One that goes on with a slash of either kind is another host's.
const LINK = /^(https:\/\/[A-Za-z0-9.-]+(:[0-9]{1,5})?([/?#][!-~]*)?|\/(?![/\\])[!-~]*)$/;

/**
 * @param {any} holder
 * @param {string[]} known
 */
export function translations(holder, known) {
  if (!("translations" in holder)) return;
  keys(holder.translations, [], Object.keys(holder.translations ?? {}), "the translations");
  const all = Object.entries(holder.translations);
  if (all.length === 0) throw broken("there are translations without a language");
  for (const [language, entry] of all) {
    checkLanguage(language);
    keys(entry, [], known, "a translation");
    if (Object.keys(entry).length === 0) throw broken("a translation is empty");
    for (const key of known) if (key !== "values") optionalText(entry, key);
  }
}

/** @param {any} language */
export function checkLanguage(language) {
  if (!/^[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$/.test(language)) throw broken("not a language");
}

/**
 * @param {any} holder
 * @param {string} key
 */
export function optionalText(holder, key) {
  if (!(key in holder)) return;
  if (typeof holder[key] !== "string" || holder[key] === "") throw broken(`${key} is no text`);
}

/**
 * An address that a page may lead to: https, or a path on the host the page came from.
 *
 * @param {any} holder
 * @param {string} key
 */
export function optionalLink(holder, key) {
  optionalText(holder, key);
  if (!LINK.test(holder[key] ?? "/")) throw broken(`${key} is no link`);
}

/**
 * @param {any} value
 * @param {string[]} needed
 * @param {string[]} possible
 * @param {string} what
 */
export function keys(value, needed, possible, what) {
  const plain = value !== null && typeof value === "object" && !Array.isArray(value);
  const found = plain ? Object.keys(value) : [];
  const fits =
    plain &&
    needed.every((key) => found.includes(key)) &&
    found.every((key) => needed.includes(key) || possible.includes(key));
  if (!fits) throw broken(`${what} has entries that no study has, or lacks some`);
}

/**
 * @param {any} value
 * @param {number} least
 * @returns {any[]}
 */
export function listed(value, least) {
  if (!Array.isArray(value) || value.length < least) throw broken("a list is missing or short");
  return value;
}

/** @param {any} value @returns {string} */
export function everyText(value) {
  if (typeof value === "string") return value;
  return value !== null && typeof value === "object"
    ? Object.values(value).map(everyText).join("\n")
    : "";
}
