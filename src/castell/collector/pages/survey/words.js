// What the page says, in the languages of the study. All of them come with the page: fetching a language
// when it is chosen would tell the server which one was.

/** @typedef {import("../client/study.js").Study} Study */
/** @typedef {import("../client/study.js").Attribute} Attribute */
/** @typedef {(typeof import("./words/en.json"))} Words */

/**
 * @typedef {object} Speech
 * @property {string} language of the study's texts
 * @property {string} pageLanguage of the page's own words: the same if it knows it, else English
 * @property {(key: Exclude<keyof Words, "notProtectedItems">, fill?: {[name: string]: string | number}) => string} say
 * @property {Words["notProtectedItems"]} notProtected
 * @property {(value: number, digits?: number) => string} number
 * @property {(value: number, digits: number) => string} atMost rounded up: a loss is not understated
 * @property {(study: Study) => string} title
 * @property {(study: Study, key: "title" | "description" | "consent" | "thanks") => Told} told
 * @property {(study: Study, key: "imprint" | "privacy" | "completion") => string} link
 * @property {(attribute: Attribute, key: "question" | "values") => string} languageOf the one that
 *   an attribute's text is shown in: the original where it is not translated
 * @property {(attribute: Attribute) => string} question
 * @property {(attribute: Attribute) => string[]} values
 */

/** @typedef {{text: string, language: string}} Told a text and the language it is in */

/**
 * Which way a language is written.
 *
 * @param {string} language
 * @returns {"ltr" | "rtl"}
 */
export function directionOf(language) {
  const script = /^[a-z]+-([A-Z][a-z]{3})\b/.exec(language)?.[1];
  if (script) return /^(Arab|Hebr|Syrc|Thaa|Nkoo|Adlm|Rohg)$/.test(script) ? "rtl" : "ltr";
  return /^(ar|arc|ckb|dv|fa|he|nqo|ps|sd|syr|ug|ur|yi)(-|$)/.test(language) ? "rtl" : "ltr";
}

/**
 * The languages of a study, its own first.
 *
 * @param {Study} study
 * @returns {string[]}
 */
export function languagesOf(study) {
  const all = [study.language || "en", ...Object.keys(study.translations)];
  for (const attribute of study.attributes) all.push(...Object.keys(attribute.translations));
  return [...new Set(all)];
}

/**
 * The first language of a person that there is.
 *
 * @param {readonly string[]} known
 * @param {readonly string[]} wanted as the browser lists them
 * @returns {string}
 */
export function bestLanguage(known, wanted) {
  const primary = (/** @type {string} */ tag) => tag.toLowerCase().split("-")[0];
  for (const tag of wanted) {
    const exact = known.find((one) => one.toLowerCase() === tag.toLowerCase());
    const near = exact ?? known.find((one) => primary(one) === primary(tag));
    if (near) return near;
  }
  return known[0];
}

/**
 * @param {{[language: string]: Words}} pages the page's words in each of its languages
 * @returns {(language: string, original?: string) => Speech} speaks a language, and the study's own
 *   where there is no translation
 */
export function speaker(pages) {
  return (language, original = language) => speech(pages, language, original);
}

/**
 * @param {{[language: string]: Words}} pages
 * @param {string} language
 * @param {string} original
 * @returns {Speech}
 */
function speech(pages, language, original) {
  const pageLanguage = bestLanguage(Object.keys(pages), [language, "en"]);
  const words = pages[pageLanguage];
  const number = (/** @type {number} */ value, digits = 0) =>
    new Intl.NumberFormat(pageLanguage, {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    }).format(value);
  return {
    language,
    pageLanguage,
    say: (key, fill = {}) =>
      words[key].replace(/\{(\w+)\}/g, (_, name) => String(fill[name] ?? "")),
    notProtected: words.notProtectedItems,
    number,
    // Epsilon is itself rounded up in its last bits, which must not show as another hundredth.
    atMost: (value, digits) =>
      number(Math.ceil(value * 10 ** digits - 1e-6) / 10 ** digits, digits),
    title: (study) => study.translations[language]?.title || study.title || study.name,
    told: (study, key) => {
      const translated = study.translations[language]?.[key];
      return { text: translated || study[key], language: translated ? language : original };
    },
    link: (study, key) => study.translations[language]?.[key] || study[key],
    languageOf: (attribute, key) => (attribute.translations[language]?.[key] ? language : original),
    question: (attribute) =>
      attribute.translations[language]?.question || attribute.question || attribute.name,
    values: (attribute) => attribute.translations[language]?.values ?? attribute.values,
  };
}
