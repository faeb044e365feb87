// Making a report and sending a report are two steps; what people see of it, and when, is the page's.

import { notOpen } from "./collecting.js";
import { drawnBlock, randomized } from "./memo.js";
import { Refusal } from "./refusal.js";
import { blockCode } from "./study.js";

/** @typedef {import("./study.js").Study} Study */

/**
 * All that leaves the device.
 *
 * @typedef {object} Report
 * @property {string} id random; a second copy with the same id is not counted again
 * @property {string} study the digest of the study
 * @property {number[]} codes
 * @property {string} [invitation] only where the collector asks for one
 */

/**
 * Which blocks a device with this key reports: all, or the one drawn for it and what is public.
 *
 * @param {Study} study
 * @param {CryptoKey} key
 * @returns {Promise<number[]>}
 */
export async function blocksAsked(study, key) {
  const every = study.blocks.map((_, index) => index);
  if (!study.drawn) return every;
  return [await drawnBlock(key, study.origin, study.weights), ...every.slice(study.weights.length)];
}

/**
 * A report. Nothing is sent.
 *
 * @param {Study} study
 * @param {{[attribute: string]: string}} answers a value for each attribute that is asked
 * @param {CryptoKey} key
 * @returns {Promise<Report>}
 */
export async function makeReport(study, answers, key) {
  const codes = [];
  for (const index of await blocksAsked(study, key)) {
    const block = study.blocks[index];
    const answer = blockCode(study, block, answers);
    const code = await randomized(key, study.origin, index, block.channel, answer);
    codes.push(block.offset + code);
  }
  return { id: newId(), study: study.digest, codes };
}

/** @returns {string} 16 random bytes in base64url, without padding */
export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/**
 * The bytes that leave, as text.
 *
 * @param {Report} report
 * @returns {string}
 */
export function bodyOf({ id, study, codes, invitation }) {
  return JSON.stringify(
    invitation === undefined ? { id, study, codes } : { id, study, codes, invitation },
  );
}

/**
 * What the codes say, block by block: which block, and which report of its channel.
 *
 * @param {Study} study
 * @param {number[]} codes
 * @returns {{block: number, code: number}[]}
 */
export function readCodes(study, codes) {
  const fits =
    codes.length === study.widths.length &&
    codes.every((code, i) => Number.isSafeInteger(code) && code >= 0 && code < study.widths[i]);
  if (!fits) throw new Refusal("report", "the codes are not this study's", "make the report again");
  if (!study.drawn) return codes.map((code, block) => ({ block, code }));
  const many = study.weights.length;
  const block = study.blocks.slice(0, many).findLastIndex(({ offset }) => offset <= codes[0]);
  const [, ...plain] = codes;
  return [
    { block, code: codes[0] - study.blocks[block].offset },
    ...plain.map((code, i) => ({ block: many + i, code })),
  ];
}

// After these the collector may not have the report, and sending it again may help.
const TRY_AGAIN = new Set([408, 425, 429, 500, 502, 503, 504]);

/**
 * Send a report, again and again until the collector has it: the id makes sure it counts once.
 *
 * @param {Report} report
 * @param {string | URL} url the collector's address for reports
 * @param {{attempts?: number, pause?: (milliseconds: number) => Promise<void>}} [options]
 * @returns {Promise<void>} once the collector says that it is stored
 */
export async function sendReport(report, url, { attempts = 5, pause = sleep } = {}) {
  const body = bodyOf(report);
  for (let attempt = 1; ; attempt += 1) {
    const answer = await post(url, body);
    if (answer?.ok && (await isStored(answer))) return;
    if (answer !== undefined && !answer.ok) {
      const refusal = await refusalOf(answer);
      // A pause may last for days: nobody waits for its end before the page.
      if (refusal.kind === "closed" || !TRY_AGAIN.has(answer.status)) throw refusal;
    }
    if (attempt >= attempts) {
      const problem = answer ? `the collector answers ${answer.status}` : "it cannot be reached";
      throw new Refusal("network", problem, "try again later; it will not count twice");
    }
    const asked = 1000 * Number(answer?.headers.get("Retry-After") ?? 0);
    await pause(asked > 0 ? Math.min(asked, 60_000) : 500 * 2 ** (attempt - 1) * (0.5 + jitter()));
  }
}

/**
 * Ask whether an invitation is good before a report leaves with it: a code that was mistyped then
 * costs nothing. Only a clear no counts as one, for the collector decides again when it takes the
 * report.
 *
 * @param {string} invitation
 * @param {string | URL} url the collector's address for reports
 * @returns {Promise<void>}
 */
export async function checkInvitation(invitation, url) {
  const answer = await post(new URL("invitations", url), JSON.stringify({ invitation }));
  if (answer?.status !== 403) return;
  const { problem, remedy } = await refusalOf(answer);
  throw new Refusal("invitation", problem, remedy);
}

/**
 * @param {string | URL} url
 * @param {string} body
 * @returns {Promise<Response | undefined>} nothing if it did not get through
 */
async function post(url, body) {
  try {
    return await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body,
      credentials: "omit",
      referrerPolicy: "no-referrer",
      cache: "no-store",
      redirect: "error",
      signal: AbortSignal.timeout(15_000),
    });
  } catch {
    return undefined;
  }
}

/** @param {Response} answer */
async function isStored(answer) {
  try {
    return (await answer.json()).status === "stored";
  } catch {
    return false;
  }
}

/** @param {Response} answer */
async function refusalOf(answer) {
  let told = { error: `the collector answers ${answer.status}`, remedy: "reload the page" };
  try {
    told = { ...told, ...(await answer.json()) };
  } catch {
    // No words of its own.
  }
  const changed = answer.status === 409 && String(told.error).startsWith("study changed");
  const kind = notOpen(told) ? "closed" : changed ? "changed" : "refused";
  return new Refusal(kind, String(told.error), String(told.remedy));
}

/** Between 0 and 1, so that devices that failed together do not come back together. */
function jitter() {
  return crypto.getRandomValues(new Uint16Array(1))[0] / 65_536;
}

/** @param {number} milliseconds @returns {Promise<void>} */
function sleep(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
