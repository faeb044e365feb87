// The survey page: made from the study, one screen after the other. Nothing leaves this device but
// the report, and its text is on the screen once it has arrived.

import { askCollector } from "../client/collecting.js";
import { readLedger } from "../client/ledger.js";
import { Refusal } from "../client/refusal.js";
import { meet } from "../client/respondent.js";
import { ledger } from "./account.js";
import { closedScreen } from "./closed.js";
import { correctedNote, correctedScreen } from "./corrected.js";
import { introduction } from "./introduction.js";
import { alreadyScreen, failure, notice, problemScreen, sentScreen } from "./notices.js";
import { make, paragraphs, voice } from "./parts.js";
import { askScreen } from "./questions.js";
import { confirmScreen, reviewScreen } from "./sending.js";
import { bestLanguage, languagesOf, speak } from "./words.js";

/** @typedef {import("../client/report.js").Report} Report */
/** @typedef {import("../client/respondent.js").Respondent} Respondent */
/** @typedef {import("./words.js").Speech} Speech */

/**
 * @typedef {object} State
 * @property {Respondent} person
 * @property {number[]} asked the blocks that this device reports
 * @property {boolean} invited whether a report needs an invitation
 * @property {import("../client/collecting.js").Collecting} collecting
 * @property {string} invitation
 * @property {boolean} uninvited whether the collector has refused the invitation
 * @property {boolean} agreed to what the study's owner wants agreed to
 * @property {string} language
 * @property {{[attribute: string]: string}} answers
 * @property {"closed" | "changed" | "waiting" | "already" | "ask" | "confirm" | "review" | "sent"} screen
 * @property {Report | null} report drawn, perhaps not yet sent
 * @property {boolean} sending
 * @property {Refusal | null} failure
 */

const page = /** @type {HTMLElement} */ (document.getElementById("page"));
const status = /** @type {HTMLElement} */ (document.getElementById("status"));
const reportsUrl = new URL("reports", document.baseURI);

start().catch((error) => {
  const kind = error instanceof Refusal ? error.kind : "study";
  const say = speak(bestLanguage(["en", "de", "es", "fr"], navigator.languages)).say;
  page.replaceChildren(problemScreen(kind, String(error?.problem ?? error), say));
});

async function start() {
  const asked = askCollector(reportsUrl); // meanwhile
  const person = await meet(new URL("study.json", document.baseURI).href, reportsUrl);
  const { study } = person;
  const entry = await person.entry();
  const collecting = await asked;
  /** @type {State} */
  const state = {
    person,
    asked: await person.asked(),
    invited: collecting.invited,
    collecting,
    invitation: new URLSearchParams(location.hash.slice(1)).get("invitation") ?? "",
    uninvited: false,
    agreed: false,
    language: bestLanguage(languagesOf(study), navigator.languages),
    answers: {},
    screen: person.changed ? "changed" : firstScreen(entry, collecting),
    report: standing(entry),
    sending: false,
    failure: null,
  };
  // The browser's own way back leads from the last look to the questions, not off the page.
  window.addEventListener("popstate", () => {
    const looking = state.screen === "review" || state.screen === "confirm";
    if (looking && !handedOver(state)) go(state, "ask");
  });
  await show(state);
}

/**
 * Where a person starts who has handed over a report before, or none.
 *
 * @param {import("../client/ledger.js").Entry | undefined} entry
 * @param {State["collecting"]} collecting
 * @returns {State["screen"]}
 */
function firstScreen(entry, { phase }) {
  if (entry?.state === "arrived") return "already";
  if (phase !== "open") return "closed";
  return entry?.state === "waiting" ? "waiting" : "ask";
}

/**
 * The report that can only be sent again, or looked at. One that was refused is not shown: it can
 * still be sent, with an invitation say.
 *
 * @param {import("../client/ledger.js").Entry} [entry]
 */
function standing(entry) {
  return entry && entry.state !== "refused" ? entry.report : null;
}

/**
 * Whether the report is on its way, or may have arrived: from then on it can only be sent again.
 *
 * @param {State} state
 */
function handedOver({ sending, failure: refusal }) {
  return sending || refusal?.kind === "network";
}

/**
 * Draw the whole page. It is small, and a page that is always drawn whole is always right.
 *
 * @param {State} state
 * @param {string} [focus] what to move to, so that a keyboard or a screen reader is where it happens
 */
async function show(state, focus) {
  const { study, store } = state.person;
  const speech = speak(state.language, study.language || "en");
  const entries = await readLedger(store);
  document.documentElement.lang = speech.pageLanguage;
  document.title = speech.title(study);
  const url = String(reportsUrl);
  const act = {
    send: () => send(state),
    back: handedOver(state) ? null : () => history.back(),
  };
  const screens = {
    closed: () => closedScreen(state, speech, () => send(state)),
    changed: () =>
      state.person.corrected.length > 0
        ? correctedScreen(state.person.corrected, speech, () => accept(state))
        : notice(speech, "changedTitle", "changedLead", "accept", () => accept(state)),
    waiting: () => [
      notice(speech, "waitingTitle", "waitingLead", "waitingSend", () => send(state)),
      failure(state, speech),
    ],
    already: () => alreadyScreen(state, speech, url),
    ask: () => askScreen(state, speech, (answers) => proceed(state, answers)),
    confirm: () => [confirmScreen(state, speech, url, entries, act), failure(state, speech)],
    review: () => [reviewScreen(state, speech, url, entries, act), failure(state, speech)],
    sent: () => sentScreen(state, speech, url),
  };
  const early = ["closed", "changed", "waiting", "already", "ask"].includes(state.screen);
  page.replaceChildren(
    header(state, speech),
    make(
      "main",
      {},
      state.screen === "ask" && introduction(state, speech),
      screens[state.screen](),
      state.screen === "ask" && correctedNote(study.corrections, speech),
    ),
    ledger(state, speech, entries),
  );
  if (focus ?? !early) {
    /** @type {HTMLElement | null} */ (page.querySelector(focus ?? "main h2"))?.focus();
  }
}

