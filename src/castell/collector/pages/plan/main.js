// The planner: two sliders, and what castell.plan says for where they stand.

import { plan } from "../results/api.js";
import { clear, draw, pictureFor } from "../results/chart.js";
import { at, el, soon, whole } from "../results/dom.js";
import { whenSignedIn } from "../results/login.js";
import { isBadEstimate, isExpired, problemOf, showProblem } from "../results/problem.js";
import { address, keepToken, takeToken, token } from "../results/token.js";
import { EPSILONS, PEOPLE, nearest, withOwn } from "./steps.js";

/** @typedef {import("../results/api.js").Planned} Planned */
/** @typedef {import("../results/state.js").Problem} Problem */

const AGAIN = 10_000;
const USUAL = 3_000;

let epsilons = EPSILONS;
/** What the study has a respondent spend, once it is known. @type {number | null} */
let own = null;
/** What is shown. @type {Planned | null} */
let shown = null;
let asking = new AbortController();
let timer = 0;
/** An earlier estimate that says what is likely, and its file's name; in this page only. @type {{name: string, text: string} | null} */
let like = null;
/** The one that what is shown was planned with. @type {{name: string, text: string} | null} */
let used = null;

function start() {
  takeToken();
  whenSignedIn(enter);
  at("leave").onclick = () => leave(null);
  at("sliders").onsubmit = (event) => event.preventDefault();
  const later = soon(ask, 250);
  at("sliders").oninput = (event) => {
    if (event.target === at("like")) return;
    tell();
    later();
  };
  at("like").onchange = takeEstimate;
  at("forget").onclick = () => {
    useEstimate(null);
    ask();
  };
  window.onpopstate = () => {
    if (takeToken() || token()) enter();
  };
  new ResizeObserver(soon(showChart)).observe(at("main"));
  if (token()) enter();
  else leave(null);
}

function enter() {
  at("login").hidden = true;
  at("session").hidden = at("planner").hidden = false;
  showProblem("problem", null);
  place(Number(address().get("n")) || USUAL, Number(address().get("epsilon")) || own || 4);
  ask();
}

/** @param {Problem | null} problem */
function leave(problem) {
  asking.abort();
  clearTimeout(timer);
  keepToken(null);
  useEstimate(null);
  shown = used = null;
  clear(at("chart"));
  for (const id of ["table", "notes", "reason", "command"]) at(id).replaceChildren();
  at("answered").hidden = at("planner").hidden = at("session").hidden = true;
  at("login").hidden = false;
  at("title").textContent = document.title = "Planner";
  showProblem("problem", problem);
  at("token").focus();
}

/** Puts the sliders where they are nearest to what is wanted. @param {number} n @param {number} epsilon */
function place(n, epsilon) {
  at("people").max = String(PEOPLE.length - 1);
  at("people").value = String(nearest(PEOPLE, n));
  at("budget").max = String(epsilons.length - 1);
  at("budget").value = String(nearest(epsilons, epsilon));
  tell();
}

const n = () => PEOPLE[Number(at("people").value)];
const epsilon = () => epsilons[Number(at("budget").value)];

/** What the sliders say, at once. */
function tell() {
  const people = `${whole.format(n())} people`;
  at("people-told").textContent = whole.format(n());
  at("people").setAttribute("aria-valuetext", people);
  at("budget-told").textContent = String(epsilon());
  at("budget").setAttribute("aria-valuetext", `epsilon ${epsilon()}`);
  at("about-budget").textContent =
    own === null ? "" : epsilon() === own ? "What this study has." : `This study has ${own}.`;
}

/** Asks for the plan where the sliders stand; one under way is let go. */
async function ask() {
  clearTimeout(timer);
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  const asked = new URLSearchParams({ n: String(n()) });
  // The study's own is not said: it may have more digits than the slider.
  if (own !== null ? epsilon() !== own : address().has("epsilon")) asked.set("epsilon", String(epsilon()));
  at("answer").setAttribute("aria-busy", "true");
  at("answer").classList.add("busy");
  at("asked").hidden = shown !== null;
  try {
    const found = await plan(asked, signal, like?.text);
    used = like;
    history.replaceState(null, "", `#${asked}`);
    show(found);
    showProblem("problem", null);
  } catch (error) {
    if (signal.aborted) return;
    const problem = problemOf(error);
    if (isExpired(error)) return leave(problem);
    showProblem("problem", problem);
    if (like !== used && isBadEstimate(error)) useEstimate(used);
    else if (problem.again) timer = window.setTimeout(ask, AGAIN);
  }
  at("asked").hidden = true;
  at("answer").classList.remove("busy");
  at("answer").removeAttribute("aria-busy");
}

/** The field of the file. @returns {HTMLInputElement} */
function chosen() {
  return /** @type {HTMLInputElement} */ (at("like"));
}

/** Reads the file that was chosen, and plans with it. */
async function takeEstimate() {
  const [file] = chosen().files ?? [];
  if (!file) return;
  useEstimate({ name: file.name, text: await file.text() });
  ask();
}

/** @param {{name: string, text: string} | null} estimate */
function useEstimate(estimate) {
  like = estimate;
  chosen().value = "";
  at("like-told").hidden = at("forget").hidden = estimate === null;
  at("like-told").textContent = estimate === null ? "" : `Planned with ${estimate.name}.`;
}

/** @param {Planned} found */
function show(found) {
  shown = found;
  if (own === null) {
    own = found.own_epsilon;
    epsilons = withOwn(own);
    place(found.plan.n, found.plan.epsilon);
  }
  at("title").textContent = found.title;
  document.title = `${found.title}: planner`;
  at("reason").textContent = found.plan.reason;
  at("status").textContent = found.plan.reason;
  at("answered").hidden = false;
  showTable(found.table);
  at("notes").replaceChildren(...found.notes.slice(1).map((note) => el("li", {}, note)));
  const likely = like === null ? "" : " --like estimate.json";
  at("command").textContent =
    `castell plan study.toml -n ${found.plan.n} --epsilon ${found.plan.epsilon}${likely} --write`;
  showChart();
}

function showChart() {
  if (!shown) return;
  const picture = pictureFor(shown.pictures, at("chart").clientWidth);
  if (picture) draw(at("chart"), picture.spec, `Half-widths by people and epsilon. ${shown.plan.reason}`);
  else clear(at("chart"), shown.chart_problem);
}

/** @param {string[][]} rows titles first */
function showTable([titles, ...rows]) {
  const cell = (/** @type {string} */ text, /** @type {number} */ i) =>
    i ? el("td", { class: "number" }, text) : el("th", { scope: "row", class: "first" }, text);
  const head = titles.map((text, i) => el("th", { scope: "col", class: i ? "number" : "first" }, text));
  const body = rows.map((row, i) => el("tr", { class: i ? undefined : "recommended" }, ...row.map(cell)));
  at("table").replaceChildren(el("table", {}, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...body)));
}

start();
