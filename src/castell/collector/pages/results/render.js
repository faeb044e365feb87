// The page, drawn from its state and from nothing else.

import { clear, draw, pictureFor } from "./chart.js";
import { at, percent, whole } from "./dom.js";
import { showForm, textsOf } from "./form.js";
import { inWords, overTime, reading, showNotes, showSignals, showTable } from "./panels.js";
import { showProblem } from "./problem.js";
import { showSummaries } from "./summaries.js";

/** @typedef {import("./api.js").Answer} Answer */
/** @typedef {import("./api.js").Overview} Overview */
/** @typedef {import("./api.js").Progress} Progress */
/** @typedef {import("./state.js").State} State */

/** What the parts that take long to draw were drawn from, so that they are not drawn twice. */
const last = {
  answer: /** @type {Answer | null} */ (null),
  overview: /** @type {Overview | null} */ (null),
  sort: "",
  room: 0,
};

/** @param {State} state */
export function render(state) {
  const { face, overview, question, shown } = state;
  for (const id of ["login", "waiting", "results"]) at(id).hidden = id !== face;
  at("session").hidden = face === "login";
  const unanswered = shown.status === "failed" ? shown.problem : null;
  // What is said beside the question need not be said above the page too.
  showProblem("problem", state.problem?.text === unanswered?.text ? null : state.problem);
  showProblem("unanswered", unanswered);
  showHead(overview);
  if (face === "waiting" && overview) showWaiting(overview);
  if (face === "results" && overview && question) {
    showFacts(overview);
    showForm(overview, question);
  }
  const answer = shown.status === "answered" || shown.status === "asking" ? shown.answer : null;
  const room = at("main").clientWidth;
  if (overview !== last.overview || room !== last.room) showTimeline(face === "results" ? overview : null);
  const sort = question?.sort ?? "";
  if (answer !== last.answer) showAnswer(answer);
  if (answer !== last.answer || sort !== last.sort) showTable(answer, sort);
  if (answer !== last.answer || room !== last.room) showChart(answer);
  Object.assign(last, { answer, overview, sort, room });
  showStatus(state);
}

/** Whether the question has an answer, is worked on, or has none. @param {State} state */
function showStatus({ face, overview, question, shown }) {
  const busy = shown.status === "asking";
  const place = at("answer");
  // The page keeps its length while it has nothing to show, so that nothing jumps.
  place.style.minHeight = busy ? `${Math.max(place.offsetHeight, 300)}px` : "";
  place.classList.toggle("busy", busy);
  if (busy) place.setAttribute("aria-busy", "true");
  else place.removeAttribute("aria-busy");
  at("asked").hidden = !busy || !!shown.answer;
  at("asked-text").textContent = overview && question ? textsOf(overview, question.attributes).join(" × ") : "";
  if (busy) showProgress(question?.method ?? "", shown.progress);
  at("status").textContent =
    face === "results" && shown.status === "answered"
      ? `Showing ${shown.answer.labels.join(" by ")}, ${whole.format(shown.answer.n)} reports.`
      : "";
}

/** @param {string} method @param {Progress | null} progress */
function showProgress(method, progress) {
  const { ahead, seconds, usual } = progress ?? { ahead: null, seconds: null, usual: null };
  const questions = ahead === 1 ? "question is" : "questions are";
  const words = seconds === null ? [] : [`Fitting the method ${method}: ${Math.round(seconds)} seconds so far`];
  if (words.length && usual !== null) words.push(`the last took ${Math.max(1, Math.round(usual))}`);
  if (ahead) words.push(`${ahead} ${questions} before this one`);
  at("asked-progress").textContent = words.length ? `${words.join("; ")}.` : "Working it out.";
  // Without a value the bar only says that something is being done.
  if (seconds !== null && usual) at("asked-bar").value = Math.min(0.95, seconds / usual);
  else at("asked-bar").removeAttribute("value");
}

/** @param {Overview | null} overview */
function showHead(overview) {
  const title = overview?.study.title;
  at("title").textContent = title ?? "Results";
  document.title = title ? `${title}: results` : "Results";
  at("subtitle").textContent = overview ? `Results · study ${overview.study.digest.slice(0, 12)}` : "castell";
}

