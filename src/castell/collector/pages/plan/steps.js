// Where the sliders can stand.

const DECADE = [1, 1.5, 2, 3, 5, 7];

/** From a hundred to a million. */
export const PEOPLE = [...[100, 1_000, 10_000, 100_000].flatMap((ten) => DECADE.map((k) => k * ten)), 1_000_000];

export const EPSILONS = [0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12, 16];

/** The steps of epsilon with the study's own among them. @param {number} own */
export const withOwn = (own) => [...new Set([...EPSILONS, own])].sort((a, b) => a - b);

/** The place of the step that is nearest, as a ratio. @param {number[]} steps @param {number} wanted */
export function nearest(steps, wanted) {
  const apart = steps.map((step) => Math.abs(Math.log(step / wanted)));
  return apart.indexOf(Math.min(...apart));
}
