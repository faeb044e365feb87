// What went wrong: from an error to what a person reads.

import { Refused } from "./api.js";
import { at, el } from "./dom.js";

/** @typedef {import("./state.js").Problem} Problem */

/** @param {unknown} error */
export const isExpired = (error) => error instanceof Refused && error.status === 401;

/** Whether a file was refused for what it holds. @param {unknown} error */
export const isBadEstimate = (error) =>
  error instanceof Refused && [400, 409, 413, 422].includes(error.status);

/** An error as a problem: what the collector said, or that it says nothing. @param {unknown} error @returns {Problem} */
export function problemOf(error) {
  if (error instanceof Refused) {
    return { text: error.problem, remedy: error.remedy, again: error.status >= 500 || error.status === 409 };
  }
  if (error instanceof TypeError) {
    return { text: "The collector cannot be reached", remedy: "The page tries again by itself", again: true };
  }
  return { text: error instanceof Error ? error.message : String(error), remedy: "", again: true };
}

/** What went wrong, in the words of who knows. @param {string} id @param {Problem | null} problem */
export function showProblem(id, problem) {
  at(id).hidden = !problem;
  const words = problem ? [el("strong", {}, `${sentence(problem.text)} `), ...withCommands(problem.remedy)] : [];
  at(id).replaceChildren(...words);
}

/** A sentence in which a command, between backquotes, is set as one. @param {string} text */
const withCommands = (text) => sentence(text).split("`").map((part, i) => (i % 2 ? command(part) : part));

/** Its lines break between words, not after the dashes of an option. @param {string} text */
function command(text) {
  const words = text.split(" ").flatMap((word) => [" ", el("span", {}, word)]);
  return el("code", {}, ...words.slice(1));
}

/** Text of the collector as a sentence. @param {string} text */
function sentence(text) {
  const words = text.slice(0, 1).toUpperCase() + text.slice(1);
  return !words || /[.!?]$/.test(words) ? words : `${words}.`;
}
