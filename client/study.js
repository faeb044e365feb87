// A study as published: read strictly, checked against its digest.

import { product, sum } from "./arithmetic.js";
import { canonical, sha256 } from "./canonical.js";
import { channelOf } from "./channel.js";
import { before, changesOf, haveForm, isFair } from "./corrections.js";
import { checkPromise, inCommon, promiseOf } from "./promise.js";
import { Refusal } from "./refusal.js";
import { checkScale } from "./scale.js";
import { broken, drawWeights } from "./weights.js";

/** @typedef {import("./channel.js").Channel} Channel */
/** @typedef {import("./corrections.js").Correction} Correction */
/** @typedef {import("./scale.js").Scale} Scale */

/**
 * @typedef {object} Attribute
 * @property {string} name
 * @property {string} question
 * @property {string[]} values
 * @property {{[language: string]: {question?: string, values?: string[]}}} translations
 * @property {boolean} public whether it is sent as it is, outside epsilon
 * @property {Scale} [scale] which value a number belongs to, where values stand for numbers
 */

/**
 * Attributes randomised as one, in mixed radix: the last one's code moves fastest.
 *
 * @typedef {object} Block
 * @property {string[]} attributes
 * @property {number[]} sizes
 * @property {Channel} channel
 * @property {number} offset where its codes start in the report of a drawn design
 */

/**
 * @typedef {object} Study
 * @property {string} digest
 * @property {string[]} digests those it has had, the first one first: one more with each correction
 * @property {string} origin the first of them: what stays the same as long as the channels do
 * @property {string[]} wordings by what a device knows it again, one more with each correction: of a
 *   study with stages the digest of what all of them have in common, otherwise its digests
 * @property {string} identity the first of these: everybody reports once for it
 * @property {import("./promise.js").Promised | null} promise of a study with stages
 * @property {Correction[]} corrections of its words, the first one first
 * @property {string} name
 * @property {string} title
 * @property {string} description
 * @property {string} language the one its texts are written in; "" if it does not say
 * @property {string} consent agreed to before sending; "" if there is none, as with those below
 * @property {string} thanks
 * @property {string} imprint the address of a page
 * @property {string} privacy
 * @property {string} completion where a person may go on to when done
 * @property {{[language: string]: {[key: string]: string}}} translations
 * @property {"after" | "before"} review whether a report is shown after it was sent, or before
 * @property {Attribute[]} attributes
 * @property {Block[]} blocks
 * @property {boolean} drawn whether a respondent reports one block, drawn at random, or all
 * @property {number[]} weights of the blocks in the draw; none if all are reported
 * @property {number[]} widths how many codes each number of a report can take
 * @property {number} epsilon what one respondent spends in all, rounded up
 */

const FORMAT = 1;

const SAID = ["title", "description", "consent", "thanks"];
const LINKS = ["imprint", "privacy", "completion"];

