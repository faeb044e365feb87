// What can go wrong, each with what to do about it. `kind` is for programs and translations.

/**
 * @typedef {"study" | "changed" | "answer" | "report" | "stands" | "network" | "refused"
 *   | "invitation" | "closed" | "device"} Kind
 */

export class Refusal extends Error {
  /**
   * @param {Kind} kind
   * @param {string} problem what is wrong
   * @param {string} remedy what to do
   */
  constructor(kind, problem, remedy) {
    super(`${problem}: ${remedy}`);
    this.name = "Refusal";
    this.kind = kind;
    this.problem = problem;
    this.remedy = remedy;
  }
}
