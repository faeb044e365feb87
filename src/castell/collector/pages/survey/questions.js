// The questions. Nothing is sent from here.

import { codeOf } from "../client/scale.js";
import { make, spokenValue, voice } from "./parts.js";

/** @typedef {import("../client/study.js").Attribute} Attribute */
/** @typedef {import("./survey.js").State} State */
/** @typedef {import("./words.js").Speech} Speech */

const INVITATION = /^[a-z2-7]{20}$/;

// More than that are easier to find in a list that opens.
const MOST_BUTTONS = 8;

/**
 * @param {State} state
 * @param {Speech} speech
 * @param {(answers: {[attribute: string]: string}) => void} done
 * @param {(() => void) | null} remember keeps what is ticked over a reload, if that is wanted
 */
export function askScreen(state, speech, done, remember) {
  const { study } = state.person;
  const { say } = speech;
  const names = new Set(state.asked.flatMap((block) => study.blocks[block].attributes));
  const asked = study.attributes.filter(({ name }) => names.has(name));
  const missing = make("div", {
    role: "alert",
    class: "alert",
    id: "missing",
    tabindex: -1,
    hidden: true,
  });

  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const data = new FormData(/** @type {HTMLFormElement} */ (event.target));
    /** @type {{[attribute: string]: string}} */
    const answers = {};
    const open = [];
    for (const attribute of asked) {
      const index = study.attributes.indexOf(attribute);
      const code = data.get(`q${index}`);
      const field = /** @type {HTMLElement} */ (document.getElementById(`q${index}`));
      const answered = typeof code === "string" && code !== "";
      mark(field, answered ? "" : say("missing"));
      if (answered) answers[attribute.name] = attribute.values[Number(code)];
      else
        open.push({
          href: `#q${index}`,
          text: speech.question(attribute),
          language: speech.languageOf(attribute, "question"),
        });
    }
    if (state.invited) {
      state.invitation = codeIn(String(data.get("invitation")));
      const field = /** @type {HTMLElement} */ (document.getElementById("invited"));
      const fits = INVITATION.test(state.invitation);
      mark(field, fits ? "" : say("invitationMissing"));
      if (!fits)
        open.push({ href: "#invited", text: say("invitation"), language: speech.pageLanguage });
    }
    if (open.length === 0) {
      done(answers);
      return;
    }
    missing.hidden = false;
    missing.replaceChildren(
      make("h3", {}, say("missingTitle")),
      make(
        "ul",
        {},
        open.map(({ href, text, language }) => {
          const jump = (/** @type {Event} */ click) => {
            click.preventDefault();
            const field = document.querySelector(href);
            /** @type {HTMLElement | null} */ (field?.querySelector("input, select"))?.focus();
            field?.scrollIntoView({ block: "center" });
          };
          return make("li", {}, make("a", { href, lang: language, click: jump }, text));
        }),
      ),
    );
    missing.focus();
  };

  // A code is asked for first, so that nobody answers in vain; one that came with the link is not.
  const needed = state.uninvited || !INVITATION.test(state.invitation);
  return make(
    "form",
    { id: "questions", novalidate: true, autocomplete: "off", submit, change: remember ?? undefined },
    make("h2", { tabindex: -1, class: "quiet" }, say("questionsTitle")),
    missing,
    state.invited && needed && invitation(state, speech),
    asked.map((attribute, i) => question(state, attribute, i, asked.length, speech)),
    state.invited && !needed && invitation(state, speech),
    make(
      "div",
      { class: "actions" },
      make(
        "button",
        { type: "submit", class: "main" },
        say(study.review === "before" ? "review" : "goOn"),
      ),
      make("span", { class: "small" }, say("reviewNote"), remember && ` ${say("keptNote")}`),
    ),
  );
}

/**
 * The code in what was typed, pasted or scanned: a link that holds it, or the code with or without
 * spaces.
 *
 * @param {string} text
 */
