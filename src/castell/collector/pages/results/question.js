// What the analyst asks for: a small value that lives in the form and in the page's address.

import { at, el } from "./dom.js";

/** @typedef {import("./api.js").Overview} Overview */

/** @type {{[kind: string]: string}} */
const NAMES = { auto: "Auto", heat: "Heat map", bars: "Bars", mosaic: "Mosaic" };
/** @type {{[post: string]: string}} */
const AFTER = { raw: "Keep", clip: "Cut at zero", simplex: "Nearest distribution" };

/** Which charts make sense for so many attributes; the collector says the same. @param {number} many */
const possible = (many) => (many === 2 || many === 3 ? ["heat", "bars", "mosaic"] : ["bars"]);

export class Question {
  /** @param {Overview} overview @param {URLSearchParams} asked @param {() => void} changed */
  constructor(overview, asked, changed) {
    this.study = overview.study;
    this.methods = overview.methods;
    this.changed = changed;
    const known = this.study.attributes.map((a) => a.name);
    const wanted = asked.getAll("attributes").filter((name) => known.includes(name));
    this.names = wanted.length ? [...new Set(wanted)] : known.slice(0, 2);
    this.chart = asked.get("chart") ?? "auto";
    this.#fill(overview, asked);
    this.#show();
  }

  /** The question as a request takes it. */
  get asked() {
    const asked = new URLSearchParams(this.names.map((name) => ["attributes", name]));
    asked.set("method", at("method").value);
    asked.set("level", at("level").value);
    asked.set("post", at("post").value);
    asked.set("chart", this.#chart());
    return asked;
  }

  /** How many values an attribute has. @param {string | undefined} name */
  size(name) {
    return this.study.attributes.find((a) => a.name === name)?.values.length ?? 1;
  }

  #chart() {
    return possible(this.names.length).includes(this.chart) ? this.chart : "auto";
  }

  /** The form as the study is. @param {Overview} overview @param {URLSearchParams} asked */
  #fill(overview, asked) {
    at("attributes").replaceChildren(
      ...this.study.attributes.map((a, i) =>
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
          el("span", {}, NAMES[kind] ?? kind),
        ),
      ),
    );
    fillSelect("method", overview.methods.map((m) => [m.name, m.name]), asked.get("method") ?? overview.method);
    fillSelect("post", overview.posts.map((p) => [p, AFTER[p] ?? p]), asked.get("post") ?? "raw");
    at("level").value = asked.get("level") ?? "0.95";
    if (!at("level").value) at("level").value = "0.95";
    at("question").onchange = (event) => {
      // Menus hold their own values.
      if (event.target instanceof HTMLInputElement) this.#pick(event.target);
      this.#show();
      this.changed();
    };
    at("question").onsubmit = (event) => event.preventDefault();
  }

  /** @param {HTMLInputElement} input */
  #pick(input) {
    if (input.name === "attribute") {
      if (input.checked) this.names = [...this.names, input.value];
      else if (this.names.length > 1) this.names = this.names.filter((n) => n !== input.value);
    } else if (input.name === "chart") {
      this.chart = input.value;
    }
  }

  /** The form as the question is: what is picked, in which order, and what can be. */
  #show() {
    for (const box of inputs("attributes")) {
      const place = this.names.indexOf(box.value);
      box.checked = place >= 0;
      const order = box.closest("label")?.querySelector(".pick-order");
      if (order) order.textContent = place >= 0 ? String(place + 1) : "";
    }
    at("shown").textContent = `: ${this.names.join(" × ")}`;
    const kinds = ["auto", ...possible(this.names.length)];
    for (const radio of inputs("charts")) {
      radio.disabled = !kinds.includes(radio.value);
      radio.checked = radio.value === this.#chart();
    }
    const method = this.methods.find((m) => m.name === at("method").value);
    at("about").textContent = method?.about ?? "";
  }
}

/** @param {string} id @returns {NodeListOf<HTMLInputElement>} */
const inputs = (id) => document.querySelectorAll(`#${id} input`);

/** @param {"method" | "post"} id @param {string[][]} pairs value and text @param {string} chosen */
function fillSelect(id, pairs, chosen) {
  at(id).replaceChildren(...pairs.map(([value, text]) => el("option", { value }, text)));
  at(id).value = chosen;
  if (!at(id).value) at(id).selectedIndex = 0;
}
