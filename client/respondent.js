// One person on one device, from the study's address to an acknowledged report.

import { readLedger, settle, spend } from "./ledger.js";
import { openMemo } from "./memo.js";
import { Refusal } from "./refusal.js";
import { makeReport, sendReport } from "./report.js";
import { openStore } from "./store.js";
import { parseStudy } from "./study.js";

/** @typedef {import("./memo.js").Memo} Memo */
/** @typedef {import("./report.js").Report} Report */
/** @typedef {import("./store.js").Store} Store */
/** @typedef {import("./study.js").Study} Study */

/**
 * @typedef {object} Respondent
 * @property {Study} study
 * @property {Memo} memo
 * @property {Store} store
 * @property {boolean} changed whether another study stood at this address when first seen
 * @property {() => Promise<void>} accept take the changed study as the one to answer
 * @property {(answers: {[attribute: string]: string}) => Promise<Report>} make
 * @property {(report: Report) => Promise<void>} send
 * @property {() => Promise<Report | null>} waiting a report that may not have arrived
 */

/**
 * Fetch the study and remember which one it was.
 *
 * @param {string | URL} studyUrl
 * @param {string | URL} reportsUrl
 * @param {Store} [given]
 * @returns {Promise<Respondent>}
 */
export async function meet(studyUrl, reportsUrl, given) {
  if (globalThis.crypto?.subtle === undefined) {
    throw new Refusal("device", "this page has no access to cryptography", "open it by https");
  }
  const study = await parseStudy(await fetchText(studyUrl));
  const store = given ?? (await openStore());
  const memo = await openMemo(store);
  const seen = `seen:${studyUrl}`;
  let accepted = await store.update(seen, (earlier) => earlier ?? study.digest);

  function checkAccepted() {
    if (accepted !== study.digest) {
      throw new Refusal(
        "changed",
        "this is not the study you first saw here",
        "read it again and accept it, or leave",
      );
    }
  }

  return {
    study,
    memo,
    store,
    get changed() {
      return accepted !== study.digest;
    },
    async accept() {
      accepted = await store.update(seen, () => study.digest);
    },
    async make(answers) {
      checkAccepted();
      return makeReport(study, answers, memo);
    },
    async send(report) {
      checkAccepted();
      if (report.study !== study.digest) {
        throw new Refusal("changed", "the report is of another study", "make it again");
      }
      await spend(store, study, report);
      try {
        await sendReport(report, reportsUrl);
      } catch (error) {
        // Only what may still arrive is kept for another try.
        const lost = error instanceof Refusal && error.kind === "network";
        if (!lost) await settle(store, study);
        throw error;
      }
      await settle(store, study);
    },
    async waiting() {
      const entry = (await readLedger(store)).find(({ digest }) => digest === study.digest);
      return entry?.waiting ?? null;
    },
  };
}

/**
 * @param {string | URL} url
 * @returns {Promise<string>}
 */
async function fetchText(url) {
  try {
    const answer = await fetch(url, {
      credentials: "omit",
      referrerPolicy: "no-referrer",
      cache: "no-cache",
      redirect: "error",
    });
    if (answer.ok) return await answer.text();
  } catch {
    // Said below.
  }
  throw new Refusal("network", "the study cannot be fetched", "try again later");
}
