// The head of the page: the owner's logo, the languages, the study's title and description.

import { make, paragraphs, voice } from "./parts.js";
import { languagesOf } from "./words.js";

/** @typedef {import("../client/study.js").Study} Study */
/** @typedef {import("./survey.js").State} State */
/** @typedef {import("./words.js").Speech} Speech */

/**
 * @param {State} state
 * @param {Speech} speech
 * @param {(language: string) => void} choose
 */
export function header(state, speech, choose) {
  const { study } = state.person;
  const { logo } = state.setting;
  const languages = languagesOf(study);
  const chosen = (/** @type {Event} */ event) =>
    choose(/** @type {HTMLSelectElement} */ (event.target).value);
  return make(
    "header",
    {},
    (logo !== undefined || languages.length > 1) &&
      make(
        "div",
        { class: "masthead" },
        logo !== undefined && make("img", { class: "logo", src: "logo", alt: logo }),
        languages.length > 1 && languageChoice(languages, state.language, speech, chosen),
      ),
    make("h1", voice(speech.told(study, "title").language), speech.title(study)),
    paragraphs("lead", speech.told(study, "description")),
  );
}

/**
 * @param {string[]} languages
 * @param {string} current
 * @param {Speech} speech
 * @param {(event: Event) => void} change
 */
function languageChoice(languages, current, { say }, change) {
  return make(
    "p",
    { class: "language" },
    make("label", { for: "language" }, say("language")),
    make(
      "select",
      { id: "language", change, autocomplete: "off" },
      languages.map((language) =>
        make(
          "option",
          { value: language, ...voice(language), selected: language === current },
          nameOf(language),
        ),
      ),
    ),
  );
}

/**
 * What is ticked on the page now.
 *
 * @param {Study} study
 * @returns {{[attribute: string]: string}}
 */
export function ticked(study) {
  const form = /** @type {HTMLFormElement | null} */ (document.getElementById("questions"));
  if (!form) return {};
  const data = new FormData(form);
  return Object.fromEntries(
    study.attributes.flatMap(({ name, values }, i) => {
      const code = data.get(`q${i}`);
      return typeof code === "string" && code !== "" ? [[name, values[Number(code)]]] : [];
    }),
  );
}

/** @param {string} language in its own words */
function nameOf(language) {
  const name = new Intl.DisplayNames([language], { type: "language" }).of(language) ?? language;
  return name.charAt(0).toLocaleUpperCase(language) + name.slice(1);
}
