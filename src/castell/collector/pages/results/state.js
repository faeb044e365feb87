// What the page shows, as one frozen value. Everything that happens makes another one, by one of the
// functions below; render.js draws the page from it and from nothing else.
//
// An answer stands beside the question that it answers, so no table can be shown under another one:
// to ask something else is to have no answer, and so is to fail.

/** @typedef {import("./api.js").Answer} Answer */
/** @typedef {import("./api.js").Overview} Overview */
/** @typedef {import("./api.js").Progress} Progress */
/** @typedef {import("./question.js").Question} Question */

/**
 * What went wrong and what to do. `again` says whether asking once more may help.
 *
 * @typedef {{text: string, remedy: string, again: boolean}} Problem
 */

/**
 * A question is asked, answered, or cannot be answered. While it is asked, `answer` is what was said
 * to the same question of fewer reports, if anything was.
 *
 * @typedef {{status: "nothing"}} Nothing
 * @typedef {{status: "asking", answer: Answer | null, progress: Progress | null}} Asking
 * @typedef {{status: "answered", answer: Answer}} Answered
 * @typedef {{status: "failed", problem: Problem}} Failed
 */

/**
 * `visit` counts the times somebody signed in or out, `ticket` the questions; what comes back with an
 * older number is dropped.
 *
 * @typedef {object} State
 * @property {"login" | "opening" | "waiting" | "results"} face
 * @property {number} visit
 * @property {number} ticket
 * @property {Overview | null} overview
 * @property {Question | null} question
 * @property {Nothing | Asking | Answered | Failed} shown
 * @property {Problem | null} problem of the page as a whole: nobody answers, a wrong token, a download
 */

/** @type {Nothing} */
const NOTHING = Object.freeze({ status: "nothing" });

/** @type {State} */
export const START = Object.freeze({
  face: "login",
  visit: 0,
  ticket: 0,
  overview: null,
  question: null,
  shown: NOTHING,
  problem: null,
});

/** @param {State} state @param {Partial<State>} changes @returns {State} */
const changed = (state, changes) => Object.freeze({ ...state, ...changes });

/** Somebody brings a token; whether it is good is not known yet. @param {State} state */
export const signedIn = (state) => changed(START, { face: "opening", visit: state.visit + 1, ticket: state.ticket + 1 });

/** Nobody is signed in any more: all that was known is gone. @param {State} state @param {Problem | null} problem */
export const signedOut = (state, problem) =>
  changed(START, { visit: state.visit + 1, ticket: state.ticket + 1, problem });

/**
 * The collector said how many reports there are. Another study, after a restart, is another
 * beginning.
 *
 * @param {State} state
 * @param {number} visit
 * @param {Overview} overview
 * @param {(overview: Overview) => Question} first what is asked if nothing is yet
 */
export function overviewed(state, visit, overview, first) {
  if (visit !== state.visit) return state;
  const same = state.overview?.study.digest === overview.study.digest;
  const ticket = state.ticket + 1;
  if (!overview.ready) return changed(state, { face: "waiting", overview, ticket, shown: NOTHING, problem: null });
  const next = changed(state, { face: "results", overview, problem: null });
  if (same && state.question) return next;
  return changed(next, { question: first(overview), ticket, shown: NOTHING });
}

/**
 * A question is asked. The answer to another one goes at once; that to the same one stays until
 * there is a newer.
 *
 * @param {State} state
 * @param {Question} question
 * @param {boolean} same
 */
export function asked(state, question, same) {
  const before = state.shown.status === "answered" || state.shown.status === "asking" ? state.shown.answer : null;
  return changed(state, {
    question,
    ticket: state.ticket + 1,
    shown: Object.freeze({ status: "asking", answer: same ? before : null, progress: null }),
  });
}

/** The collector said how far a question has come. @param {State} state @param {number} ticket @param {Progress} progress */
export const progressed = (state, ticket, progress) =>
  ticket === state.ticket && state.shown.status === "asking"
    ? changed(state, { shown: Object.freeze({ ...state.shown, progress }) })
    : state;

/** The same question, its answer shown in another way. @param {State} state @param {Question} question */
export const shownAs = (state, question) => changed(state, { question });

/** @param {State} state @param {number} ticket @param {Answer} answer */
export const answered = (state, ticket, answer) =>
  ticket === state.ticket
    ? changed(state, { shown: Object.freeze({ status: "answered", answer }), problem: null })
    : state;

/** @param {State} state @param {number} ticket @param {Problem} problem */
export const failed = (state, ticket, problem) =>
  ticket === state.ticket ? changed(state, { shown: Object.freeze({ status: "failed", problem }) }) : state;

/** Something failed that is no answer to a question. @param {State} state @param {Problem | null} problem */
export const troubled = (state, problem) => changed(state, { problem });

/**
 * Whether the question should be asked now: there is no answer, or reports have come since.
 *
 * @param {State} state
 */
export function isDue(state) {
  if (state.face !== "results" || !state.overview) return false;
  const { shown } = state;
  if (shown.status === "nothing") return true;
  if (shown.status === "failed") return shown.problem.again;
  return shown.status === "answered" && shown.answer.n !== state.overview.n;
}
