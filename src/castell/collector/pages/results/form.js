// The form: the question as controls. It keeps nothing itself; a change makes another question.

import { at, el } from "./dom.js";
import { LEVELS, chartOf, isWhole, merged, pickedValue, possible, toggled, withChanges } from "./question.js";

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
  at("shown").textContent = `: ${textsOf(overview, question.attributes).join(" × ")}`;
  showPicked(question);
  showWithin(overview, question);
  const kinds = ["auto", ...possible(question)];
  for (const radio of inputs("charts")) {
    radio.disabled = !kinds.includes(radio.value);
    radio.checked = radio.value === chartOf(question);
  }
  at("method").value = question.method;
  at("level").value = question.level;
  at("post").value = isWhole(question) ? question.post : "raw";
  at("post").disabled = !isWhole(question);
  at("about").textContent = overview.methods.find((m) => m.name === question.method)?.about ?? "";
}

/** What attributes are called: their questions, as respondents read them. @param {Overview} overview @param {readonly string[]} names */
export const textsOf = (overview, names) =>
  names.map((name) => overview.study.attributes.find((a) => a.name === name)?.question || name);

/** Which values are picked, and what that means. @param {Question} question */
function showPicked(question) {
  for (const box of inputs("values")) {
    const { attribute = "" } = box.dataset;
    box.checked = (question.picked[attribute] ?? []).includes(box.value);
  }
  const merging = merged(question).map(([name]) => name);
  for (const part of document.querySelectorAll("#values .values")) {
    const name = part.getAttribute("data-attribute") ?? "";
    const many = question.picked[name]?.length ?? 0;
    const does = part.querySelector(".values-does");
    if (!does) continue;
    if (question.attributes.includes(name)) {
      does.textContent = merging.includes(name) ? `${many} values as one` : "pick two or more to merge them";
    } else {
      does.textContent = many ? `only these ${many === 1 ? "" : many}`.trim() : "pick to filter";
    }
    part.classList.toggle("on", many > 0);
  }
  const some = Object.keys(question.picked).length;
  at("values-count").textContent = some ? ` (${some})` : "";
}

/** @param {Overview} overview @param {Question} question */
function showWithin(overview, question) {
  const texts = textsOf(overview, question.attributes);
  const pairs = question.attributes.map((name, i) => [name, `Of each answer to: ${texts[i]}`]);
  fillSelect("within", [["", "Of all respondents"], ...(pairs.length > 1 ? pairs : [])]);
  at("within").value = question.within;
}

/**
 * The question after a change of the form.
 *
 * @param {Question} question
 * @param {EventTarget | null} control
 */
export function changedBy(question, control) {
  if (control instanceof HTMLInputElement && control.name === "attribute") return toggled(question, control.value);
  if (control instanceof HTMLInputElement && control.name === "value") {
    const { attribute = "", size } = control.dataset;
    return pickedValue(question, attribute, control.value, Number(size));
  }
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
          el("span", { class: "pick-name", id: `pick-${i}` }, a.question || a.name),
          el("span", { class: "pick-about", id: `about-${i}` }, `${a.question ? `${a.name}, ` : ""}${a.values.length} values`),
        ),
        el("span", { class: "pick-order", "aria-hidden": "true" }),
      ),
    ),
  );
  at("values").replaceChildren(
    ...overview.study.attributes.map((a) =>
      el(
        "details",
        { class: "values", "data-attribute": a.name },
        el("summary", {}, a.question || a.name, " ", el("span", { class: "values-does quiet small" })),
        ...a.values.map((value) =>
          el(
            "label",
            { class: "value" },
            el("input", {
              type: "checkbox",
              name: "value",
              value,
              "data-attribute": a.name,
              "data-size": String(a.values.length),
            }),
            el("span", {}, value),
          ),
        ),
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

/** @param {"method" | "post" | "level" | "within"} id @param {string[][]} pairs value and text */
function fillSelect(id, pairs) {
  at(id).replaceChildren(...pairs.map(([value, text]) => el("option", { value }, text)));
}
