// The survey page: made from the study, one screen after the other. Nothing leaves this device but
// the report, and its text is on the screen once it has arrived.

import { askCollector, collectingOf } from "../client/collecting.js";
import { readLedger } from "../client/ledger.js";
import { Refusal } from "../client/refusal.js";
import { meet } from "../client/respondent.js";
import { memoryStore } from "../client/store.js";
import { ledger, standing } from "./account.js";
import { closedScreen } from "./closed.js";
import { correctedNote, correctedScreen } from "./corrected.js";
import { readGiven } from "./given.js";
import { header, ticked } from "./header.js";
import { introduction } from "./introduction.js";
import { forgetAnswers, keepAnswers, keptAnswers } from "./kept.js";
import { attend } from "./kiosk.js";
import { alreadyScreen, failure, notice, problemScreen, sentScreen } from "./notices.js";
import { make } from "./parts.js";
import { followFile, previewBand } from "./preview.js";
import { askScreen } from "./questions.js";
import { confirmScreen, reviewScreen } from "./sending.js";
import { bestLanguage, directionOf, languagesOf, speaker } from "./words.js";

/** @typedef {import("../client/report.js").Report} Report */
/** @typedef {import("../client/respondent.js").Respondent} Respondent */

/**
 * @typedef {object} State
 * @property {Respondent} person
 * @property {import("./given.js").Setting} setting
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

const given = readGiven();
const speak = speaker(given.words);
const setting = given.page;

/** @type {State} the person who is at this page now */
let current;

start().catch((error) => {
  const kind = error instanceof Refusal ? error.kind : "study";
  const { say } = speak(bestLanguage(Object.keys(given.words), navigator.languages));
  page.replaceChildren(problemScreen(kind, String(error?.problem ?? error), say));
});

async function start() {
  current = await newcomer(collectingOf(given.collector));
  // The browser's own way back leads from the last look to the questions, not off the page.
  window.addEventListener("popstate", () => {
    const looking = current.screen === "review" || current.screen === "confirm";
    if (looking && !handedOver(current)) go(current, "ask");
  });
  if (setting.kiosk) {
    attend({ where, say: () => speak(current.language).say, restart });
    // A code that is scanned opens the same page with another end of its address.
    window.addEventListener("hashchange", restart);
  }
  if (setting.preview) followFile();
  await show(current);
}

/**
 * A person who has just come to the page. Of those before, only their own device remembers anything.
 *
 * @param {State["collecting"]} collecting
 * @returns {Promise<State>}
 */
async function newcomer(collecting) {
  const store = setting.kiosk || setting.preview ? memoryStore() : undefined;
  const studyUrl = new URL("study.json", document.baseURI).href;
  const person = await meet(studyUrl, reportsUrl, store, given.study);
  const { study } = person;
  const entry = await person.entry();
  const screen = person.changed ? "changed" : firstScreen(entry, collecting);
  const invitation = new URLSearchParams(location.hash.slice(1)).get("invitation") ?? "";
  if (setting.kiosk) history.replaceState(null, "", location.pathname + location.search);
  if (entry) forgetAnswers(study);
  return {
    person,
    setting,
    asked: await person.asked(),
    invited: collecting.invited,
    collecting,
    invitation,
    uninvited: false,
    agreed: false,
    language: bestLanguage(languagesOf(study), navigator.languages),
    answers: setting.kiosk || setting.preview || entry ? {} : keptAnswers(study),
    screen,
    report: standing(entry),
    sending: false,
    failure: null,
  };
}

/** The next person, on a device that many use: nothing is left of the one before. */
async function restart() {
  status.textContent = "";
  // It may have closed since the page was loaded.
  current = await newcomer(await askCollector(reportsUrl));
  await show(current);
  window.scrollTo(0, 0);
}

/** What happens at a device that many people use. */
function where() {
  if (current.sending) return "busy";
  if (current.screen === "sent") return "sent";
  const field = /** @type {HTMLInputElement | null} */ (document.getElementById("invitation"));
  const touched = Object.keys(ticked(current.person.study)).length > 0 || field?.value;
  return touched || current.screen !== "ask" ? "answering" : "nobody";
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
  document.documentElement.dir = directionOf(speech.pageLanguage);
  document.title = speech.title(study);
  const url = String(reportsUrl);
  const act = {
    send: () => send(state),
    back: handedOver(state) ? null : () => back(state),
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
    ask: () => askScreen(state, speech, (answers) => proceed(state, answers), remember(state)),
    confirm: () => [confirmScreen(state, speech, url, entries, act), failure(state, speech)],
    review: () => [reviewScreen(state, speech, url, entries, act), failure(state, speech)],
    sent: () => sentScreen(state, speech, url, restart),
  };
  const early = ["closed", "changed", "waiting", "already", "ask"].includes(state.screen);
  const choose = (/** @type {string} */ language) => {
    state.language = language;
    state.answers = { ...state.answers, ...ticked(study) };
    show(state, "#language");
  };
  page.replaceChildren(
    ...(setting.preview ? [previewBand(speech)] : []),
    header(state, speech, choose),
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
  // A device that many people use has no way back to what another one has answered.
  if (!setting.kiosk) history.pushState(null, "");
  await go(state, before ? "review" : "confirm");
}

/** @param {State} state */
function back(state) {
  if (setting.kiosk) go(state, "ask");
  else history.back();
}

/**
 * What keeps answers over a reload, if this page may.
 *
 * @param {State} state
 * @returns {(() => void) | null}
 */
function remember({ person: { study } }) {
  if (setting.kiosk) return null;
  // A preview has the words of a page that keeps answers, and keeps none.
  return setting.preview ? () => {} : () => keepAnswers(study, ticked(study));
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
  // It was of another stage, whose codes this page cannot read: begin with that one.
  if (!state.person.study.digests.includes(entry.digest)) {
    location.reload();
    return true;
  }
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
    forgetAnswers(state.person.study); // from here on there is a report, and it stands
    if (!setting.preview) await state.person.send(state.report);
    // The next person may come before the page is cleared: what was sent may be seen, nothing else.
    if (setting.kiosk) state.answers = {};
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
      state.uninvited = state.invited; // else invitations were made while this page was open
      state.invited = true;
      state.report = null;
      await go(state, "ask");
      remember(state)?.();
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
