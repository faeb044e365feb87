// What this device has told this site so far, as a person reads it.

import { make } from "./parts.js";

/** @typedef {import("./survey.js").State} State */
/** @typedef {import("./words.js").Speech} Speech */

/**
 * @param {State} state
 * @param {Speech} speech
 * @param {import("../client/ledger.js").Entry[]} entries
 */
export function ledger(state, speech, entries) {
  const { say, atMost } = speech;
  const { study, store } = state.person;
  if (state.setting.kiosk) {
    const found = links(state, speech);
    return found ? make("footer", {}, found) : "";
  }
  const kept = store.persistent || state.setting.preview;
  const forget = async () => {
    if (!window.confirm(say("forgetSure"))) return;
    await store.forget();
    location.reload();
  };
  const spent = (/** @type {number} */ epsilon) => `${say("ledgerSpent")}: ${atMost(epsilon, 2)}`;
  const rows = entries.map(({ digest, name, epsilon }) =>
    make(
      "li",
      {},
      make("strong", { dir: "auto" }, study.digests.includes(digest) ? speech.title(study) : name),
      make("span", {}, spent(epsilon)),
    ),
  );
  if (rows.length > 1) {
    const total = entries.reduce((sum, { epsilon }) => sum + epsilon, 0);
    rows.push(
      make("li", {}, make("strong", {}, say("ledgerTotal")), make("span", {}, spent(total))),
    );
  }
  return make(
    "footer",
    {},
    make("h2", {}, say("ledgerTitle")),
    rows.length > 0 ? make("ul", { class: "ledger" }, rows) : make("p", {}, say("ledgerNone")),
    make("p", { class: "small" }, say(kept ? "ledgerNote" : "ledgerLost")),
    links(state, speech),
    rows.length > 0 &&
      make("button", { type: "button", class: "plain", click: forget }, say("forget")),
  );
}

/**
 * Who is behind the study and what they do with reports, where they say so.
 *
 * @param {State} state
 * @param {Speech} speech
 */
function links({ person: { study }, setting: { kiosk } }, { say, link }) {
  const found = /** @type {const} */ (["imprint", "privacy"]).flatMap((key) => {
    const href = link(study, key);
    if (href === "") return [];
    // A link would lead a device that many people use away from the survey.
    if (kiosk) return [make("span", {}, `${say(key)}: ${href}`), " "];
    return [make("a", { href, rel: "noreferrer noopener" }, say(key)), " "];
  });
  return found.length > 0 && make("p", { class: "links" }, found);
}

/**
 * The report that can only be sent again, or looked at. One that was refused is not shown: it can
 * still be sent, with an invitation say.
 *
 * @param {import("../client/ledger.js").Entry} [entry]
 */
export function standing(entry) {
  return entry && entry.state !== "refused" ? entry.report : null;
}
