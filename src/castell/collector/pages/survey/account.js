// What this device has told this site so far, as a person reads it.

import { costOf } from "../client/ledger.js";
import { make } from "./parts.js";

/** @typedef {import("./survey.js").State} State */
/** @typedef {import("./words.js").Speech} Speech */

/**
 * @param {State} state
 * @param {Speech} speech
 * @param {import("../client/ledger.js").Entry[]} entries
 */
export function ledger(state, speech, entries) {
  const { say, number, atMost } = speech;
  const { study, store } = state.person;
  const forget = async () => {
    if (!window.confirm(say("forgetSure"))) return;
    await store.forget();
    location.reload();
  };
  const rows = entries.map((entry) => {
    const { same, most } = costOf(entry);
    const [low, high] = [atMost(same, 2), atMost(most, 2)];
    return make(
      "li",
      {},
      make(
        "strong",
        { dir: "auto" },
        entry.digest === study.digest ? speech.title(study) : entry.name,
      ),
      make("span", {}, `${say("ledgerReports")}: ${number(entry.reports)}`),
      make(
        "span",
        {},
        `${say("ledgerSpent")}: ${low === high ? low : say("ledgerAtMost", { same: low, most: high })}`,
      ),
    );
  });
  return make(
    "footer",
    {},
    make("h2", {}, say("ledgerTitle")),
    rows.length > 0 ? make("ul", { class: "ledger" }, rows) : make("p", {}, say("ledgerNone")),
    make("p", { class: "small" }, say(store.persistent ? "ledgerNote" : "ledgerLost")),
    rows.length > 0 &&
      make("button", { type: "button", class: "plain", click: forget }, say("forget")),
  );
}
