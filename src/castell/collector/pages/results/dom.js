// Small things about elements.

/**
 * Elements of the page that are more than an element.
 *
 * @typedef {object} Controls
 * @property {HTMLInputElement} live
 * @property {HTMLInputElement} token
 * @property {HTMLProgressElement} waiting-bar
 * @property {HTMLProgressElement} asked-bar
 * @property {HTMLDetailsElement} panel
 * @property {HTMLSelectElement} method
 * @property {HTMLSelectElement} level
 * @property {HTMLSelectElement} post
 * @property {HTMLSelectElement} within
 * @property {HTMLInputElement} people
 * @property {HTMLInputElement} budget
 */

/**
 * An element of the page, by its id.
 *
 * @template {string} Id
 * @param {Id} id
 * @returns {Id extends keyof Controls ? Controls[Id] : HTMLElement}
 */
export function at(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no element "${id}"`);
  return /** @type {any} */ (found);
}

/**
 * An element with attributes and children. Text is always text, never markup.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} name
 * @param {Record<string, string | boolean | undefined>} [attributes]
 * @param {...(Node | string)} inside
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function el(name, attributes = {}, ...inside) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...inside);
  return made;
}

/** Offers a file to the person at the keyboard. @param {Blob} blob @param {string} name */
export function save(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = el("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

export const whole = new Intl.NumberFormat("en");

/** @param {number} share @param {number} [digits] */
export function percent(share, digits = 1) {
  if (Number.isNaN(share)) return "not known";
  return `${points(share, digits)}%`;
}

/** The same without its sign; a hair below zero is zero. @param {number} share @param {number} [digits] */
export const points = (share, digits = 1) => (100 * share).toFixed(digits).replace(/^-(0\.?0*)$/, "$1");

/** Many calls in a row as one, a little later. @param {() => void} work @param {number} [wait] */
export function soon(work, wait = 200) {
  let pending = 0;
  return () => {
    clearTimeout(pending);
    pending = window.setTimeout(work, wait);
  };
}
