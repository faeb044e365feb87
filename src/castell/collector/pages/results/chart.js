// Charts: Vega-Lite descriptions from the collector, drawn by the Vega that it serves.
//
// `ast: true` has Vega interpret its expressions instead of compiling them, which is what lets the
// page do without 'unsafe-eval'; its own style sheets stay out, since they would be inline.

import { el } from "./dom.js";

/** @typedef {import("./api.js").Spec} Spec */

/**
 * The little that is used of vega-embed.
 *
 * @typedef {{view: {toCanvas(scale: number): Promise<HTMLCanvasElement>}, finalize(): void}} Embedded
 * @typedef {(place: HTMLElement, spec: Spec, options: object) => Promise<Embedded>} Embed
 */

const VEGA = new URL("results/vega.js", document.baseURI).href;
const PADDING = 2;
// What fits a sheet of paper with its words no smaller than on the screen.
const WIDEST = 760;
const OPTIONS = {
  ast: true,
  actions: false,
  renderer: "svg",
  defaultStyle: false,
  tooltip: { disableDefaultStyle: true },
};

/** @type {Promise<unknown> | undefined} */
let loading;

/** Vega is large, so it comes after the page does, and once. @returns {Promise<Embed>} */
async function vega() {
  loading ??= import(VEGA);
  await loading;
  return /** @type {any} */ (window).vegaEmbed;
}

/**
 * What a place shows, or is about to.
 *
 * @type {WeakMap<Element, {embedded?: Embedded}>}
 */
const places = new WeakMap();

/**
 * Draws a chart beside the page and puts it in its place, unless the place has been given to
 * something else meanwhile.
 *
 * @param {HTMLElement} place
 * @param {Spec} spec
 * @param {string} label the chart in a sentence, for those who do not see it
 */
export async function draw(place, spec, label) {
  /** @type {{embedded?: Embedded}} */
  const mine = {};
  const before = places.get(place);
  places.set(place, mine);
  const isMine = () => places.get(place) === mine;
  try {
    const embed = await vega();
    if (!isMine()) return;
    const made = fitted(spec, place.clientWidth);
    made.description = label;
    const aside = el("div");
    mine.embedded = await embed(aside, made, OPTIONS);
    if (!isMine()) return mine.embedded.finalize();
    place.setAttribute("aria-label", label);
    place.replaceChildren(aside);
  } catch (error) {
    if (isMine()) clear(place, error instanceof Error ? error.message : String(error));
  } finally {
    before?.embedded?.finalize();
  }
}

/** Empties a place, or says why it has no chart. @param {HTMLElement} place @param {string | null} [problem] */
export function clear(place, problem) {
  places.get(place)?.embedded?.finalize();
  places.set(place, {});
  const words = problem ? `No chart: ${problem}` : "";
  place.setAttribute("aria-label", words || "No chart yet");
  place.replaceChildren(...(words ? [el("p", { class: "chart-missing" }, words)] : []));
}

/**
 * The picture as a file: the description as it is, with its title, sharp enough to print.
 *
 * @param {Spec} spec
 * @returns {Promise<Blob>}
 */
export async function png(spec) {
  const embed = await vega();
  const aside = el("div");
  const { view, finalize } = await embed(aside, spec, { ...OPTIONS, renderer: "canvas" });
  const canvas = await view.toCanvas(2);
  finalize();
  return new Promise((done, failed) =>
    canvas.toBlob(
      (blob) => (blob ? done(blob) : failed(new Error("No picture: it is too large for this browser"))),
      "image/png",
    ),
  );
}

/**
 * The widest picture that there is room for, or the narrowest.
 *
 * @template {{room: number}} Laid
 * @param {Laid[]} pictures the widest first
 * @param {number} room in pixels
 * @returns {Laid | undefined}
 */
export const pictureFor = (pictures, room) => pictures.find((picture) => picture.room <= room) ?? pictures.at(-1);

/**
 * A description made for print, stretched to the room there is. The page has its own title.
 *
 * @param {Spec} spec
 * @param {number} room in pixels
 * @returns {Spec}
 */
export function fitted(spec, room) {
  const made = structuredClone(spec);
  delete made.title;
  // The page's own ground shows through, light or dark.
  made.config = { ...made.config, background: "transparent" };
  made.padding = PADDING;
  if (made.layer) {
    // Laid out in pixels: words keep their size, all else moves apart. Less room scales the whole.
    made.width = Math.max(made.width, Math.min(room, WIDEST) - 2 * PADDING);
  } else {
    made.width = room;
    made.autosize = { type: "fit", contains: "padding" };
    made.height += 40;
    made.config.axis = { ...made.config.axis, labelFontSize: 12, titleFontSize: 12 };
  }
  return made;
}
