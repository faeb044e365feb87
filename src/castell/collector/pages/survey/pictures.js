// Pictures of chance, each with its text. They are made of elements: the page's policy allows no
// inline style, and what moves is in survey.css, where it stands still for who asks for that.

const SVG = "http://www.w3.org/2000/svg";

/**
 * @param {string} tag
 * @param {{[attribute: string]: string | number}} attributes
 * @param {...Element} children
 * @returns {SVGElement}
 */
function draw(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/**
 * A hundred dots: the first `chance` of one kind, those up to `right` of another, the rest empty.
 *
 * @param {string} label
 * @param {number} chance
 * @param {number} right
 * @returns {SVGElement}
 */
export function hundredDots(label, chance, right) {
  const dots = Array.from({ length: 100 }, (_, i) =>
    draw("circle", {
      cx: 5 + 10 * Math.floor(i / 5),
      cy: 5 + 10 * (i % 5),
      r: 3.6,
      class: i < chance ? "chance" : i < right ? "more" : "wrong",
    }),
  );
  return draw("svg", { viewBox: "0 0 200 50", role: "img", "aria-label": label, class: "dots" }, ...dots);
}

/**
 * A wheel with a hand, as in a game of chance: one part of it is as large as `share`.
 *
 * @param {string} label
 * @param {number} share
 * @returns {SVGElement}
 */
export function wheel(label, share) {
  const end = 2 * Math.PI * Math.min(share, 0.9999); // a whole circle has no two ends to draw between
  const large = share > 0.5 ? 1 : 0;
  const [x, y] = [40 * Math.sin(end), -40 * Math.cos(end)];
  // The hand stops in the middle of the other part: what was sent is not the answer.
  const stop = 180 * (1 + share);
  return draw(
    "svg",
    { viewBox: "-50 -50 100 100", role: "img", "aria-label": label, class: "wheel" },
    draw("circle", { r: 40, class: "other" }),
    draw("path", { d: `M0 0 L0 -40 A40 40 0 ${large} 1 ${x} ${y} Z`, class: "own" }),
    draw(
      "g",
      { transform: `rotate(${stop})` },
      draw("path", { d: "M-3.5 8 L0 -34 L3.5 8 Z", class: "hand" }),
    ),
    draw("circle", { r: 4.5, class: "hub" }),
  );
}
