// What stands beside the table of one attribute: mean, quartiles, and who did not answer.

import { at, el, percent, points } from "./dom.js";

/** @typedef {import("./api.js").Answer} Answer */
/** @typedef {import("./api.js").Shares} Shares */
/** @typedef {import("./api.js").Summary} Summary */
/** @typedef {import("./api.js").Value} Value */

const QUARTILES = { 0.25: "Lower quartile", 0.5: "Median", 0.75: "Upper quartile" };
const four = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });

/** @param {Answer | null} answer */
export function showSummaries(answer) {
  const found = answer?.summaries ?? [];
  const level = answer ? `${percent(answer.level, 0)} interval` : "";
  const numbers = found.some((each) => each.mean || each.having || each.quantiles.length);
  const leftOut = answer?.summaries_left_out ?? "";
  at("numbers-card").hidden = !numbers && !leftOut;
  at("numbers-left-out").textContent = leftOut;
  at("numbers-of").textContent = numbers && answer ? ofWhom(answer, found) : "";
  at("numbers").replaceChildren(...(numbers ? [numberTable(answer, found, level)] : []));
  at("numbers-about").textContent = numbers ? aboutBins(found) : "";
  const missing = found.filter((each) => each.answered);
  at("answered-card").hidden = !missing.length;
  at("no-answer").replaceChildren(...missing.map((each) => noAnswer(answer, each, level)));
  at("answered-table").replaceChildren(...(missing.length ? [answeredTable(answer, missing, level)] : []));
}

/** Which group of the attribute that shares are within. @param {Answer | null} answer @param {Summary} each */
const groupOf = (answer, each) => (answer?.within ? (each.given[answer.within] ?? []).join(" or ") : "");

/** @param {Answer} answer @param {Summary[]} found */
function ofWhom({ post, attributes, labels }, found) {
  const label = labels[attributes.indexOf(found[0].attribute)];
  const answering = found.some((each) => each.no_answer) ? ", of those who answered" : "";
  const whom = found.some((each) => each.having) ? `${answering}; numbers are of those who have any` : answering;
  const how = post === "raw" ? "" : " From the estimate before negative cells were mended.";
  return `“${label}”${whom}.${how}`;
}

/** @param {Value} value @param {string} unit */
function shown(value, unit) {
  if (value === null || value === "") return "not known";
  return typeof value === "string" ? value : `${four.format(value)}${unit ? ` ${unit}` : ""}`;
}

/** @param {Value} low @param {Value} high */
function between(low, high) {
  if (low === null && high === null) return "not known";
  if (low === null) return `up to ${shown(high, "")}`;
  if (high === null) return `${shown(low, "")} and over`;
  return low === high ? shown(low, "") : `${shown(low, "")} to ${shown(high, "")}`;
}

/** @param {Answer | null} answer @param {Summary[]} found @param {string} level */
function numberTable(answer, found, level) {
  const rows = found.flatMap((each) => [
    ...(each.having ? [{ each, what: "Have any", ...shareOf(each.having) }] : []),
    ...(each.mean ? [{ each, what: "Mean", ...inUnit(each, each.mean.mean, each.mean) }] : []),
    ...each.quantiles.map((told) => ({
      each,
      what: nameOf(told.q),
      ...inUnit(each, told.value ?? (told.label && `in “${told.label}”`), told),
    })),
  ]);
  return table(
    [...(answer?.within ? [String(labelOf(answer))] : []), "", "estimate", level],
    rows.map(({ each, what, numbers }) => ({
      names: [...(answer?.within ? [groupOf(answer, each)] : []), what],
      numbers,
    })),
    "Mean and quartiles",
  );
}

/** @param {Summary} each @param {Value} value @param {{lower: Value, upper: Value}} told */
const inUnit = (each, value, { lower, upper }) => ({ numbers: [shown(value, each.unit), between(lower, upper)] });