/**
 * @param {State} state
 * @param {State["screen"]} screen
 */
async function go(state, screen) {
  state.screen = screen;
  state.failure = null;
  await show(state, "main h2");
  window.scrollTo(0, 0);
}

/** @param {State} state */
async function accept(state) {
  await state.person.accept();
  const entry = await state.person.entry();
  state.report = standing(entry);
  await go(state, firstScreen(entry, state.collecting));
}

/**
 * On to the last screen before sending. Only a study that wants it so has its report drawn here.
 *
 * @param {State} state
 * @param {{[attribute: string]: string}} answers
 */
async function proceed(state, answers) {
  const before = state.person.study.review === "before";
  state.answers = answers;
  state.report = before ? await draw(state) : null;
  history.pushState(null, "");
  await go(state, before ? "review" : "confirm");
}

/**
 * The report of the answers; nothing is sent.
 *
 * @param {State} state
 * @returns {Promise<Report>}
 */
async function draw({ person, answers, invited, invitation }) {
  const report = await person.make(answers);
  return invited ? { ...report, invitation } : report;
}

/**
 * Where another tab was quicker, go to what became of its report.
 *
 * @param {State} state
 * @returns {Promise<boolean>} whether one was
 */
async function giveWay(state) {
  const entry = await state.person.entry();
  if (!entry || entry.state === "refused") return false;
  state.report = entry.report;
  state.answers = {}; // it was not drawn from these
  status.textContent = "";
  await go(state, firstScreen(entry, state.collecting));
  return true;
}

/** @param {State} state */
async function send(state) {
  if (state.sending) return;
  state.sending = true;
  state.failure = null;
  const { say } = speak(state.language);
  status.textContent = say("sending");
  const pressed = page.querySelector("main button.main");
  if (pressed) pressed.textContent = say("sending");
  page.querySelector("main button.plain")?.remove();
  page.setAttribute("aria-busy", "true");
  try {
    if (!state.report && (await giveWay(state))) return;
    state.report ??= await draw(state);
    await state.person.send(state.report);
    await go(state, "sent");
    status.textContent = say("sentTitle");
  } catch (error) {
    state.failure =
      error instanceof Refusal ? error : new Refusal("refused", String(error), "reload the page");
    status.textContent = "";
    state.sending = false;
    if (state.failure.kind === "closed") {
      state.collecting = await askCollector(reportsUrl);
      state.report = standing(await state.person.entry());
      // Unless it was opened again just now: then it is worth another try.
      if (state.collecting.phase !== "open") return go(state, "closed");
    }
    if (state.failure.kind === "invitation") {
      state.uninvited = true;
      state.report = null;
      await go(state, "ask");
      document.getElementById("invitation")?.focus();
      return;
    }
    if (state.failure.kind === "stands") {
      if (await giveWay(state)) return;
      state.report = await draw(state);
    }
    await show(state, "[role=alert]");
  } finally {
    state.sending = false;
    page.removeAttribute("aria-busy");
  }
}

/**
 * @param {State} state
 * @param {Speech} speech
 */
function header(state, speech) {
  const { study } = state.person;
  const languages = languagesOf(study);
  const choose = (/** @type {Event} */ event) => {
    state.language = /** @type {HTMLSelectElement} */ (event.target).value;
    state.answers = { ...state.answers, ...chosen(study) };
    show(state, "#language");
  };
  return make(
    "header",
    {},
    languages.length > 1 &&
      make(
        "p",
        { class: "language" },
        make("label", { for: "language" }, speech.say("language")),
        make(
          "select",
          { id: "language", change: choose, autocomplete: "off" },
          languages.map((language) =>
            make(
              "option",
              { value: language, lang: language, selected: language === state.language },
              nameOf(language),
            ),
          ),
        ),
      ),
    make("h1", voice(speech.told(study, "title").language), speech.title(study)),
    paragraphs("lead", speech.told(study, "description")),
  );
}

/**
 * What is ticked on the page now, so that a change of language keeps it.
 *
 * @param {Respondent["study"]} study
 * @returns {{[attribute: string]: string}}
 */
function chosen(study) {
  const form = /** @type {HTMLFormElement | null} */ (document.getElementById("questions"));
  if (!form) return {};
  const data = new FormData(form);
  return Object.fromEntries(
    study.attributes.flatMap(({ name, values }, i) => {
      const code = data.get(`q${i}`);
      return typeof code === "string" && code !== "" ? [[name, values[Number(code)]]] : [];
    }),
  );
}

/** @param {string} language in its own words */
function nameOf(language) {
  const name = new Intl.DisplayNames([language], { type: "language" }).of(language) ?? language;
  return name.charAt(0).toLocaleUpperCase(language) + name.slice(1);
}
