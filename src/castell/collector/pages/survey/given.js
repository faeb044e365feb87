// What the page came with: the study, what the collector says, the page's words and its look. They
// stand in the document itself, so that a slow line need not wait for them one after the other.

/**
 * @typedef {object} Setting how this page is shown
 * @property {string} [logo] what the logo says; there is one at "logo" if this is given
 * @property {boolean} kiosk whether many people use this device, one after the other
 * @property {boolean} preview whether nothing is to be sent
 */

/**
 * @typedef {object} Given
 * @property {string} study the published text, to the letter
 * @property {object} collector what /collector.json says
 * @property {{[language: string]: import("./words.js").Words}} words
 * @property {Setting} page
 */

/** @returns {Given} */
export function readGiven() {
  return JSON.parse(document.getElementById("given")?.textContent ?? "");
}
