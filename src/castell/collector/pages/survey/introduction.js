// What is protected, in plain words and with the numbers of this study.

import { attributeNamed } from "../client/study.js";
import { exposures, together } from "./exposure.js";
import { hundredDots, make, spoken, table } from "./parts.js";

/** @typedef {import("../client/study.js").Study} Study */
/** @typedef {import("./survey.js").State} State */
/** @typedef {import("./words.js").Speech} Speech */

// Above this total `castell check` calls the protection weak as well.
const WEAK = 8;

/**
 * What is protected, in plain words and with the numbers of this study.
 *
 * @param {State} state
 * @param {Speech} speech
 */
export function introduction({ person: { study, memo }, asked }, speech) {
  const { say, number, atMost, notProtected } = speech;
  const all = exposures(study, asked).filter(({ right }) => !Number.isNaN(right));
  const worst = all.reduce((a, b) => (b.right - b.chance > a.right - a.chance ? b : a), all[0]);
  const both = together(study, asked);
  const picked = asked.flatMap((index) => study.blocks[index].attributes);
  const factor = Math.exp(study.epsilon);
  const weak = study.epsilon > WEAK;
  return make(
    "section",
    { class: "card protect" },
    make("h2", {}, say("protectTitle")),
    make("p", {}, say("protectLead"), !weak && ` ${say("protectDeny")}`),
    worst && guess(study, worst, speech),
    weak && make("p", { class: "alert" }, say("weak")),
    study.drawn &&
      make("p", {}, say("drawnNote", { asked: picked.length, count: study.attributes.length })),
    !memo.persistent && make("p", { class: "alert" }, say("noMemory")),
    make(
      "details",
      {},
      make("summary", {}, say("more")),
      make("p", {}, say("protectWhy")),
      make(
        "p",
        {},
        say("epsilon", {
          epsilon: atMost(study.epsilon, 2),
          factor: factor < 100 ? atMost(factor, 1) : number(Math.ceil(factor)),
        }),
      ),
      all.length > 0 &&
        table(
          say("guessTitle"),
          [say("tableQuestion"), say("tableRight"), say("tableChance")],
          all.map(({ name, right, chance }) => [
            spoken(speech, speech.question(attributeNamed(study, name))),
            say("of100", { n: number(100 * right, 1) }),
            say("of100", { n: number(100 * chance, 1) }),
          ]),
        ),
      all.length > 1 &&
        !Number.isNaN(both.right) &&
        make(
          "p",
          {},
          say("all", {
            count: all.length,
            right: often(both.right, speech),
            chance: often(both.chance, speech),
          }),
        ),
      memo.persistent && make("p", {}, say("again")),
      make("h3", {}, say("notProtected")),
      make(
        "ul",
        {},
        notProtected.map((item) => make("li", {}, item)),
      ),
    ),
  );
}

/**
 * @param {Study} study
 * @param {import("./exposure.js").Exposure} worst
 * @param {Speech} speech
 */
function guess(study, worst, speech) {
  const { say } = speech;
  const [right, chance] = [Math.ceil(100 * worst.right), Math.round(100 * worst.chance)];
  const fill = { right, chance, more: right - chance, wrong: 100 - right };
  const key = (/** @type {string} */ kind, /** @type {string} */ words) =>
    make("li", { class: kind }, words);
  return make(
    "figure",
    {},
    make(
      "p",
      {},
      say("guess", { ...fill, question: speech.question(attributeNamed(study, worst.name)) }),
    ),
    hundredDots(say("guessPicture", fill), chance, right),
    make(
      "ul",
      { class: "key", "aria-hidden": "true" },
      key("chance", `${chance} ${say("dotsChance")}`),
      key("more", `${right - chance} ${say("dotsMore")}`),
      key("wrong", `${100 - right} ${say("dotsWrong")}`),
    ),
  );
}

/**
 * @param {number} share
 * @param {Speech} speech
 */
function often(share, { say, number }) {
  if (share >= 0.01) return say("oftenOf100", { n: number(100 * share, share < 0.1 ? 1 : 0) });
  return say("onceIn", { n: number(Math.floor(1 / share)) });
}
