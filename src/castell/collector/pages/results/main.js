// The results page: signs in, asks, shows, and looks again while reports come in.

import { Refused, estimate, file, keepToken, overview, token } from "./api.js";
import { draw, png } from "./chart.js";
import { at, save, el, whole } from "./dom.js";
import { inWords, overTime, showNotes, showSignals, showTable } from "./panels.js";
import { Question } from "./question.js";

/** @typedef {import("./api.js").Answer} Answer */
/** @typedef {import("./api.js").Overview} Overview */
/** @typedef {import("./api.js").Spec} Spec */

const EVERY = 5_000;
// The collector draws no more bars than this.
const MOST_BARS = 40;
const FILES = [
  ["csv", "CSV"],
  ["json", "JSON"],
  ["png", "PNG picture"],
  ["script", "Python script"],
  ["notebook", "Notebook"],
  ["reports", "Reports (Parquet)"],
];

/** @type {Question | undefined} */
let question;
/** @type {Answer | undefined} */
let answer;
/** @type {Overview | undefined} */
let seen;
let asking = new AbortController();
let timer = 0;

start();

function start() {
  const asked = new URLSearchParams(location.hash.slice(1));
  if (asked.get("token")) {
    // A link may bring the token behind the #, which no server ever sees; it does not stay there.
    keepToken(asked.get("token"));
    asked.delete("token");
    history.replaceState(null, "", asked.size ? `#${asked}` : location.pathname);
  }
  at("login").onsubmit = (event) => {
    event.preventDefault();
    keepToken(at("token").value.trim());
    at("token").value = "";
    look();
  };
  at("leave").onclick = () => {
    keepToken(null);
    location.hash = "";
    location.reload();
  };
  at("live").onchange = () => look();
  document.onvisibilitychange = () => {
    if (!document.hidden) look();
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
  new ResizeObserver(redraw).observe(at("main"));
  if (token()) look();
  else show("login");
}

/** One of the three faces of the page. @param {"login" | "waiting" | "results"} face */
function show(face) {
  for (const id of ["login", "waiting", "results"]) at(id).hidden = id !== face;
  at("session").hidden = face === "login";
  if (face === "login") at("token").focus();
}

/** Asks how many reports there are, and whatever follows from it. */
async function look() {
  clearTimeout(timer);
  let wait = EVERY;
  try {
    const found = await overview();
    trouble(null);
    header(found);
    if (found.ready) await ready(found);
    else waiting(found);
  } catch (error) {
    if (error instanceof Refused && error.status === 401) return signedOut(error);
    trouble(error);
    wait = 3 * EVERY;
  }
  const live = at("live").checked && !document.hidden;
  if (live && token()) timer = window.setTimeout(look, wait);
}

/** @param {Overview} found */
function header(found) {
  at("title").textContent = found.study.title;
  document.title = `${found.study.title}: results`;
  at("subtitle").textContent = `Results · study ${found.study.digest.slice(0, 12)}`;
}

/** @param {Overview} found */
function waiting(found) {
  show("waiting");
  const so = found.n ? `About ${whole.format(found.n)}` : "Few";
  at("waiting-text").textContent = `${so} of the ${whole.format(found.minimum)} reports needed are in.`;
  at("waiting-bar").value = found.n / found.minimum;
}

/** @param {Overview} found */
async function ready(found) {
  show("results");
  at("n").textContent = whole.format(found.n);
  at("epsilon").textContent = short(found.study.epsilon);
  at("insecure").hidden = found.secure ?? true;
  at("insecure").textContent =
    "These reports were made with a seed: for tests only, they protect nobody.";
  question ??= new Question(found, new URLSearchParams(location.hash.slice(1)), ask);
  if (seen?.n === found.n) return;
  seen = found;
  await Promise.all([timeline(found), ask()]);
}

/** Asks the question as it stands; an older one that is still under way is let go. */
async function ask() {
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  if (!question) return;
  const { asked } = question;
  history.replaceState(null, "", `#${asked}`);
  at("answer").classList.add("busy");
  at("answer").setAttribute("aria-busy", "true");
  try {
    const found = await estimate(asked, signal);
    if (signal.aborted) return;
    answer = found;
    trouble(null);
    await tell(found);
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof Refused && error.status === 401) signedOut(error);
    else trouble(error);
  }
  at("answer").classList.remove("busy");
  at("answer").removeAttribute("aria-busy");
}

/** @param {Answer} found */
async function tell(found) {
  at("chart-title").textContent = found.attributes.join(" × ");
  const cells = found.cells.length;
  const part = found.chart === "bars" && cells > MOST_BARS;
  at("chart-sub").textContent =
    `Method ${found.method}, ${whole.format(found.n)} reports. Each share with its interval` +
    (part ? `; the ${MOST_BARS} largest of ${whole.format(cells)} cells.` : ".");
  at("spent").textContent = short(found.epsilon_of_these);
  showNotes(found);
  showSignals(found);
  showTable(found);
  await chart(found);
  at("status").textContent = `Showing ${found.attributes.join(" by ")}, ${whole.format(found.n)} reports.`;
}

/** @param {Overview} found */
async function timeline(found) {
  if (!found.timeline_spec) return missing("timeline", found.chart_problem);
  return draw(at("timeline"), found.timeline_spec, overTime(found));
}

/** @param {Answer} found */
async function chart(found) {
  if (!found.spec) return missing("chart", found.chart_problem);
  const across = question?.size(found.attributes.at(-1)) ?? 1;
  const rows = Math.min(found.cells.length, MOST_BARS);
  return draw(at("chart"), found.spec, inWords(found), { across, rows });
}

/** @param {string} id @param {string | null | undefined} problem */
function missing(id, problem) {
  at(id).replaceChildren(el("p", { class: "chart-missing" }, `No chart: ${problem}`));
}

let width = 0;
let pending = 0;

/** The room has changed: the charts are fitted to it anew. */
function redraw() {
  if (at("main").clientWidth === width) return;
  width = at("main").clientWidth;
  clearTimeout(pending);
  pending = window.setTimeout(() => {
    if (seen?.timeline_spec) timeline(seen).catch(trouble);
    if (answer?.spec) chart(answer).catch(trouble);
  }, 200);
}

/** Downloads a file. @param {string} format @param {HTMLButtonElement} button */
async function take(format, button) {
  if (!question) return;
  button.disabled = true;
  try {
    if (format !== "png") {
      const { name, blob } = await file(question.asked, format);
      save(blob, name);
    } else if (answer?.spec) {
      save(await png(answer.spec), `${answer.attributes.join("-")}.png`);
    } else {
      throw new Error(`No picture: ${answer?.chart_problem ?? "nothing is shown yet"}`);
    }
    trouble(null);
  } catch (error) {
    trouble(error);
  }
  button.disabled = false;
}

/** @param {Refused} error */
function signedOut(error) {
  const had = token();
  keepToken(null);
  show("login");
  trouble(had ? error : null);
}

/** Says what went wrong, in the words of who knows. @param {unknown} error */
function trouble(error) {
  at("problem").hidden = !error;
  if (!error) return;
  const words =
    error instanceof Refused
      ? [el("strong", {}, `${capital(error.problem)}. `), `${capital(error.remedy)}.`]
      : [error instanceof TypeError ? "The collector cannot be reached; trying again." : messageOf(error)];
  at("problem").replaceChildren(...words);
}

/** @param {unknown} error */
const messageOf = (error) => (error instanceof Error ? error.message : String(error));

/** @param {string} text */
const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);
/** @param {number} number */
const short = (number) => String(Number(number.toPrecision(3)));
