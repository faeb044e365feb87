// Answers that are not sent yet, kept so that a reload loses nothing: in this tab only, and only until
// they are sent. A browser may refuse to keep anything; then a reload begins anew, as it would anyway.

/** @typedef {import("../client/study.js").Study} Study */
/** @typedef {{[attribute: string]: string}} Answers */

// The words that were answered: they are the same in every stage of a study.
/** @param {Study} study */
const place = ({ wordings }) => `castell answers ${wordings[wordings.length - 1]}`;

/**
 * @param {Study} study
 * @param {Answers} answers
 */
export function keepAnswers(study, answers) {
  try {
    sessionStorage.setItem(place(study), JSON.stringify(answers));
  } catch {
    // Nothing is kept.
  }
}

/** @param {Study} study */
export function forgetAnswers(study) {
  try {
    sessionStorage.removeItem(place(study));
  } catch {
    // Nothing was kept.
  }
}

/**
 * The answers that this tab has kept, as far as they are answers of the study.
 *
 * @param {Study} study
 * @returns {Answers}
 */
export function keptAnswers(study) {
  try {
    const kept = JSON.parse(sessionStorage.getItem(place(study)) ?? "{}");
    const known = study.attributes.filter(({ name, values }) => values.includes(kept[name]));
    return Object.fromEntries(known.map(({ name }) => [name, kept[name]]));
  } catch {
    return {};
  }
}
