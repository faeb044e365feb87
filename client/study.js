// A study as published: read strictly, checked against its digest.

import { product, sum } from "./arithmetic.js";
import { attributeOf, checkRule } from "./attribute.js";
import { canonical, sha256 } from "./canonical.js";
import { channelOf } from "./channel.js";
import { before, changesOf, haveForm, isFair } from "./corrections.js";
import {
  checkLanguage,
  everyText,
  keys,
  listed,
  optionalLink,
  optionalText,
  translations,
} from "./document_form.js";
import { checkPromise, inCommon, promiseOf } from "./promise.js";
import { Refusal } from "./refusal.js";
import { broken, drawWeights } from "./weights.js";

/** @typedef {import("./attribute.js").Attribute} Attribute */
/** @typedef {import("./channel.js").Channel} Channel */
/** @typedef {import("./corrections.js").Correction} Correction */

/**
 * Attributes randomised as one, in mixed radix: the last one's code moves fastest.
 *
 * @typedef {object} Block
 * @property {string[]} attributes
 * @property {number[]} sizes
 * @property {Channel} channel
 * @property {number} offset where its codes start in the number of a report that is drawn; else 0
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
    weights: drawn ? drawWeights(document.draw, secret.length) : [],
    // Public attributes come after what is drawn, and are in every report.
    widths: drawn ? [sum(outputs.slice(0, secret.length)), ...outputs.slice(secret.length)] : outputs,
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
    if (shown !== isPublic(channel) || (shown && names.length > 1)) {
      throw broken("not what is public, and only that, is sent as it is");
    }
    const skipped = names.some((name) => byName.get(name)?.maySkip);
    if (skipped !== (channel.kind === "skip") || (skipped && names.length > 1)) {
      throw broken("not what may be skipped, and only that, shows who does");
    }
    const block = { attributes: names, sizes, channel, offset: drawn && !shown ? offset : 0 };
    offset += channel.outputs;
    return block;
  });
  const asked = blocks.flatMap((block) => block.attributes);
  if (new Set(asked).size < byName.size || (!drawn && asked.length > byName.size)) {
    throw broken("the blocks do not hold each attribute once");
  }
  if (!drawn && blocks.length > 1 && blocks.some(({ channel }) => channel.coarse)) {
    throw broken("a block that asks coarsely is reported beside others");
  }
  if (hidden(blocks).length === 0) throw broken("all attributes are public");
  if (drawn) checkPublicLast(blocks);
  return blocks;
}

/**
 * What is public is in every report, after the number that was drawn, each once.
 *
 * @param {Block[]} blocks
 */
function checkPublicLast(blocks) {
  const first = hidden(blocks).length;
  const names = blocks.slice(first).flatMap(({ attributes }) => attributes);
  if (blocks.slice(0, first).some(({ channel }) => isPublic(channel))) {
    throw broken("a public attribute stands before a block that is drawn");
  }
  if (new Set(names).size < names.length) throw broken("a public attribute is sent twice");
  if (names.length > 0 && blocks.some(({ channel }) => channel.coarse)) {
    throw broken("a block that asks coarsely is reported beside others");
  }
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