/** @param {Overview} overview */
function showWaiting({ n, minimum, next_release, over }) {
  at("waiting-title").textContent = over ? "Too few reports to be shown" : "Not enough reports yet";
  at("waiting-why").hidden = over;
  at("waiting-over").hidden = !over;
  const so = n ? `About ${whole.format(n)}` : "Few";
  const when = next_release ? ` Results can next come out on ${new Date(next_release).toLocaleString()}.` : "";
  const are = next_release ? "were in when results were last due" : "are in";
  at("waiting-text").textContent = `${so} of the ${whole.format(minimum)} reports needed ${are}.${when}`;
  at("waiting-bar").value = n / minimum;
}

/** @param {Overview} overview */
function showFacts(overview) {
  // The reports themselves are for owners; the collector would refuse anybody else.
  for (const button of at("downloads").querySelectorAll("[data-format=reports]")) {
    /** @type {HTMLElement} */ (button).hidden = overview.role !== "owner";
  }
  at("n").textContent = whole.format(overview.n);
  at("epsilon").textContent = short(overview.study.epsilon);
  at("public").hidden = overview.study.public.length === 0;
  at("public-names").textContent = overview.study.public.join(", ");
  showStages(overview.stages);
  at("insecure").hidden = overview.secure ?? true;
  at("over").hidden = !overview.over;
  at("left-out").hidden = !overview.release_hours;
  at("over-minimum").textContent = whole.format(overview.minimum);
}

/** What was asked how often, where that changed on the way. @param {Overview["stages"]} stages */
function showStages(stages) {
  at("stages").hidden = stages.length === 0;
  const each = stages.map(({ stage, n, sets }) => {
    const asked = sets > 1 ? `one of ${whole.format(sets)} sets of questions` : "all questions";
    return `stage ${stage}, ${asked}: ${n ? `about ${whole.format(n)}` : "few"} reports`;
  });
  const why = stages.length > 1 ? "How a later stage asks depends on earlier reports, which are randomised. " : "";
  at("stages").textContent = `Asked in stages: ${each.join("; ")}. ${why}Results are from all of them together.`;
}

/** @param {Answer | null} answer */
function showAnswer(answer) {
  at("answered").hidden = !answer;
  at("chart-title").textContent = answer ? answer.labels.join(" × ") : "";
  at("chart-sub").textContent = answer ? underTitle(answer) : "";
  at("reading").textContent = answer ? reading(answer) : "";
  at("spent").textContent = answer ? short(answer.epsilon_of_these) : "–";
  for (const place of document.querySelectorAll(".sums")) place.textContent = answer?.sums ?? "";
  showNotes(answer);
  showSummaries(answer);
  showSignals(answer);
}

/** @param {Answer} answer */
function underTitle(answer) {
  const { method, n, level } = answer;
  return `${ofWhom(answer)}Method ${method}, ${whole.format(n)} reports. Each share with its ${percent(level, 0)} interval.`;
}

/** Whom the shares are shares of, where that is not everybody. @param {Answer} answer */
function ofWhom({ attributes, labels, given = {}, within }) {
  const among = Object.values(given).map((values) => values.join(" or "));
  const inside = within ? [`each value of “${labels[attributes.indexOf(within)]}”`] : [];
  const whom = [...inside, ...among].join(", and ");
  return whom && `Shares of those with ${whom}. `;
}

/** @param {Overview | null} overview */
function showTimeline(overview) {
  if (overview?.timeline_spec) draw(at("timeline"), overview.timeline_spec, overTime(overview));
  else clear(at("timeline"), overview?.chart_problem);
}

/** @param {Answer | null} answer */
function showChart(answer) {
  const picture = pictureFor(answer?.pictures ?? [], at("chart").clientWidth);
  at("said").textContent = picture?.said ?? "";
  if (answer && picture) draw(at("chart"), picture.spec, inWords(answer, picture.kind));
  else clear(at("chart"), answer?.chart_problem);
}

/** @param {number} number */
const short = (number) => String(Number(number.toPrecision(3)));
