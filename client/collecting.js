// Whether the collector takes reports now, and what it asks for: known before anybody is asked.

import { Refusal } from "./refusal.js";

/** @typedef {"open" | "not_open_yet" | "paused" | "closed"} Phase */

/**
 * @typedef {object} Collecting
 * @property {Phase} phase
 * @property {string | null} opens when, if the collector says so
 * @property {boolean} invited whether a report needs an invitation
 */

/** @type {readonly string[]} */
const NOT_OPEN = ["not_open_yet", "paused", "closed"];

/**
 * What an answer of the collector says of why no report is taken now; nothing if it says nothing.
 *
 * @param {any} told
 * @returns {Exclude<Phase, "open"> | undefined}
 */
export function notOpen(told) {
  return NOT_OPEN.includes(told?.state) ? told.state : undefined;
}

/**
 * Ask the collector. One that says nothing counts as open: it decides again when a report comes.
 *
 * @param {string | URL} reportsUrl the collector's address for reports
 * @returns {Promise<Collecting>}
 */
export async function askCollector(reportsUrl) {
  let told = /** @type {any} */ ({});
  try {
    const answer = await fetch(new URL("collector.json", reportsUrl), {
      credentials: "omit",
      referrerPolicy: "no-referrer",
      cache: "no-store",
      redirect: "error",
      signal: AbortSignal.timeout(15_000),
    });
    if (answer.ok) told = await answer.json();
  } catch {
    // It says nothing.
  }
  return collectingOf(told);
}

/**
 * What the collector's own description says.
 *
 * @param {any} told
 * @returns {Collecting}
 */
export function collectingOf(told) {
  const opens = Number.isNaN(Date.parse(told?.opens)) ? null : String(told.opens);
  return { phase: notOpen(told) ?? "open", opens, invited: told?.invitations === true };
}

/**
 * Refuse before a report is handed over to a collector that would not take it: it then costs nothing.
 *
 * @param {string | URL} reportsUrl
 * @param {string} [invitation] of the report; whether it is good is another question
 * @returns {Promise<void>}
 */
export async function checkOpen(reportsUrl, invitation) {
  const { phase, invited } = await askCollector(reportsUrl);
  const nothing = "nothing was sent and nothing is spent";
  if (phase !== "open") throw new Refusal("closed", "no reports are taken now", nothing);
  if (invited && invitation === undefined) {
    throw new Refusal("invitation", "each report needs an invitation", nothing);
  }
}
