// The results page: signs in, asks, and looks again while reports come in. Whatever happens makes a
// new state (state.js), and the page is drawn from it (render.js).

import { estimate, file, overview, progress } from "./api.js";
import { png } from "./chart.js";
import { at, el, save, soon } from "./dom.js";
import { changedBy } from "./form.js";
import { whenSignedIn } from "./login.js";
import { isExpired, problemOf } from "./problem.js";
import { addressOf, isSame, parametersOf, questionOf, withChanges } from "./question.js";
import { render } from "./render.js";
import {
  START,
  answered,
  asked,
  failed,
  isDue,
  overviewed,
  progressed,
  shownAs,
  signedIn,
  signedOut,
  troubled,
} from "./state.js";
import { address, isRemembered, keepToken, takeToken, token } from "./token.js";

/** @typedef {import("./question.js").Question} Question */
/** @typedef {import("./state.js").Problem} Problem */
/** @typedef {import("./state.js").State} State */

const EVERY = 5_000;
const PROGRESS_EVERY = 1_000;
const FILES = [
  ["csv", "CSV"],
  ["json", "JSON"],
  ["png", "PNG picture"],
  ["script", "Python script"],
  ["notebook", "Notebook"],
  ["reports", "Reports (Parquet)"],
];

let state = START;
// Requests under way, let go when they are of no more use.
let looking = new AbortController();
let asking = new AbortController();
let timer = 0;

function start() {
  takeToken();
  whenSignedIn(enter);
  at("leave").onclick = () => {
    history.replaceState(null, "", location.pathname);
    leave(null);
  };
  at("live").onchange = () => look();
  document.onvisibilitychange = () => {
    if (!document.hidden) look();
  };
  at("question").onchange = ({ target }) => {
    if (state.question) choose(changedBy(state.question, target));
  };
  at("question").onsubmit = (event) => event.preventDefault();
  at("table").onclick = ({ target }) => {
    if (!state.question || !(target instanceof HTMLElement) || target.id !== "sort") return;
    choose(withChanges(state.question, { sort: state.question.sort ? "" : "share" }));
    document.getElementById("sort")?.focus();
  };
  // Back, forward, or an address typed by hand: the question is what the address says.
  window.onpopstate = () => {
    if (takeToken()) enter();
    else if (state.face === "results" && state.overview) ask(questionOf(state.overview, address()), "replace");
  };
  at("downloads").replaceChildren(
    ...FILES.map(([format, text]) => {
      const button = el("button", { type: "button", class: "plain", "data-format": format }, text);
      button.onclick = () => take(format, button);
      return button;
    }),
  );
  // On a small screen the form folds away, so that the chart comes first.
  const wide = matchMedia("(min-width: 901px)");
  const fold = () => (at("panel").open = wide.matches);
  wide.onchange = fold;
  fold();
  new ResizeObserver(soon(() => render(state))).observe(at("main"));
  at("forgets").hidden = isRemembered();
  if (token()) enter();
  else leave(null);
}

/** @param {State} next */
function become(next) {
  if (next === state) return;
  state = next;
  render(state);
}

/** Another question, or the same in another form. @param {Question} question */
function choose(question) {
  if (isSame(state.question, question)) {
    history.replaceState(null, "", addressOf(question));
    become(shownAs(state, question));
  } else {
    ask(question, "push");
  }
}

function enter() {
  letGo();
  become(signedIn(state));
  look();
}

/** @param {Problem | null} problem */
function leave(problem) {
  letGo();
  keepToken(null);
  become(signedOut(state, problem));
  at("token").focus();
}

function letGo() {
  clearTimeout(timer);
  looking.abort();
  asking.abort();
}

/** Asks how many reports there are, and whatever follows from it. */
async function look() {
  if (!token()) return;
  clearTimeout(timer);
  looking.abort();
  looking = new AbortController();
  const { signal } = looking;
  const { visit } = state;
  let wait = EVERY;
  try {
    const found = await overview(signal);
    become(overviewed(state, visit, found, (told) => questionOf(told, address())));
    if (state.question && isDue(state)) ask(state.question, "replace");
  } catch (error) {
    if (signal.aborted) return;
    if (isExpired(error)) return leave(problemOf(error));
    become(troubled(state, problemOf(error)));
    wait = 2 * EVERY;
  }
  if (at("live").checked && !document.hidden) timer = window.setTimeout(look, wait);
}

/**
 * Asks a question; one that is still under way is let go, and its answer, should it come, dropped.
 *
 * @param {Question} question
 * @param {"push" | "replace"} how the question gets into the browser's history
 */
async function ask(question, how) {
  const same = isSame(state.question, question);
  const parameters = parametersOf(question);
  if (how === "push" && !same) history.pushState(null, "", addressOf(question));
  else history.replaceState(null, "", addressOf(question));
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  become(asked(state, question, same));
  const { ticket } = state;
  follow(parameters, ticket, signal);
  try {
    const found = await estimate(parameters, signal);
    become(answered(state, ticket, found));
  } catch (error) {
    if (ticket !== state.ticket || signal.aborted) return;
    if (isExpired(error)) leave(problemOf(error));
    else become(failed(state, ticket, problemOf(error)));
  }
}

/**
 * Asks how far a question has come, until there is an answer. Whoever tells nothing is no problem:
 * what is wrong, the question itself will say.
 *
 * @param {URLSearchParams} parameters
 * @param {number} ticket
 * @param {AbortSignal} signal
 */
async function follow(parameters, ticket, signal) {
  const isAsked = () => state.ticket === ticket && state.shown.status === "asking";
  for (;;) {
    await new Promise((done) => setTimeout(done, PROGRESS_EVERY));
    if (!isAsked()) return;
    const found = await progress(parameters, signal).catch(() => null);
    if (found) become(progressed(state, ticket, found));
  }
}

/** Downloads a file of what is shown. @param {string} format @param {HTMLButtonElement} button */
async function take(format, button) {
  const { question, shown } = state;
  if (!question || shown.status !== "answered") return;
  const { answer } = shown;
  button.disabled = true;
  try {
    if (format !== "png") {
      const { name, blob } = await file(parametersOf(question), format);
      save(blob, name);
    } else if (answer.pictures.length) {
      save(await png(answer.pictures[0].spec), `${answer.attributes.join("-")}.png`);
    } else {
      throw new Error(`No picture: ${answer.chart_problem ?? "there is no chart"}`);
    }
    become(troubled(state, null));
  } catch (error) {
    if (isExpired(error)) leave(problemOf(error));
    else become(troubled(state, problemOf(error)));
  }
  button.disabled = false;
}

start();
