// Charts: Vega-Lite descriptions from the collector, drawn by the Vega that it serves.
//
// `ast: true` has Vega interpret its expressions instead of compiling them, which is what lets the
// page do without 'unsafe-eval'; its own style sheets stay out, since they would be inline.

import { el } from "./dom.js";

/** @typedef {import("./api.js").Spec} Spec */

/**
 * How many cells lie side by side, and how many below each other.
 *
 * @typedef {{across: number, rows: number}} Shape
 */

/**
 * The little that is used of vega-embed.
 *
 * @typedef {{view: {toCanvas(scale: number): Promise<HTMLCanvasElement>}, finalize(): void}} Embedded
 * @typedef {(place: HTMLElement, spec: Spec, options: object) => Promise<Embedded>} Embed
 */

const VEGA = "../../results/vega.js"; // as seen from this file
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
 * @param {Shape} [shape]
 */
export async function draw(place, spec, label, shape = { across: 1, rows: 1 }) {
  /** @type {{embedded?: Embedded}} */
  const mine = {};
  const before = places.get(place);
  places.set(place, mine);
  const isMine = () => places.get(place) === mine;
  try {
    const embed = await vega();
    if (!isMine()) return;
    const made = fitted(spec, place.clientWidth, shape);
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
 * A description made for print, changed to fit the room there is. The page has its own title.
 *
 * @param {Spec} spec
 * @param {number} room in pixels
 * @param {Shape} shape
 * @returns {Spec}
 */
export function fitted(spec, room, shape) {
  const made = structuredClone(spec);
  delete made.title;
  made.padding = 4;
  const narrow = room < 560;
  // The page's own ground shows through, light or dark.
  const config = (made.config = { ...made.config, background: "transparent" });
  config.legend = { labelFontSize: 12, ...config.legend, ...(narrow && { orient: "bottom" }) };
  config.axis = { ...config.axis, labelFontSize: 12, titleFontSize: 12 };
  config.header = { labelFontSize: 12, titleFontSize: 12, ...config.header };
  const view = made.spec ?? made;
  const across = sortOf(view, "x")?.length ?? shape.across;
  const label = labelled(view, narrow ? 16 : 30);
  if (made.facet) {
    const labels = view.width?.step ? label.pixels + 40 : 96;
    const beside = narrow ? 0 : 90;
    const natural = view.width?.step ? across * 44 : 190;
    const fits = Math.floor((room - beside) / (natural + labels));
    made.columns = Math.max(1, Math.min(made.columns, fits));
    resize(view, (room - beside) / made.columns - labels, across, 80, label.lines);
  } else if (made.width?.step) {
    resize(made, room - label.pixels - (narrow ? 44 : 124), across, 150, label.lines);
  } else if (made.height?.step || made.encoding) {
    made.width = room;
    made.autosize = { type: "fit", contains: "padding" };
    // Only a height in numbers can be fitted: the rows, and the axis below them.
    if (made.height?.step) made.height = Math.max(made.height.step, 15 * label.lines) * shape.rows + 50;
    else made.height += 40;
  } else {
    resize(made, room - 96, across, 150);
  }
  return made;
}

/** The values along an axis, in order. @param {Spec} view @param {"x" | "y"} axis @returns {string[] | undefined} */
function sortOf(view, axis) {
  const found = (view.layer ?? []).map((/** @type {Spec} */ layer) => layer.encoding?.[axis]?.sort);
  return found.find(Array.isArray);
}

/**
 * Long names of rows, broken into lines; how many pixels wide and how many lines high they are then.
 *
 * @param {Spec} view
 * @param {number} most letters of a line
 */
function labelled(view, most) {
  const longest = Math.max(0, ...(sortOf(view, "y") ?? []).map((text) => text.length));
  const lines = Math.min(3, Math.ceil(longest / most));
  // Vega breaks no lines itself, but takes a list of them.
  const broken = `trim(replace(datum.label, regexp('(.{1,${most}})(\\\\s+|$)', 'g'), '$1\\n'))`;
  for (const { encoding } of view.layer ?? []) {
    if (!Array.isArray(encoding?.y?.sort) || longest <= most) continue;
    encoding.y.axis = {
      ...encoding.y.axis,
      labelExpr: `slice(split(${broken}, '\\n'), 0, 3)`,
      labelLimit: 8 * most,
      labelBaseline: "middle",
    };
  }
  return { pixels: 7 * Math.min(longest, most) + 12, lines };
}

/**
 * A heat map by its steps, or a mosaic by its side.
 *
 * @param {Spec} view
 * @param {number} room
 * @param {number} across
 * @param {number} most the widest step
 * @param {number} [lines] of the longest name of a row
 */
function resize(view, room, across, most, lines = 1) {
  if (!view.width?.step) {
    // Areas stay shares in a rectangle that is no square.
    view.width = Math.min(640, room);
    view.height = Math.min(430, room);
    if (room >= 280) larger(view);
    return;
  }
  const step = Math.max(42, Math.min(most, room / across));
  view.width = { step };
  view.height = { step: Math.max(step < 90 ? 38 : 58, 15 * lines + 6) };
  if (step >= 90) larger(view);
}

/** Roomy cells take larger words, and their names lie flat. @param {Spec} view */
function larger(view) {
  for (const { mark, encoding } of view.layer) {
    if (mark?.type === "text") {
      Object.assign(mark, { fontSize: mark.fontSize * 1.25, dy: (mark.dy ?? 0) * 1.35 });
    }
    if (encoding?.x?.axis) encoding.x.axis.labelAngle = 0;
  }
}
