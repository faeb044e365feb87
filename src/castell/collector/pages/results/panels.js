// The parts of an answer that are words and numbers.

import { at, el, percent, points, whole } from "./dom.js";

/** @typedef {import("./api.js").Answer} Answer */
/** @typedef {import("./api.js").Cell} Cell */
/** @typedef {import("./api.js").Overview} Overview */

const STATES = { fine: "✓ Fine", look: "! Look", unknown: "? Not known" };
const MOST_ROWS = 500;

/** @param {Answer | null} answer */
export function showSignals(answer) {
  at("sentence").textContent = answer?.sentence ?? "";
  at("signals").replaceChildren(
    ...(answer?.signals ?? []).map((s) =>
      el(
        "li",
        { class: `signal ${s.state}`, "data-key": s.key },
        el("span", { class: `badge ${s.state}` }, STATES[s.state]),
        el(
          "div",
          {},
          el("h3", { class: "signal-title" }, s.title),
          el("div", { class: "signal-value" }, s.value),
        ),
        el(
          "div",
          {},
          el("p", {}, s.text),
          el("details", {}, el("summary", {}, "How"), el("p", { class: "quiet small" }, s.method)),
        ),
      ),
    ),
  );
}

/** What stands above everything else: a table that its own reports contradict. @param {Answer | null} answer */
function showVerdict(answer) {
  const doubtful = answer?.verdict === "doubtful";
  const found = answer?.signals.find((s) => s.key === "misfit");
  at("verdict").hidden = !doubtful;
  at("verdict").textContent = doubtful && found ? found.text : "";
}

/** @param {Answer | null} answer */
export function showNotes(answer) {
  showVerdict(answer);
  const notes = (answer?.notes ?? []).map((note) => el("li", {}, `${note[0].toUpperCase()}${note.slice(1)}.`));
  at("notes").replaceChildren(...notes);
}

/**
 * The numbers of a cell: share, standard error, lower and upper end.
 *
 * @param {Cell} cell
 * @param {number} width how many attributes stand before them
 */
const numbersOf = (cell, width) => cell.slice(width).map((x) => (x === null ? NaN : Number(x)));

/** @param {Cell[]} cells @param {number} width @param {string} sort */
function sorted(cells, width, sort) {
  const share = (/** @type {Cell} */ cell) => Number(cell[width] ?? -Infinity);
  return sort ? [...cells].sort((a, b) => share(b) - share(a)) : cells;
}

/**
 * A table with a row for each cell; those that cannot be told from zero are fainter.
 *
 * @param {Answer | null} answer
 * @param {string} sort
 */
export function showTable(answer, sort) {
  if (!answer) return at("table").replaceChildren();
  const width = answer.attributes.length;
  const level = `${Math.round(1000 * answer.level) / 10}% interval`;
  const kind = (/** @type {number} */ i) => ["number", "number error", "number"][i - width] ?? "";
  const button = el("button", { type: "button", id: "sort", class: "sort" }, "share");
  const titles = [...answer.labels, button, "std. err.", level];
  const head = titles.map((text, i) => {
    const order = i === width && (sort ? "descending" : "none");
    return el("th", { scope: "col", role: "columnheader", class: kind(i), "aria-sort": order }, text);
  });
  const rows = sorted(answer.cells, width, sort).slice(0, MOST_ROWS).map((cell) => {
    const [share, error, low, high] = numbersOf(cell, width);
    const names = cell.slice(0, width).map((text) => el("th", { scope: "row", role: "rowheader" }, String(text)));
    const numbers = [percent(share), percent(error, 2), `${points(low)} to ${percent(high)}`];
    return el(
      "tr",
      { role: "row", class: low <= 0 && high >= 0 ? "faint" : "" },
      ...names,
      ...numbers.map((text, i) => el("td", { role: "cell", class: kind(i + width) }, text)),
    );
  });
  at("faint").hidden = !rows.some((row) => row.classList.contains("faint"));
  const left = answer.cells.length - rows.length;
  const part = sort ? "largest" : "first";
  const caption = left > 0 ? `The ${part} ${rows.length} of ${whole.format(answer.cells.length)} cells; download for all` : "";
  at("table").replaceChildren(
    el(
      "table",
      // A phone lays the rows out anew, and a browser then forgets what they are: hence the roles.
      { role: "table", class: width > 1 ? "several" : "" },
      el("caption", { class: caption ? "small quiet" : "visually-hidden" }, caption || answer.labels.join(" by ")),
      el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, ...head)),
      el("tbody", { role: "rowgroup" }, ...rows),
    ),
  );
}

/** The answer in a sentence, for those who do not see the chart. @param {Answer} answer @param {string} kind of the chart */
export function inWords(answer, kind) {
  const width = answer.attributes.length;
  const best = sorted(answer.cells, width, "share")[0];
  const [share, , low, high] = numbersOf(best, width);
  return (
    `${kind} of ${answer.labels.join(" by ")}, ${answer.cells.length} cells. ` +
    `The largest is ${best.slice(0, width).join(", ")} with ${percent(share)} ` +
    `(${percent(low)} to ${percent(high)}). All numbers are in the table below.`
  );
}

/**
 * The largest share as a sentence that may be quoted.
 *
 * @param {Answer} answer
 */
export function reading({ attributes, labels, cells, level, within, given = {} }) {
  const width = attributes.length;
  const best = sorted(cells, width, "share")[0];
  const [share, , low, high] = numbersOf(best, width);
  if (Number.isNaN(share)) return "";
  const said = (/** @type {number} */ i) => `“${best[i]}” to “${labels[i]}”`;
  const inside = within ? attributes.indexOf(within) : -1;
  const whom = [
    ...(inside >= 0 ? [`answered ${said(inside)}`] : []),
    ...Object.values(given).map((values) => `answered ${values.map((value) => `“${value}”`).join(" or ")}`),
  ];
  const rest = labels.map((_, i) => i).filter((i) => i !== inside);
  return (
    `How to read it: an estimated ${percent(share)} of ${whom.length ? `those who ${whom.join(" and ")}` : "respondents"} ` +
    `answered ${rest.map(said).join(" and ")}. The ${percent(level, 0)} interval is ${percent(low)} to ${percent(high)}.`
  );
}

/** How the reports came in, in a sentence. @param {Overview} found */
export function overTime(found) {
  const peak = Math.max(0, ...(found.timeline ?? []).map((point) => point.reports));
  return `Reports over time: ${whole.format(found.n)} in all, at most ${whole.format(peak)} in an hour.`;
}
