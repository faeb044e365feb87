// Channels: randomised response as exact integer weights. Answer x is reported as y with probability
// weight(x, y) / total. The same integers are used by the server that estimates, so no rounding
// stands between what is claimed and what happens here. Each kind is a file in channels/.

import * as clear from "./channels/clear.js";
import * as cyclic from "./channels/cyclic.js";
import * as kary from "./channels/kary.js";
import * as matrix from "./channels/matrix.js";
import * as partition from "./channels/partition.js";
import * as skip from "./channels/skip.js";
import { Refusal } from "./refusal.js";

/**
 * @typedef {object} Channel
 * @property {string} kind
 * @property {number} inputs how many answers there are
 * @property {number} outputs how many reports there are
 * @property {number} total what the weights of one answer sum to, at most 2^53
 * @property {boolean} reportsAnswers whether a report is one of the answers, and is shown as such
 * @property {(answer: number, number: number) => number} respond the report of an answer, given a
 *   number drawn uniformly below `total`; the path does not depend on the answer
 * @property {(answer: number, report: number) => number} weight
 * @property {number} epsilon the privacy loss of one report, rounded up
 * @property {[number, number]} odds the most and the least that one report weighs, of the report for
 *   which they differ most: epsilon is the logarithm of their ratio
 * @property {(sizes: number[], at: number) => import("./exposure.js").Guess} guess how often the
 *   best guess at one attribute of a block of these sizes is right, or at all of them (-1)
 * @property {Coarse} [coarse] what it puts together before it randomises
 */

/**
 * Groups of answers that reports do not tell apart. Each is a box: for each attribute the codes inside.
 *
 * @typedef {object} Coarse
 * @property {number[]} sizes of the block's attributes
 * @property {number[][][]} leaves
 * @property {Channel} inner what randomises the group
 */

/**
 * By the kind that is published, which is the file's name. All of them come with the page: nothing is
 * fetched when it is needed. tests/collector/test_browser_channels.py compares the list with the folder.
 *
 * @type {{[kind: string]: {read: (document: any, channelOf: (document: any) => Channel) => Channel}}}
 */
const KINDS = { clear, cyclic, kary, matrix, partition, skip };

/**
 * The channel a published study describes.
 *
 * @param {any} document
 * @returns {Channel}
 */
export function channelOf(document) {
  const kind = document !== null && typeof document === "object" ? document.kind : undefined;
  if (typeof kind === "string" && Object.hasOwn(KINDS, kind)) return KINDS[kind].read(document, channelOf);
  throw new Refusal(
    "study",
    `this page cannot randomise answers the way the study asks (${JSON.stringify(kind) ?? "?"})`,
    "do not answer here; tell whoever runs the study",
  );
}
