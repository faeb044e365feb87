// What the page asks the collector.

import { token } from "./token.js";

/**
 * A Vega-Lite description, as the collector made it.
 *
 * @typedef {{[key: string]: any}} Spec
 */

/**
 * @typedef {object} Attribute
 * @property {string} name
 * @property {string} question
 * @property {string[]} values
 */

/**
 * What is public about the study anyway.
 *
 * @typedef {object} Study
 * @property {string} title
 * @property {string} digest
 * @property {number} epsilon
 * @property {string[]} public attributes that epsilon does not cover
 * @property {Attribute[]} attributes
 */

/**
 * What there is to ask about, and how many reports are in; the timeline only once it is ready.
 *
 * @typedef {object} Overview
 * @property {boolean} ready
 * @property {number} n
 * @property {number} minimum
 * @property {"owner" | "analyst"} role what whoever asks may do
 * @property {number} release_hours hours between two releases; 0 where results come as reports do
 * @property {string | null} next_release when results can next change, where that goes by the clock
 * @property {boolean} over whether the study has ended, and results change no more
 * @property {Study} study
 * @property {{stage: number, n: number, sets: number}[]} stages of a study that promises some
 * @property {{name: string, about: string}[]} methods
 * @property {string} method
 * @property {string[]} posts
 * @property {string[]} charts
 * @property {boolean} [secure]
 * @property {{hour: string, reports: number}[]} [timeline]
 * @property {Spec | null} [timeline_spec]
 * @property {string | null} [chart_problem]
 */

/**
 * @typedef {object} Signal
 * @property {string} key
 * @property {string} title
 * @property {"fine" | "look" | "unknown"} state
 * @property {string} value
 * @property {string} text
 * @property {string} method
 */

/**
 * A row of the table: the values of its attributes, then share, standard error, and interval; null
 * where nothing is known.
 *
 * @typedef {(string | number | null)[]} Cell
 */

/**
 * A number, or one of the values where these are no numbers; null where nothing is known.
 *
 * @typedef {number | string | null} Value
 */

/**
 * Shares of those who answered, and what is left open for everybody.
 *
 * @typedef {object} Shares
 * @property {string[]} values
 * @property {(number | null)[]} probabilities
 * @property {(number | null)[]} lower
 * @property {(number | null)[]} upper
 * @property {(number | null)[]} bounds_lower
 * @property {(number | null)[]} bounds_upper
 */

/**
 * What stands beside the table of one attribute: the library's own answers, of everybody or of those
 * with some values of others.
 *
 * @typedef {object} Summary
 * @property {string} attribute
 * @property {{[name: string]: string[]}} given
 * @property {string} unit
 * @property {{mean: Value, lower: Value, upper: Value, bounds: Value[], noise_lower: Value, noise_upper: Value} | null} mean
 * @property {string | null} no_mean why there is none, where one would be looked for
 * @property {{q: number, value: Value, label: string, lower: Value, upper: Value}[]} quantiles
 * @property {Shares | null} answered
 * @property {{probability: number | null, lower: number | null, upper: number | null} | null} no_answer their share
 * @property {{probability: number | null, lower: number | null, upper: number | null} | null} having share with any, of a key-value question
 */

/**
 * @typedef {object} Answer
 * @property {string[]} attributes
 * @property {string[]} labels what the attributes are called: their questions
 * @property {string[][]} values
 * @property {string | null} [within]
 * @property {{[name: string]: string[]}} [given]
 * @property {string} sentence what all signals say together
 * @property {string} method
 * @property {number} level
 * @property {number} n
 * @property {number} epsilon_of_these
 * @property {Cell[]} cells
 * @property {string} verdict
 * @property {string} post how negative cells were mended
 * @property {Summary[]} summaries of a table of one attribute; of others none
 * @property {string} summaries_left_out what is not summarized, and how it is had; or nothing
 * @property {string[]} notes
 * @property {Signal[]} signals
 * @property {string | null} [sums] that these shares need not add up, where they need not
 * @property {Picture[]} pictures the chart, the widest first; none where none can be drawn
 * @property {string | null} chart_problem
 */

/**
 * A chart laid out for so many pixels across, and what must be said about it.
 *
 * @typedef {{room: number, kind: string, said: string, spec: Spec}} Picture
 */

/**
 * How far a question has come: how many are before it, for how many seconds it has been worked on,
 * and how many the last one to its method took.
 *
 * @typedef {{ahead: number | null, seconds: number | null, usual: number | null}} Progress
 */

/** An answer that was no: what is wrong and what to do, as the collector put it. */
export class Refused extends Error {
  /** @param {number} status @param {string} problem @param {string} remedy */
  constructor(status, problem, remedy) {
    super(remedy ? `${problem}: ${remedy}` : problem);
    this.status = status;
    this.problem = problem;
    this.remedy = remedy;
  }
}

/** @param {string} path @param {URLSearchParams} [asked] @param {AbortSignal} [signal] @param {string} [body] JSON to send with it */
async function get(path, asked, signal, body) {
  const query = asked && asked.size ? `?${asked}` : "";
  // As seen from the page: a proxy may have put the collector below a path of its own.
  const answer = await fetch(`results/api/${path}${query}`, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      authorization: `Bearer ${token() ?? ""}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    body,
    credentials: "omit",
    cache: "no-store",
    signal,
  });
  if (answer.ok) return answer;
  const said = await answer.json().catch(() => ({}));
  throw new Refused(
    answer.status,
    said.error ?? "The collector could not answer this",
    said.remedy ?? "The page tries again by itself; if it stays so, the collector's log says why",
  );
}

/** @param {AbortSignal} signal @returns {Promise<Overview>} */
export const overview = async (signal) => (await get("overview", undefined, signal)).json();

/** @param {URLSearchParams} asked @param {AbortSignal} signal @returns {Promise<Answer>} */
export const estimate = async (asked, signal) => (await get("estimate", asked, signal)).json();

/** @param {URLSearchParams} asked @param {AbortSignal} signal @returns {Promise<Progress>} */
export const progress = async (asked, signal) => (await get("progress", asked, signal)).json();

/** @param {URLSearchParams} asked @param {string} format */
export async function file(asked, format) {
  const answer = await get("download", new URLSearchParams([...asked, ["format", format]]));
  const named = /filename="([^"]+)"/.exec(answer.headers.get("content-disposition") ?? "");
  return { name: named?.[1] ?? `table.${format}`, blob: await answer.blob() };
}

/**
 * A plan of the study: `castell plan --json`, and the same as a table, sentences and pictures.
 *
 * @typedef {object} Planned
 * @property {string} title
 * @property {number} own_epsilon what the study has a respondent spend
 * @property {{n: number, epsilon: number, design: string, reason: string}} plan
 * @property {string[]} facts
 * @property {string[][]} table titles first
 * @property {string[]} notes
 * @property {{room: number, spec: Spec}[]} pictures the widest first; none where none can be drawn
 * @property {string | null} chart_problem
 */

/** @param {URLSearchParams} asked @param {AbortSignal} signal @param {string} [like] an earlier estimate, as JSON @returns {Promise<Planned>} */
export const plan = async (asked, signal, like) => (await get("plan", asked, signal, like)).json();
