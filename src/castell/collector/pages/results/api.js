// What the page asks the collector. The token lives in this tab's session storage and goes out in
// the Authorization header only: never in an address, never in a cookie.

const KEY = "castell-token";

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

/** @returns {string | null} */
export const token = () => sessionStorage.getItem(KEY);

/** @param {string | null} text */
export function keepToken(text) {
  if (text) sessionStorage.setItem(KEY, text);
  else sessionStorage.removeItem(KEY);
}

/** @param {string} path @param {URLSearchParams} [asked] @param {AbortSignal} [signal] */
async function get(path, asked, signal) {
  const query = asked && asked.size ? `?${asked}` : "";
  const answer = await fetch(`/results/api/${path}${query}`, {
    headers: { authorization: `Bearer ${token() ?? ""}` },
    credentials: "omit",
    cache: "no-store",
    signal,
  });
  if (answer.ok) return answer;
  const said = await answer.json().catch(() => ({}));
  throw new Refused(answer.status, said.error ?? "The collector gave no answer", said.remedy ?? "");
}

export const overview = async () => (await get("overview")).json();

/** @param {URLSearchParams} asked @param {AbortSignal} signal */
export const estimate = async (asked, signal) => (await get("estimate", asked, signal)).json();

/** @param {URLSearchParams} asked @param {string} format */
export async function file(asked, format) {
  const answer = await get("download", new URLSearchParams([...asked, ["format", format]]));
  const named = /filename="([^"]+)"/.exec(answer.headers.get("content-disposition") ?? "");
  return { name: named?.[1] ?? `table.${format}`, blob: await answer.blob() };
}
