// Elements, made without HTML in texts: what a study says is never read as markup.

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
 * A text of the study, in its own language and direction.
 *
 * @param {{language: string}} speech
 * @param {string} text
 * @returns {HTMLElement}
 */
export function spoken({ language }, text) {
  return make("span", { lang: language, dir: "auto" }, text);
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
