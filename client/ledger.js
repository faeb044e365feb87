// What this device keeps of each study: first a key, then the one report that it handed over.
//
// The first report that is handed over for sending stands until the study's end, whatever is
// answered later. So all that a device ever sends for a study is one report, and what it spends is
// the study's epsilon, once, however often it is asked and whoever can link what it sends. Key and
// report are never kept together (memo.js says why), and an answer is never kept at all.

import { newKey } from "./memo.js";
import { Refusal } from "./refusal.js";

/** @typedef {import("./report.js").Report} Report */
/** @typedef {import("./store.js").Store} Store */
/** @typedef {import("./study.js").Study} Study */

/**
 * The report that stands for a study, and what it cost.
 *
 * @typedef {object} Entry
 * @property {string} digest
 * @property {string} name
 * @property {number} epsilon
 * @property {Report} report its invitation is kept only while it may be needed again
 * @property {"waiting" | "arrived" | "refused"} state
 */

/**
 * @typedef {object} Kept
 * @property {CryptoKey} [key] before anything was handed over
 * @property {Entry} [sent] afterwards
 */

// Corrected words and later stages are the same study: what was sent before stands.
/** @param {string} identity what stays the same of the study */
const place = (identity) => `study:${identity}`;

/**
 * The report that stands for a study or, before there is one, the key to draw it with.
 *
 * @param {Store} store
 * @param {string} identity
 * @returns {Promise<Kept>}
 */
export async function keptFor(store, identity) {
  const kept = await store.get(place(identity));
  if (kept) return kept;
  const key = await newKey();
  // Another tab may have been quicker: the first key stands, and so does the first report.
  return store.update(place(identity), (earlier) => earlier ?? { key });
}

/**
 * Every study this device has handed a report over for. What they cost adds up.
 *
 * @param {Store} store
 * @returns {Promise<Entry[]>}
 */
export async function readLedger(store) {
  const kept = /** @type {Kept[]} */ (await store.all(place("")));
  return kept.flatMap(({ sent }) => (sent ? [sent] : []));
}

/**
 * Write a report down as handed over: before it leaves, as nobody can take it back after that. The
 * first stands. Writing it down again changes nothing but the invitation it goes with, and any
 * other report is refused.
 *
 * @param {Store} store
 * @param {Study} study
 * @param {Report} report
 * @returns {Promise<Entry>}
 */
export async function spend(store, study, report) {
  const kept = await store.update(place(study.identity), (/** @type {Kept | undefined} */ earlier) => {
    const sent = earlier?.sent;
    if (!sent) return { sent: newEntry(study, report) };
    if (!isSame(sent.report, report)) {
      throw new Refusal(
        "stands",
        "this device has handed over another report for this study, and the first stands",
        "make the report again: it is then the one that stands",
      );
    }
    return sent.state === "arrived" ? earlier : { sent: { ...sent, report, state: "waiting" } };
  });
  return kept.sent;
}

/**
 * A report has arrived, or was refused for good. Any other that stands is left as it is.
 *
 * @param {Store} store
 * @param {Study} study
 * @param {Report} report
 * @param {"arrived" | "refused"} state
 * @returns {Promise<void>}
 */
export async function settle(store, study, { id }, state) {
  await store.update(place(study.identity), (/** @type {Kept | undefined} */ kept) => {
    const sent = kept?.sent;
    // What has arrived has arrived, whatever is said of another copy of it.
    if (!sent || sent.report.id !== id || sent.state === "arrived") return kept;
    const { study: digest, codes } = sent.report;
    return { sent: { ...sent, report: { id, study: digest, codes }, state } };
  });
}

/**
 * @param {Report} one
 * @param {Report} other
 */
function isSame(one, other) {
  return one.id === other.id && JSON.stringify(one.codes) === JSON.stringify(other.codes);
}

/**
 * @param {Study} study
 * @param {Report} report
 * @returns {Entry}
 */
function newEntry(study, report) {
  const name = study.title || study.name;
  return { digest: report.study, name, epsilon: study.epsilon, report, state: "waiting" };
}