// An https address, or a path. One that goes on with a slash of either kind is another host's.
const LINK = /^(https:\/\/[A-Za-z0-9.-]+(:[0-9]{1,5})?([/?#][!-~]*)?|\/(?![/\\])[!-~]*)$/;

/**
 * The study in a published text. The text must be the published one to the letter: a number written
 * as 1.0, a key given twice or a space is refused, because each is read differently somewhere.
 *
 * @param {string} text
 * @returns {Promise<Study>}
 */
export async function parseStudy(text) {
  /** @type {any} */
  let document;
  try {
    document = JSON.parse(text);
  } catch {
    throw broken("this is not JSON");
  }
  const texts = [...SAID, ...LINKS, "language", "translations", "review"];
  const possible = [...texts, "draw", "impossible", "corrections", "stages"];
  keys(document, ["attributes", "blocks", "castell", "digest", "name"], possible, "the study");
  if (document.castell !== FORMAT) {
    throw broken(`the study has format ${JSON.stringify(document.castell)}, not ${FORMAT}`);
  }
  if (typeof document.name !== "string") throw broken("the study has no name");
  for (const key of [...SAID, "language"]) optionalText(document, key);
  for (const key of LINKS) optionalLink(document, key);
  if ("language" in document) checkLanguage(document.language);
  translations(document, [...SAID, ...LINKS]);
  for (const told of Object.values(document.translations ?? {})) {
    for (const key of LINKS) optionalLink(told, key);
  }
  if ("review" in document && document.review !== "before") throw broken("review is not before");
  if ("corrections" in document && !haveForm(document.corrections)) {
    throw broken("the corrections are none");
  }

  const attributes = listed(document.attributes, 1).map(attributeOf);
  const byName = new Map(attributes.map((attribute) => [attribute.name, attribute]));
  if (byName.size < attributes.length) throw broken("two attributes have one name");
  if ("impossible" in document) {
    for (const rule of listed(document.impossible, 1)) checkRule(rule, byName);
  }
  const drawn = "draw" in document;
  const blocks = blocksOf(document.blocks, byName, drawn);
  const promise = "stages" in document ? promiseOf(document.stages) : null;
  const secret = hidden(blocks);
  if (promise) checkPromise(promise, secret, drawn);

  if (/\p{Surrogate}/u.test(everyText(document))) throw broken("a text holds half a character");
  if (canonical(document) !== text) throw broken("this is not the published text of a study");
  const { digest, ...content } = document;
  if ((await sha256(canonical(content))) !== digest) {
    throw broken("the digest does not fit the study");
  }
  const { corrections, known } = await correctionsOf(content);
  const wordings = [...known, promise ? await sha256(canonical(inCommon(content))) : digest];
  const digests = [...corrections.map(({ of }) => of), digest];
  const outputs = blocks.map((block) => block.channel.outputs);
  const losses = secret.map((block) => block.channel.epsilon);
  return Object.freeze({
    digest,
    digests,
    origin: digests[0],
    wordings,
    identity: wordings[0],
    promise,
    corrections,
    name: document.name,
    title: document.title ?? "",
    description: document.description ?? "",
    consent: document.consent ?? "",
    thanks: document.thanks ?? "",
    imprint: document.imprint ?? "",
    privacy: document.privacy ?? "",
    completion: document.completion ?? "",
    language: document.language ?? "",
    translations: document.translations ?? {},
    review: document.review ?? "after",
    attributes,
    blocks,
    drawn,
    weights: drawn ? drawWeights(document.draw, blocks.length) : [],
    widths: drawn ? [sum(outputs)] : outputs,
    epsilon: drawn ? Math.max(...losses) : sum(losses),
  });
}

/**
 * What was corrected, found out by putting the words back: the study before must have its digest.
 *
 * @param {any} content
 * @returns {Promise<{corrections: Correction[], known: string[]}>} and its wordings before
 */
async function correctionsOf(content) {
  if (!("corrections" in content)) return { corrections: [], known: [] };
  const { of, on } = content.corrections.at(-1);
  const earlier = before(content);
  const study = await parseStudy(canonical({ ...earlier, digest: of }));
  if (!isFair(earlier, content)) throw broken("a correction changed more than words");
  const last = { of, on, changes: changesOf(earlier, content) };
  return { corrections: [...study.corrections, last], known: study.wordings };
}

/**
 * @param {Study} study
 * @param {string} name
 * @returns {Attribute}
 */
export function attributeNamed(study, name) {
  const found = study.attributes.find((attribute) => attribute.name === name);
  if (!found) throw new Refusal("answer", `there is no question ${name}`, "ask what there is");
  return found;
}

/**
 * The code of each answer asked for; unknown and missing ones are refused.
 *
 * @param {Study} study
 * @param {Block} block
 * @param {{[attribute: string]: string}} answers values as the study lists them
 * @returns {number} the block's answer as one number
 */
export function blockCode(study, block, answers) {
  return block.attributes.reduce((joined, name, i) => {
    const { values } = attributeNamed(study, name);
    const code = Object.hasOwn(answers, name) ? values.indexOf(answers[name]) : -1;
    if (code < 0) {
      throw new Refusal("answer", `${name} has no answer that the study knows`, "choose one");
    }
    return joined * block.sizes[i] + code;
  }, 0);
}

/**
 * @param {any} entry
 * @returns {Attribute}
 */
function attributeOf(entry) {
  const more = ["translations", "ordered", "scale", "also", "missing", "public"];
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
    scale: entry.scale,
  };
}

/**
 * @param {any} entries
 * @param {Map<string, Attribute>} byName
 * @param {boolean} drawn
 * @returns {Block[]}
 */
function blocksOf(entries, byName, drawn) {
  let offset = 0;
  const blocks = listed(entries, 1).map((entry) => {
    keys(entry, ["attributes", "channel"], [], "a block");
    const names = listed(entry.attributes, 1);
    if (new Set(names).size < names.length) throw broken("a block names an attribute twice");
    const sizes = names.map((name) => {
      const attribute = byName.get(name);
      if (attribute === undefined) throw broken("a block names no attribute of the study");
      return attribute.values.length;
    });
    const channel = channelOf(entry.channel);
    const fits = String(channel.coarse?.sizes ?? sizes) === String(sizes);
    if (channel.inputs !== product(sizes) || !fits) {
      throw broken("a channel does not fit its attributes");
    }
    const shown = names.some((name) => byName.get(name)?.public);
    if (shown !== isPublic(channel) || (shown && (drawn || names.length > 1))) {
      throw broken("not what is public, and only that, is sent as it is");
    }
    const block = { attributes: names, sizes, channel, offset };
    offset += channel.outputs;
    return block;
  });
  const held = blocks.flatMap((block) => block.attributes);
  if (new Set(held).size < byName.size || (!drawn && held.length > byName.size)) {
    throw broken("the blocks do not hold each attribute once");
  }
  if (!drawn && blocks.length > 1 && blocks.some(({ channel }) => channel.coarse)) {
    throw broken("a block that asks coarsely is reported beside others");
  }
  if (hidden(blocks).length === 0) throw broken("all attributes are public");
  return blocks;
}

/** @param {Channel} channel */
function isPublic({ kind }) {
  return kind === "clear";
}

/**
 * The blocks that are randomised: all but public attributes.
 *
 * @param {Block[]} blocks
 */
export function hidden(blocks) {
  return blocks.filter(({ channel }) => !isPublic(channel));
}

/**
 * A combination that the study declares impossible. It is for whoever estimates: what a device
 * reports does not depend on it, or it would tell who answered so.
 *
 * @param {any} rule codes of values, by attribute
 * @param {Map<string, Attribute>} byName
 */
function checkRule(rule, byName) {
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

// Spaces as Python strips them, which JavaScript's trim() does not quite.
const SPACES =
  "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const SPACE_AT_END = new RegExp(`^[${SPACES}]|[${SPACES}]$`, "u");
const ONLY_SPACES = new RegExp(`^[${SPACES}]*$`, "u");

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
 * @param {any} holder
 * @param {string[]} known
 */
function translations(holder, known) {
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
function checkLanguage(language) {
  if (!/^[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$/.test(language)) throw broken("not a language");
}

/**
 * @param {any} holder
 * @param {string} key
 */
function optionalText(holder, key) {
  if (!(key in holder)) return;
  if (typeof holder[key] !== "string" || holder[key] === "") throw broken(`${key} is no text`);
}

/**
 * An address that a page may lead to: https, or a path on the host the page came from.
 *
 * @param {any} holder
 * @param {string} key
 */
function optionalLink(holder, key) {
  optionalText(holder, key);
  if (!LINK.test(holder[key] ?? "/")) throw broken(`${key} is no link`);
}

/**
 * @param {any} value
 * @param {string[]} needed
 * @param {string[]} possible
 * @param {string} what
 */
function keys(value, needed, possible, what) {
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
function listed(value, least) {
  if (!Array.isArray(value) || value.length < least) throw broken("a list is missing or short");
  return value;
}

/** @param {any} value @returns {string} */
function everyText(value) {
  if (typeof value === "string") return value;
  return value !== null && typeof value === "object"
    ? Object.values(value).map(everyText).join("\n")
    : "";
}
