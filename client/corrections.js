// Words of a study that were corrected while reports came in. A corrected study has another digest,
// and holds the words that stood there before: with them put back it must have the digest that it
// had. So a device that has sent its report knows that it is the same study, and is not asked again;
// one that has not can show what changed. castell/study/corrections.py says what may be corrected,
// and why; both must refuse the same.

import { canonical } from "./canonical.js";

/**
 * @typedef {object} Change
 * @property {string} was "" if it was not there
 * @property {string} now "" if it is not there any more
 */

/**
 * @typedef {object} Correction
 * @property {string} of the digest before it
 * @property {string} on the day it was made
 * @property {Change[]} changes
 */

const MOST = 50;
const OF_THE_STUDY = [
  "title",
  "description",
  "thanks",
  "imprint",
  "privacy",
  "completion",
  "language",
  "translations",
];
const OF_AN_ATTRIBUTE = ["question", "values", "translations"];
const DATE = /^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$/;

/**
 * Whether the corrections of a document have their form. What stands in them is checked with the
 * study that they make.
 *
 * @param {any} corrections
 * @returns {boolean}
 */
export function haveForm(corrections) {
  return (
    Array.isArray(corrections) &&
    corrections.length >= 1 &&
    corrections.length <= MOST &&
    corrections.every(
      (entry) =>
        hasOnly(entry, ["of", "on", "was"]) &&
        typeof entry.of === "string" &&
        typeof entry.on === "string" &&
        DATE.test(entry.on) &&
        isOfTexts(entry.was),
    )
  );
}

/**
 * The content of a study as it was before its last correction.
 *
 * @param {any} content without its digest
 * @returns {any}
 */
export function before(content) {
  const { corrections, ...rest } = content;
  const { attributes = {}, ...was } = corrections.at(-1).was;
  const earlier = putBack(rest, was);
  if (corrections.length > 1) earlier.corrections = corrections.slice(0, -1);
  earlier.attributes = content.attributes.map((/** @type {any} */ attribute) =>
    putBack(attribute, own(attributes, attribute.name) ?? {}),
  );
  return earlier;
}

/**
 * Whether the last correction lists exactly what it changed, and that is only what it may.
 *
 * @param {any} earlier
 * @param {any} content
 * @returns {boolean}
 */
export function isFair(earlier, content) {
  const was = changed(earlier, content, OF_THE_STUDY);
  /** @type {{[name: string]: any}} */
  const attributes = Object.create(null); // a name may be one that objects have
  for (const [at, attribute] of content.attributes.entries()) {
    const old = earlier.attributes[at];
    if (!keepsPlaces(old, attribute)) return false;
    const texts = changed(old, attribute, OF_AN_ATTRIBUTE);
    if (Object.keys(texts).length > 0) attributes[attribute.name] = texts;
  }
  if (Object.keys(attributes).length > 0) was.attributes = attributes;
  const listed = content.corrections.at(-1).was;
  return (
    Object.keys(was).length > 0 &&
    canonical(was) === canonical(listed) &&
    keepsConsent(earlier.translations ?? {}, content.translations ?? {})
  );
}

/**
 * The texts that differ, in the order of the page.
 *
 * @param {any} earlier
 * @param {any} content
 * @returns {Change[]}
 */
export function changesOf(earlier, content) {
  const [old, now] = [earlier, content].map((one) => {
    const texts = new Map(OF_THE_STUDY.flatMap((key) => textsOf(key, one[key])));
    for (const attribute of one.attributes) {
      for (const key of OF_AN_ATTRIBUTE) {
        for (const [where, text] of textsOf(`${attribute.name} ${key}`, attribute[key])) {
          texts.set(where, text);
        }
      }
    }
    return texts;
  });
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((where) => {
    const change = { was: old.get(where) ?? "", now: now.get(where) ?? "" };
    return change.was === change.now ? [] : [change];
  });
}

/**
 * @param {string} where
 * @param {any} value
 * @returns {[string, string][]}
 */
function textsOf(where, value) {
  if (typeof value === "string") return [[where, value]];
  return Object.entries(value ?? {}).flatMap(([key, inner]) => textsOf(`${where} ${key}`, inner));
}

/**
 * @param {any} was
 * @returns {boolean}
 */
function isOfTexts(was) {
  if (!hasOnly(was, [...OF_THE_STUDY, "attributes"])) return false;
  const attributes = "attributes" in was ? was.attributes : {};
  return (
    isPlain(attributes) &&
    Object.values(attributes).every(
      (texts) =>
        hasOnly(texts, OF_AN_ATTRIBUTE) && texts.question !== null && texts.values !== null,
    )
  );
}

/**
 * Every value where it was: reports hold its place, not its name.
 *
 * @param {any} old
 * @param {any} now
 * @returns {boolean}
 */
function keepsPlaces(old, now) {
  const lists = [[old.values, now.values]];
  for (const [language, { values }] of Object.entries(old.translations ?? {})) {
    const translated = own(now.translations ?? {}, language)?.values;
    if (values && translated) lists.push([values, translated]);
  }
  return lists.every(
    ([was, is]) =>
      was.length === is.length &&
      is.every((/** @type {string} */ value, /** @type {number} */ at) => {
        return value === was[at] || !was.includes(value);
      }),
  );
}

/**
 * What people agreed to stays as it was, in every language that was there.
 *
 * @param {any} old
 * @param {any} now
 * @returns {boolean}
 */
function keepsConsent(old, now) {
  return Object.entries(old).every(
    ([language, { consent }]) => consent === own(now, language)?.consent,
  );
}

/**
 * @param {any} old
 * @param {any} now
 * @param {string[]} keys
 * @returns {any}
 */
function changed(old, now, keys) {
  const text = (/** @type {any} */ value) => (value === undefined ? "" : canonical(value));
  const differing = keys.filter((key) => text(old[key]) !== text(now[key]));
  return Object.fromEntries(differing.map((key) => [key, old[key] ?? null]));
}

/**
 * @param {any} entries
 * @param {any} was null for what was not there
 * @returns {any}
 */
function putBack(entries, was) {
  const all = Object.entries({ ...entries, ...was });
  return Object.fromEntries(all.filter(([, value]) => value !== null));
}

/**
 * @param {any} holder
 * @param {string} key
 */
function own(holder, key) {
  return Object.hasOwn(holder, key) ? holder[key] : undefined;
}

/** @param {any} value */
function isPlain(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/**
 * @param {any} value
 * @param {string[]} known
 */
function hasOnly(value, known) {
  return isPlain(value) && Object.keys(value).every((key) => known.includes(key));
}
