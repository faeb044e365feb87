// What is protected, in plain words and with the numbers of this study: those of the person who is
// asked here first, because whoever sees the report sees what was asked.

import { riskOf } from "../client/exposure.js";
import { attributeNamed } from "../client/study.js";
import { factor, lessThanOnceIn, ofHundred, people } from "./chances.js";
import { make } from "./parts.js";
import { hundredDots, wheel } from "./pictures.js";
import { draw, risks, together } from "./risks.js";

/** @typedef {import("../client/study.js").Study} Study */
/** @typedef {import("./survey.js").State} State */
/** @typedef {import("./words.js").Speech} Speech */
/** @typedef {import("./risks.js").Risk} Risk */

// `castell check` calls a guess that is wrong less than once in ten weak protection as well.
const WEAK = 0.9;

/**
 * @param {State} state
 * @param {Speech} speech
 */
export function introduction({ person: { study, store }, asked, setting }, speech) {
  const { say } = speech;
  const { each, chance, right } = riskOf(study, asked);
  const likeliest = each.reduce((a, b) => (b.guess.right > a.guess.right ? b : a));
  const worst = each.reduce((a, b) => (b.guess.worst > a.guess.worst ? b : a));
  const weak = worst.guess.worst > WEAK;
  const drawn = study.drawn && study.weights.length > 1;
  const known = study.attributes.filter((attribute) => attribute.public);
  const shown = known.map((attribute) => `“${speech.question(attribute)}”`);
  const groups = study.blocks[asked[0]].channel.coarse?.leaves.length; // it is reported by itself
  return make(
    "section",
    { class: "card protect" },
    make("h2", {}, say(weak ? "protectTitleWeak" : "protectTitle")),
    make("p", {}, groups ? say("groupLead", { groups }) : say("protectLead")),
    headline(study, likeliest, each.length > 1, speech),
    weak && make("p", { class: "alert" }, weakness(study, worst, speech)),
    drawn &&
      make("p", {}, say("drawnNote", { asked: each.length + known.length, count: study.attributes.length })),
    shown.length > 0 && make("p", { class: "alert" }, say("publicNote", { questions: shown.join(", ") })),
    study.promise && make("p", {}, staged(study.promise, speech)),
    memory(setting.preview || store.persistent, setting.kiosk, speech),
    details(
      say("more"),
      [
        turned(likeliest, speech),
        make("p", {}, !weak && `${say("protectUnsure")} `, say("protectWhy")),
        guesses(study, likeliest, each.length > 1, speech),
        make("p", {}, epsilon(study, speech)),
        risks(study, each, speech),
        make("p", {}, say("guessNote")),
        each.length > 1 && make("p", {}, say("all", together(each.length, right, chance, speech))),
      ],
      () => (drawn ? draw(study, speech) : []),
      [
        (setting.preview || store.persistent) && make("p", {}, say("again")),
        make("h3", {}, say("notProtected")),
        make(
          "ul",
          {},
          speech.notProtected.map((item) => make("li", {}, item)),
        ),
      ],
    ),
  );
}

/**
 * That earlier reports decide how later people are asked.
 *
 * @param {import("../client/promise.js").Promised} promise
 * @param {Speech} speech
 */
function staged({ stage, epsilon }, { say, atMost }) {
  return say(stage > 1 ? "stagedLater" : "stagedFirst", { epsilon: atMost(Number(epsilon), 2) });
}

/**
 * What a device does not keep, where that matters to a person.
 *
 * @param {boolean} kept
 * @param {boolean} kiosk
 * @param {Speech} speech
 */
function memory(kept, kiosk, { say }) {
  if (kiosk) return make("p", {}, say("kioskNote"));
  return !kept && make("p", { class: "alert" }, say("noMemory"));
}

/**
 * What is shown on request; its middle is made when it is first opened.
 *
 * @param {string} title
 * @param {import("./parts.js").Child[]} first
 * @param {() => HTMLElement[]} later
 * @param {import("./parts.js").Child[]} last
 */
function details(title, first, later, last) {
  const middle = make("div", { class: "later" });
  const open = () => {
    if (!middle.hasChildNodes()) middle.append(...later());
  };
  return make("details", { toggle: open }, make("summary", {}, title), first, middle, last);
}

/**
 * What is said first, in whole people: how many who send the same mean something else.
 *
 * @param {Study} study
 * @param {Risk} likeliest
 * @param {boolean} several
 * @param {Speech} speech
 */
function headline(study, { name, guess }, several, speech) {
  const { say } = speech;
  const question = speech.question(attributeNamed(study, name));
  const fill = { ...people(speech, 1 - guess.right), question };
  const filled = Math.ceil(100 * guess.right - 1e-9);
  return make(
    "figure",
    {},
    make("p", {}, say(several ? "peopleMost" : "people", fill)),
    // No dot too few is filled.
    hundredDots(say("peoplePicture", fill), filled, filled),
  );
}

/**
 * How chance hides an answer, as a wheel of the sizes it has here.
 *
 * @param {Risk} likeliest
 * @param {Speech} speech
 */
function turned({ guess }, speech) {
  const { say } = speech;
  const right = rounded(guess.right);
  const fill = {
    right: ofHundred(speech, guess.right),
    wrong: ofHundred(speech, 1 - (right < 1 ? right : guess.right)),
  };
  return make(
    "figure",
    { class: "turned" },
    wheel(say("wheelPicture", fill), guess.right),
    make("p", {}, say("wheel", fill)),
  );
}

/**
 * The exact numbers of the same, beside a blind guess.
 *
 * @param {Study} study
 * @param {Risk} likeliest
 * @param {boolean} several
 * @param {Speech} speech
 */
function guesses(study, { name, chance, guess }, several, speech) {
  const { say } = speech;
  const right = rounded(guess.right);
  const fill = {
    right: ofHundred(speech, guess.right),
    chance: ofHundred(speech, chance),
    more: ofHundred(speech, right - rounded(chance)),
    wrong: ofHundred(speech, 1 - (right < 1 ? right : guess.right)),
  };
  const question = speech.question(attributeNamed(study, name));
  const key = (/** @type {string} */ kind, /** @type {string} */ words) =>
    make("li", { class: kind }, words);
  return make(
    "figure",
    {},
    make("p", {}, say("guess", { ...fill, question }), several && ` ${say("guessMost")}`),
    hundredDots(say("guessPicture", fill), Math.round(100 * chance), Math.ceil(100 * guess.right)),
    make(
      "ul",
      { class: "key", "aria-hidden": "true" },
      key("chance", `${fill.chance} ${say("dotsChance")}`),
      key("more", `${fill.more} ${say("dotsMore")}`),
      key("wrong", `${fill.wrong} ${say("dotsWrong")}`),
    ),
  );
}

/** @param {number} chance to a tenth of a percent, so that what is shown adds up */
function rounded(chance) {
  return Math.floor(1000 * chance + 0.5) / 1000;
}

/**
 * @param {Study} study
 * @param {Risk} worst
 * @param {Speech} speech
 */
function weakness(study, { name, guess }, speech) {
  const times = speech.number(lessThanOnceIn(1 - guess.worst));
  return speech.say("weak", { question: speech.question(attributeNamed(study, name)), times });
}

/**
 * @param {Study} study
 * @param {Speech} speech
 */
function epsilon(study, speech) {
  return speech.say("epsilon", {
    epsilon: speech.atMost(study.epsilon, 2),
    factor: factor(speech, study.epsilon),
  });
}