function codeIn(text) {
  const code = /[#&]invitation=([^&]*)/.exec(text)?.[1] ?? text;
  return code.replace(/[\s-]/g, "").toLowerCase();
}

/**
 * @param {HTMLElement} field
 * @param {string} problem "" if there is none
 */
function mark(field, problem) {
  const error = /** @type {HTMLElement} */ (field.querySelector(".error"));
  error.textContent = problem;
  field.classList.toggle("open", problem !== "");
  for (const input of field.querySelectorAll("input[type=text], select")) {
    input.setAttribute("aria-invalid", String(problem !== ""));
  }
}

/**
 * @param {State} state
 * @param {Attribute} attribute
 * @param {number} place
 * @param {number} count
 * @param {Speech} speech
 */
function question(state, attribute, place, count, speech) {
  const { say } = speech;
  const index = state.person.study.attributes.indexOf(attribute);
  const [id, error] = [`q${index}`, `q${index}-error`];
  const values = speech.values(attribute);
  const spokenIn = speech.languageOf(attribute, "values");
  const ticked = attribute.values.indexOf(state.answers[attribute.name] ?? "");
  const buttons = values.map((_, code) =>
    make(
      "label",
      { class: "choice" },
      make("input", {
        type: "radio",
        name: id,
        value: code,
        checked: code === ticked,
        required: true,
        autocomplete: "off",
      }),
      spokenValue(speech, attribute, code),
    ),
  );
  const list = () =>
    make(
      "select",
      {
        name: id,
        "aria-labelledby": `${id}-text`,
        "aria-describedby": error,
        required: true,
        autocomplete: "off",
      },
      make("option", { value: "" }, say("choose")),
      values.map((value, code) =>
        make("option", { value: code, selected: code === ticked, ...voice(spokenIn) }, value),
      ),
    );
  return make(
    "fieldset",
    { class: "card question", id, "aria-describedby": error },
    make(
      "legend",
      {},
      make("span", { class: "small" }, say("questionNumber", { n: place + 1, count })),
      make(
        "span",
        { class: "asked", id: `${id}-text`, ...voice(speech.languageOf(attribute, "question")) },
        speech.question(attribute),
      ),
    ),
    attribute.public && make("p", { class: "small" }, say("publicSent")),
    attribute.maySkip &&
      make("p", { class: "small" }, say("skipNote", { value: values.at(-1) ?? "" })),
    make("p", { class: "error", id: error }),
    attribute.scale?.period === undefined && attribute.scale && numberField(state, attribute, id, say),
    values.length > MOST_BUTTONS ? list() : make("div", { class: "choices", ...voice(spokenIn) }, buttons),
  );
}

/** @type {WeakMap<object, Map<string, number>>} drawn once for each person and question */
const chances = new WeakMap();

/**
 * What rounds a number at random where the study does: drawn before anything is typed, and once, so
 * that typing again does not draw again.
 *
 * @param {State} state
 * @param {string} name
 * @returns {number}
 */
function chanceOf({ person }, name) {
  const drawn = chances.get(person) ?? new Map();
  chances.set(person, drawn);
  if (!drawn.has(name)) {
    const [word] = crypto.getRandomValues(new BigUint64Array(1));
    drawn.set(name, Number(word >> 11n) / 2 ** 53);
  }
  return drawn.get(name);
}

/**
 * A field for a number, which ticks the value that it belongs to. The number itself is not kept and
 * goes nowhere.
 *
 * @param {State} state
 * @param {Attribute} attribute
 * @param {string} id
 * @param {Speech["say"]} say
 */
function numberField(state, attribute, id, say) {
  const scale = /** @type {import("../client/scale.js").Scale} */ (attribute.scale);
  const chance = chanceOf(state, attribute.name);
  const told = make("span", { class: "small", id: `${id}-number-note`, role: "status" });
  const typed = (/** @type {Event} */ event) => {
    event.stopPropagation();
    const { value } = /** @type {HTMLInputElement} */ (event.target);
    const code = codeOf(scale, value, chance);
    told.textContent = value.trim() === "" || code >= 0 ? "" : say("numberNone");
    if (code < 0) return;
    if (scale.points) told.textContent = say("numberRounded", { value: attribute.values[code] });
    tick(id, code);
  };
  const unit = scale.unit ? ` (${scale.unit})` : "";
  return make(
    "p",
    { class: "number" },
    make("label", { for: `${id}-number`, class: "small" }, say("numberAsk") + unit),
    make("input", {
      type: "text",
      id: `${id}-number`,
      inputmode: scale.whole ? "numeric" : "decimal",
      maxlength: 30,
      autocomplete: "off",
      "aria-describedby": `${id}-number-note`,
      input: typed,
    }),
    told,
  );
}

/**
 * Choose a value as a person would.
 *
 * @param {string} id
 * @param {number} code
 */
function tick(id, code) {
  const field = /** @type {HTMLElement} */ (document.getElementById(id));
  const list = field.querySelector("select");
  const button = /** @type {HTMLInputElement | null} */ (
    field.querySelector(`input[type=radio][value="${code}"]`)
  );
  if (list) list.value = String(code);
  if (button) button.checked = true;
  (list ?? button)?.dispatchEvent(new Event("change", { bubbles: true }));
}

/**
 * @param {State} state
 * @param {Speech} speech
 */
function invitation({ invitation: code, uninvited }, { say }) {
  // Scanners type what they read and end with Enter: that is not yet the end of the questions.
  const enter = (/** @type {Event} */ event) => {
    if (/** @type {KeyboardEvent} */ (event).key !== "Enter") return;
    event.preventDefault();
    const field = /** @type {HTMLInputElement} */ (event.target);
    field.value = codeIn(field.value);
    const first = document.querySelector(".question:is(fieldset) :is(input, select)");
    /** @type {HTMLElement | null} */ (first)?.focus();
  };
  return make(
    "div",
    { class: uninvited ? "card question open" : "card question", id: "invited" },
    make("label", { for: "invitation", class: "asked" }, say("invitation")),
    make("p", { class: "small", id: "invitation-help" }, say("invitationHelp")),
    make("p", { class: "error", id: "invitation-error" }, uninvited && say("invitationRefused")),
    make("input", {
      type: "text",
      id: "invitation",
      name: "invitation",
      value: code,
      maxlength: 400,
      keydown: enter,
      "aria-invalid": uninvited ? "true" : undefined,
      autocomplete: "off",
      autocapitalize: "none",
      spellcheck: "false",
      "aria-describedby": "invitation-help invitation-error",
    }),
  );
}