/** @param {{probability: number | null, lower: number | null, upper: number | null}} share */
const shareOf = ({ probability, lower, upper }) => ({
  numbers: [percent(probability ?? NaN), `${points(lower ?? NaN)} to ${percent(upper ?? NaN)}`],
});

/** @param {number} q */
const nameOf = (q) => QUARTILES[/** @type {keyof typeof QUARTILES} */ (q)] ?? `${four.format(100 * q)}% quantile`;

/** @param {Answer} answer */
const labelOf = ({ within, attributes, labels }) => labels[attributes.indexOf(within ?? "")];

/** What bins leave open, and why there is no mean. @param {Summary[]} found */
function aboutBins(found) {
  const [first] = found;
  const mean = first.mean;
  const binned = (mean && mean.bounds[0] !== mean.bounds[1]) || first.quantiles.some((q) => q.label && q.label !== String(q.value));
  const inside = first.quantiles.length
    ? "A mean puts everybody in the middle of their bin, a quartile spreads them evenly over it; intervals suppose neither."
    : "A mean puts everybody in the middle of their bin; its interval does not suppose that.";
  const noise =
    binned && mean && found.length === 1
      ? ` Sampling and noise alone leave the mean between ${shown(mean.noise_lower, "")} and ${shown(mean.noise_upper, "")}.`
      : "";
  const none = first.no_mean ? `${first.no_mean[0].toUpperCase()}${first.no_mean.slice(1)}. ` : "";
  return `${none}${binned ? `Nobody has reported where in a bin a number lies. ${inside}${noise}` : ""}`;
}

/** @param {Answer | null} answer @param {Summary} each @param {string} level */
function noAnswer(answer, each, level) {
  const { probability, lower, upper } = each.no_answer ?? { probability: null, lower: null, upper: null };
  const ends = `${points(lower ?? NaN)} to ${percent(upper ?? NaN)}`;
  const group = groupOf(answer, each);
  const whom = group ? `Of “${group}”, ` : "";
  return el("li", {}, whom, el("strong", {}, percent(probability ?? NaN)), ` gave no answer (${level} ${ends}).`);
}

/** @param {Answer | null} answer @param {Summary[]} found @param {string} level */
function answeredTable(answer, found, level) {
  const ends = (/** @type {(number | null)[]} */ low, /** @type {(number | null)[]} */ high, /** @type {number} */ i) =>
    `${points(low[i] ?? NaN)} to ${percent(high[i] ?? NaN)}`;
  return table(
    [answer?.within ? `${labelOf(answer)}, answer` : "answer", "share", level, "bounds for everybody"],
    found.flatMap((each) => {
      const told = /** @type {Shares} */ (each.answered);
      return told.values.map((value, i) => ({
        // In one column, as there are three of numbers beside it, on a phone too.
        names: [answer?.within ? `${groupOf(answer, each)}, ${value}` : value],
        numbers: [
          percent(told.probabilities[i] ?? NaN),
          ends(told.lower, told.upper, i),
          ends(told.bounds_lower, told.bounds_upper, i),
        ],
      }));
    }),
    "Shares of those who answered",
  );
}

/**
 * @param {string[]} titles
 * @param {{names: string[], numbers: string[]}[]} rows
 * @param {string} caption
 */
function table(titles, rows, caption) {
  const before = rows[0].names.length;
  const kind = (/** @type {number} */ i) => (i < before ? "" : "number");
  return el(
    "table",
    {},
    el("caption", { class: "visually-hidden" }, caption),
    el("thead", {}, el("tr", {}, ...titles.map((text, i) => head(text, kind(i))))),
    el(
      "tbody",
      {},
      ...rows.map(({ names, numbers }) =>
        el(
          "tr",
          {},
          ...names.map((text) => el("th", { scope: "row" }, text)),
          ...numbers.map((text) => el("td", { class: "number" }, text)),
        ),
      ),
    ),
  );
}

/** A heading; a column that needs none has an empty cell. @param {string} text @param {string} kind */
const head = (text, kind) => (text ? el("th", { scope: "col", class: kind }, text) : el("td", {}));
