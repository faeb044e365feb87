// The results page: signs in, asks, shows, and looks again while reports come in.

import { Refused, estimate, file, keepToken, overview, token } from "./api.js";
import { draw, png } from "./chart.js";
import { at, save, el, whole } from "./dom.js";
import { inWords, overTime, showNotes, showSignals, showTable } from "./panels.js";
import { Question } from "./question.js";

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
let answer;
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
  document.onvisibilitychange = () => document.hidden || look();
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

/** One of the three faces of the page. */
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

function header(found) {
  at("title").textContent = found.study.title;
  document.title = `${found.study.title}: results`;
  at("subtitle").textContent = `Results · study ${found.study.digest.slice(0, 12)}`;
}

function waiting(found) {
  show("waiting");
  const so = found.n ? `About ${whole.format(found.n)}` : "Few";
  at("waiting-text").textContent = `${so} of the ${whole.format(found.minimum)} reports needed are in.`;
  at("waiting-bar").value = found.n / found.minimum;
}

async function ready(found) {
  const first = !question;
  show("results");
  at("n").textContent = whole.format(found.n);
  at("epsilon").textContent = short(found.study.epsilon);
  at("insecure").hidden = found.secure;
  at("insecure").textContent =
    "These reports were made with a seed: for tests only, they protect nobody.";
  if (first) question = new Question(found, new URLSearchParams(location.hash.slice(1)), ask);
  if (seen?.n === found.n) return;
  seen = found;
  await Promise.all([chart("timeline", found.timeline_spec, found.chart_problem), ask()]);
}

/** Asks the question as it stands; an older one that is still under way is let go. */
async function ask() {
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  const asked = question.asked;
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
  await chart("chart", found.spec, found.chart_problem);
  at("status").textContent = `Showing ${found.attributes.join(" by ")}, ${whole.format(found.n)} reports.`;
}

async function chart(id, spec, problem) {
  if (!spec) {
    at(id).replaceChildren(el("p", { class: "chart-missing" }, `No chart: ${problem}`));
    return;
  }
  if (id === "timeline") return draw(at(id), spec, overTime(seen));
  const across = question.size(answer.attributes.at(-1));
  const rows = Math.min(answer.cells.length, MOST_BARS);
  return draw(at(id), spec, inWords(answer), { across, rows });
}

let width = 0;
let pending = 0;

/** The room has changed: the charts are fitted to it anew. */
function redraw() {
  if (at("main").clientWidth === width) return;
  width = at("main").clientWidth;
  clearTimeout(pending);
  pending = window.setTimeout(() => {
    if (seen?.timeline_spec) chart("timeline", seen.timeline_spec).catch(trouble);
    if (answer?.spec) chart("chart", answer.spec).catch(trouble);
  }, 200);
}

async function take(format, button) {
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

function signedOut(error) {
  const had = token();
  keepToken(null);
  show("login");
  trouble(had ? error : null);
}

/** Says what went wrong, in the words of who knows. */
function trouble(error) {
  at("problem").hidden = !error;
  if (!error) return;
  const words =
    error instanceof Refused
      ? [el("strong", {}, `${capital(error.problem)}. `), `${capital(error.remedy)}.`]
      : [error instanceof TypeError ? "The collector cannot be reached; trying again." : error.message];
  at("problem").replaceChildren(...words);
}

const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);
const short = (number) => String(Number(number.toPrecision(3)));
