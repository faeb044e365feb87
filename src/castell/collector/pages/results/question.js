// What the analyst asks for: a small value that lives in the form and in the page's address.

import { at, el } from "./dom.js";

const NAMES = { auto: "Auto", heat: "Heat map", bars: "Bars", mosaic: "Mosaic" };
const AFTER = { raw: "Keep", clip: "Cut at zero", simplex: "Nearest distribution" };

/** Which charts make sense for so many attributes; the collector says the same. */
const possible = (many) => (many === 2 || many === 3 ? ["heat", "bars", "mosaic"] : ["bars"]);

export class Question {
  /** @param {any} overview @param {URLSearchParams} asked @param {() => void} changed */
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

  /** How many values an attribute has. */
  size(name) {
    return this.study.attributes.find((a) => a.name === name).values.length;
  }

  #chart() {
    return possible(this.names.length).includes(this.chart) ? this.chart : "auto";
  }

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
    if (asked.get("level")) at("level").value = asked.get("level");
    if (!at("level").value) at("level").value = "0.95";
    at("question").onchange = (event) => this.#listen(event.target);
    at("question").onsubmit = (event) => event.preventDefault();
  }

  #listen(input) {
    if (input.name === "attribute") {
      if (input.checked) this.names = [...this.names, input.value];
      else if (this.names.length > 1) this.names = this.names.filter((n) => n !== input.value);
    } else if (input.name === "chart") {
      this.chart = input.value;
    }
    this.#show();
    this.changed();
  }

  /** The form as the question is: what is picked, in which order, and what can be. */
  #show() {
    for (const box of document.querySelectorAll("#attributes input")) {
      const place = this.names.indexOf(box.value);
      box.checked = place >= 0;
      box.closest("label").querySelector(".pick-order").textContent = place >= 0 ? place + 1 : "";
    }
    at("shown").textContent = `: ${this.names.join(" × ")}`;
    const kinds = ["auto", ...possible(this.names.length)];
    for (const radio of document.querySelectorAll("#charts input")) {
      radio.disabled = !kinds.includes(radio.value);
      radio.checked = radio.value === this.#chart();
    }
    const method = this.methods.find((m) => m.name === at("method").value);
    at("about").textContent = method?.about ?? "";
  }
}

function fillSelect(id, pairs, chosen) {
  at(id).replaceChildren(...pairs.map(([value, text]) => el("option", { value }, text)));
  at(id).value = chosen;
  if (!at(id).value) at(id).selectedIndex = 0;
}
