// Small things about elements.

/** @param {string} id @returns {any} */
export const at = (id) => document.getElementById(id);

/**
 * An element with attributes and children. Text is always text, never markup.
 * @param {string} name @param {Record<string, any>} [attributes] @param {...(Node | string)} inside
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
  return `${points(share, digits)}%`;
}

/** The same without its sign; a hair below zero is zero. */
export const points = (share, digits = 1) => (100 * share).toFixed(digits).replace(/^-(0\.?0*)$/, "$1");
