// What this person has spent on this device, study by study.
//
// The ledger counts reports, and keeps no trace of what was answered: a note by which it could tell
// a changed answer from a repeated one would tell it to others as well. So it states two numbers:
// what was spent if the answers were always the same, and the most that can have been spent.

import { Refusal } from "./refusal.js";

/** @typedef {import("./report.js").Report} Report */
/** @typedef {import("./store.js").Store} Store */
/** @typedef {import("./study.js").Study} Study */

/**
 * @typedef {object} Entry
 * @property {string} digest
 * @property {string} name
 * @property {boolean} drawn
 * @property {{epsilon: number, inputs: number}[]} blocks
 * @property {number} reports how many left the device, or may have
 * @property {Report | null} waiting made and handed over, but not yet acknowledged
 */

/** @param {string} digest */
const place = (digest) => `ledger:${digest}`;

/**
 * @param {Store} store
 * @returns {Promise<Entry[]>}
 */
export function readLedger(store) {
  return store.all(place(""));
}

/**
 * Write a report down as spent: before it leaves, because after that nobody can take it back.
 * Writing the same report down again changes nothing.
 *
 * @param {Store} store
 * @param {Study} study
 * @param {Report} report
 * @returns {Promise<Entry>}
 */
export function spend(store, study, report) {
  return store.update(place(study.digest), (/** @type {Entry | undefined} */ earlier) => {
    const entry = earlier ?? newEntry(study);
    if (entry.waiting?.id === report.id) return entry;
    if (entry.waiting) {
      throw new Refusal("report", "an earlier report is still waiting", "send that one first");
    }
    return { ...entry, reports: entry.reports + 1, waiting: report };
  });
}

/**
 * The report has arrived, or was refused for good: nothing waits any more.
 *
 * @param {Store} store
 * @param {Study} study
 * @returns {Promise<Entry | undefined>}
 */
export function settle(store, study) {
  return store.update(place(study.digest), (/** @type {Entry | undefined} */ entry) =>
    entry ? { ...entry, waiting: null } : undefined,
  );
}

/**
 * What the reports of an entry have cost: with one set of answers throughout, and at the most.
 *
 * @param {Entry} entry
 * @returns {{same: number, most: number}}
 */
export function costOf({ blocks, drawn, reports }) {
  // A device reports each answer of a block in one way only, so a block can cost no more than all
  // of its answers told apart.
  const same = blocks.map(({ epsilon }) => epsilon * Math.min(reports, 1));
  const most = blocks.map(({ epsilon, inputs }) => epsilon * Math.min(reports, inputs));
  return { same: whole(same, drawn), most: whole(most, drawn) };
}

/**
 * @param {number[]} losses
 * @param {boolean} drawn
 */
function whole(losses, drawn) {
  return drawn ? Math.max(...losses) : losses.reduce((total, loss) => total + loss, 0);
}

/**
 * @param {Study} study
 * @returns {Entry}
 */
function newEntry(study) {
  return {
    digest: study.digest,
    name: study.title || study.name,
    drawn: study.drawn,
    blocks: study.blocks.map(({ channel }) => ({
      epsilon: channel.epsilon,
      inputs: channel.inputs,
    })),
    reports: 0,
    waiting: null,
  };
}
