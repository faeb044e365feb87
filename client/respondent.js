// One person on one device, from the study's address to an acknowledged report.

import { checkOpen } from "./collecting.js";
import { keptFor, settle, spend } from "./ledger.js";
import { Refusal } from "./refusal.js";
import { blocksAsked, checkInvitation, makeReport, readCodes, sendReport } from "./report.js";
import { openStore } from "./store.js";
import { blockCode, parseStudy } from "./study.js";

/** @typedef {import("./corrections.js").Correction} Correction */
/** @typedef {import("./ledger.js").Entry} Entry */
/** @typedef {import("./report.js").Report} Report */
/** @typedef {import("./store.js").Store} Store */
/** @typedef {import("./study.js").Study} Study */

/**
 * @typedef {object} Respondent
 * @property {Study} study
 * @property {Store} store
 * @property {boolean} changed whether another study stood at this address when first seen
 * @property {Correction[]} corrected where it is another only by its words: what was corrected since
 * @property {() => Promise<void>} accept take the changed study as the one to answer
 * @property {() => Promise<number[]>} asked the blocks that this device reports
 * @property {(answers: {[attribute: string]: string}) => Promise<Report>} make the report of some
 *   answers or, once one was handed over, the one that stands
 * @property {(report: Report) => Promise<void>} send hand it over, and send it until it has arrived
 * @property {() => Promise<Entry | undefined>} entry the report that stands, if one does
 */

/**
 * Fetch the study and remember which one it was.
 *
 * @param {string | URL} studyUrl
 * @param {string | URL} reportsUrl
 * @param {Store} [given]
 * @param {string} [text] the published study, where a page came with it: it is not fetched then, and
 *   checked all the same
 * @returns {Promise<Respondent>}
 */
export async function meet(studyUrl, reportsUrl, given, text) {
  if (globalThis.crypto?.subtle === undefined) {
    throw new Refusal("device", "this page has no access to cryptography", "open it by https");
  }
  const published = await parseStudy(text ?? (await fetchText(studyUrl)));
  const store = given ?? (await openStore());
  const study = await ownStage(store, published, studyUrl);
  const wording = study.wordings[study.wordings.length - 1];
  const seen = `seen:${studyUrl}`;
  // Who has sent a report is asked nothing, whatever words were corrected since.
  const done = (await keptFor(store, study.identity)).sent !== undefined;
  let accepted = await store.update(seen, (earlier) =>
    earlier === undefined || (done && study.wordings.includes(earlier)) ? wording : earlier,
  );

  function checkAccepted() {
    if (accepted !== wording) {
      throw new Refusal(
        "changed",
        "this is not the study you first saw here",
        "read it again and accept it, or leave",
      );
    }
  }

  return {
    study,
    store,
    get changed() {
      return accepted !== wording;
    },
    get corrected() {
      const known = study.wordings.lastIndexOf(accepted);
      return known < 0 ? [] : study.corrections.slice(known);
    },
    async accept() {
      accepted = await store.update(seen, () => wording);
    },
    asked: () => blocksOf(store, study),
    async make(answers) {
      checkAccepted();
      return reportOf(store, study, answers);
    },
    async send(report) {
      checkAccepted();
      if (!study.digests.includes(report.study)) {
        throw new Refusal("changed", "the report is of another study", "make it again");
      }
      // A report that was handed over may have arrived, and used its invitation up; before that, ask.
      const { sent } = await keptFor(store, study.identity);
      if (!sent) await checkOpen(reportsUrl, report.invitation);
      if (!sent && report.invitation !== undefined) {
        await checkInvitation(report.invitation, reportsUrl);
      }
      // Once it has arrived nothing leaves any more: it counts, and a copy would only be a mark.
      if ((await spend(store, study, report)).state === "arrived") return;
      try {
        await sendReport(report, reportsUrl);
      } catch (error) {
        // Only what may still arrive waits for another try.
        const lost = error instanceof Refusal && ["network", "closed"].includes(error.kind);
        if (!lost) await settle(store, study, report, "refused");
        throw error;
      }
      await settle(store, study, report, "arrived");
    },
    async entry() {
      return (await keptFor(store, study.identity)).sent;
    },
  };
}

/**
 * The stage to go on with: that of the report which stands, if one does. A server that has it not, or
 * gives another in its place, is refused.
 *
 * @param {Store} store
 * @param {Study} study as it is published now
 * @param {string | URL} studyUrl
 * @returns {Promise<Study>}
 */
async function ownStage(store, study, studyUrl) {
  const { sent } = await keptFor(store, study.identity);
  if (!sent || study.digests.includes(sent.digest)) return study;
  const earlier = await parseStudy(
    await fetchText(new URL(`studies/${sent.digest}.json`, studyUrl)),
  );
  if (earlier.identity !== study.identity || !earlier.digests.includes(sent.digest)) {
    throw new Refusal(
      "study",
      "this is not the stage of the study that this device has reported for",
      "do not answer; tell whoever runs the study",
    );
  }
  return earlier;
}

/**
 * The blocks that this device reports: the same before and after it has.
 *
 * @param {Store} store
 * @param {Study} study
 * @returns {Promise<number[]>}
 */
async function blocksOf(store, study) {
  const { key, sent } = await keptFor(store, study.identity);
  if (key) return blocksAsked(study, key);
  return readCodes(study, sent?.report.codes ?? []).map(({ block }) => block);
}

/**
 * The report of some answers or, once one was handed over, the one that stands.
 *
 * @param {Store} store
 * @param {Study} study
 * @param {{[attribute: string]: string}} answers
 * @returns {Promise<Report>}
 */
export async function reportOf(store, study, answers) {
  const { key, sent } = await keptFor(store, study.identity);
  if (key) return makeReport(study, answers, key);
  const { report } = /** @type {Entry} */ (sent);
  // Answers that are none are refused now as well.
  for (const { block } of readCodes(study, report.codes)) {
    blockCode(study, study.blocks[block], answers);
  }
  return report;
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
