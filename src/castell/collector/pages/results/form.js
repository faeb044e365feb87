// The form: the question as controls. It keeps nothing itself; a change makes another question.

import { at, el } from "./dom.js";
import { LEVELS, chartOf, possible, toggled, withChanges } from "./question.js";

/** @typedef {import("./api.js").Overview} Overview */
/** @typedef {import("./question.js").Question} Question */

/** @type {{[kind: string]: string}} */
const CHARTS = { auto: "Auto", heat: "Heat map", bars: "Bars", mosaic: "Mosaic" };
/** @type {{[post: string]: string}} */
const POSTS = { raw: "Keep", clip: "Cut at zero", simplex: "Nearest distribution" };

/** @type {string | undefined} */
let filled;

/** The form as the study and the question are. @param {Overview} overview @param {Question} question */
export function showForm(overview, question) {
  if (filled !== overview.study.digest) fill(overview);
  filled = overview.study.digest;
  for (const box of inputs("attributes")) {
    const place = question.attributes.indexOf(box.value);
    box.checked = place >= 0;
    const order = box.closest("label")?.querySelector(".pick-order");
    if (order) order.textContent = place >= 0 ? String(place + 1) : "";
  }
  at("shown").textContent = `: ${question.attributes.join(" × ")}`;
  const kinds = ["auto", ...possible(question.attributes.length)];
  for (const radio of inputs("charts")) {
    radio.disabled = !kinds.includes(radio.value);
    radio.checked = radio.value === chartOf(question);
  }
  at("method").value = question.method;
  at("level").value = question.level;
  at("post").value = question.post;
  at("about").textContent = overview.methods.find((m) => m.name === question.method)?.about ?? "";
}

/**
 * The question after a change of the form.
 *
 * @param {Question} question
 * @param {EventTarget | null} control
 */
export function changedBy(question, control) {
  if (control instanceof HTMLInputElement && control.name === "attribute") return toggled(question, control.value);
  if (control instanceof HTMLInputElement || control instanceof HTMLSelectElement) {
    return withChanges(question, { [control.name]: control.value });
  }
  return question;
}

/** @param {Overview} overview */
function fill(overview) {
  at("attributes").replaceChildren(
    ...overview.study.attributes.map((a, i) =>
      el(
        "label",
        { class: "pick" },
        el("input", {
          type: "checkbox",
          name: "attribute",
          value: a.name,
          "aria-labelledby": `pick-${i}`,
          "aria-describedby": `about-${i}`,
        }),
        el(
          "span",
          {},
          el("span", { class: "pick-name", id: `pick-${i}` }, a.name),
          el("span", { class: "pick-about", id: `about-${i}` }, a.question || `${a.values.length} values`),
        ),
        el("span", { class: "pick-order", "aria-hidden": "true" }),
      ),
    ),
  );
  at("charts").replaceChildren(
    ...overview.charts.map((kind) =>
      el(
        "label",
        { class: "segment" },
        el("input", { type: "radio", name: "chart", value: kind }),
        el("span", {}, CHARTS[kind] ?? kind),
      ),
    ),
  );
  fillSelect("method", overview.methods.map((m) => [m.name, m.name]));
  fillSelect("post", overview.posts.map((p) => [p, POSTS[p] ?? p]));
  fillSelect("level", LEVELS.map((level) => [level, `${100 * Number(level)}%`]));
}

/** @param {string} id @returns {NodeListOf<HTMLInputElement>} */
const inputs = (id) => document.querySelectorAll(`#${id} input`);

/** @param {"method" | "post" | "level"} id @param {string[][]} pairs value and text */
function fillSelect(id, pairs) {
  at(id).replaceChildren(...pairs.map(([value, text]) => el("option", { value }, text)));
}
