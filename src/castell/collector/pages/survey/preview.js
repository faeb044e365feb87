// An owner looks at the page before it is public: nothing is sent, and the page follows the file.

import { make } from "./parts.js";

/** @typedef {import("./words.js").Speech} Speech */

/** @param {Speech} speech */
export function previewBand({ say }) {
  return make(
    "aside",
    { class: "preview" },
    make("strong", {}, say("preview")),
    make("span", { id: "preview-problem" }),
  );
}

/** Ask every second whether the study's file was changed, and load the page anew if it was. */
export function followFile() {
  /** @type {string | undefined} */
  let first;
  window.setInterval(async () => {
    try {
      const answer = await fetch("preview.json", { cache: "no-store", credentials: "omit" });
      const { version, problem } = await answer.json();
      first ??= version;
      if (version !== first) location.reload();
      const place = document.getElementById("preview-problem");
      if (place) place.textContent = problem === "" ? "" : ` ${problem}`;
    } catch {
      // The preview was ended; what is shown stays.
    }
  }, 1000);
}
