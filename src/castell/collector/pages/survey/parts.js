// Elements, made without HTML in texts: what a study says is never read as markup.

import { directionOf } from "./words.js";

/** @typedef {import("../client/study.js").Attribute} Attribute */
/** @typedef {import("./words.js").Speech} Speech */
/** @typedef {Node | string | null | undefined | false} Child */

/**
 * @param {string} tag
 * @param {{[attribute: string]: string | number | boolean | EventListener | undefined}} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElement}
 */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(
    ...children.flat().filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/**
 * How a text of the study is marked: its own language and direction, whatever the page's are.
 *
 * @param {string} language
 */
export function voice(language) {
  return { lang: language, dir: directionOf(language) };
}

/**
 * A question of the study.
 *
 * @param {Speech} speech
 * @param {Attribute} attribute
 * @returns {HTMLElement}
 */
export function spokenQuestion(speech, attribute) {
  return make("span", voice(speech.languageOf(attribute, "question")), speech.question(attribute));
}

/**
 * One of its values.
 *
 * @param {Speech} speech
 * @param {Attribute} attribute
 * @param {number} code
 * @returns {HTMLElement}
 */
export function spokenValue(speech, attribute, code) {
  const text = speech.values(attribute)[code];
  return make("span", voice(speech.languageOf(attribute, "values")), text);
}

/**
 * A longer text of the study, a paragraph for each line; nothing if there is none.
 *
 * @param {string} name the class it gets
 * @param {import("./words.js").Told} told
 */
export function paragraphs(name, { text, language }) {
  if (text === "") return null;
  const lines = text.split("\n").map((line) => make("p", {}, line));
  return make("div", { class: name, ...voice(language) }, lines);
}

/**
 * A table whose cells may hold elements; headers stand beside their cells on a narrow screen.
 *
 * @param {string} label
 * @param {string[]} heads
 * @param {Child[][]} rows
 * @returns {HTMLElement}
 */
export function table(label, heads, rows) {
  // Roles are written out because a narrow screen shows the table as blocks, and browsers then
  // forget that it is one.
  return make(
    "table",
    { role: "table", "aria-label": label },
    make(
      "thead",
      { role: "rowgroup" },
      make(
        "tr",
        { role: "row" },
        heads.map((head) => make("th", { scope: "col", role: "columnheader" }, head)),
      ),
    ),
    make(
      "tbody",
      { role: "rowgroup" },
      rows.map((cells) =>
        make(
          "tr",
          { role: "row" },
          cells.map((cell, i) =>
            i === 0
              ? make("th", { scope: "row", role: "rowheader" }, cell)
              : make(
                  "td",
                  { role: "cell" },
                  make("span", { class: "head", "aria-hidden": "true" }, heads[i]),
                  make("span", {}, cell),
                ),
          ),
        ),
      ),
    ),
  );
}
