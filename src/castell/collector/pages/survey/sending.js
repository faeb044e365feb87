// The last screen before a report leaves, in either order.
//
// A person who may leave after seeing what chance made of their answers biases the results, and may
// tell the truth by leaving. So a report is drawn, sent and only then shown, unless the study asks
// for the other order (review = "before").

import { isSkip } from "../client/attribute.js";
import { riskOf } from "../client/exposure.js";
import { attributeNamed } from "../client/study.js";
import { people } from "./chances.js";
import { reportParts } from "./leaving.js";
import { make, paragraphs, spokenQuestion, spokenValue, table } from "./parts.js";
import { plainIn } from "./plain_answers.js";

/** @typedef {import("../client/ledger.js").Entry} Entry */
/** @typedef {import("./survey.js").State} State */
/** @typedef {import("./words.js").Speech} Speech */
/** @typedef {{send: () => void, back: (() => void) | null}} Acts no way back once it may be there */

/**
 * What will happen, in general: which answers go into the draw, and how well they are hidden. The
 * report is not drawn yet.
 *
 * @param {State} state
 * @param {Speech} speech
 * @param {string} url
 * @param {Entry[]} entries
 * @param {Acts} act
 */
export function confirmScreen(state, speech, url, entries, act) {
  const { say } = speech;
  const { study } = state.person;
  const { each } = riskOf(study, state.asked);
  const plain = plainIn(study, state.answers, speech);
  return make(
    "section",
    { class: "card confirm" },
    make("h2", { tabindex: -1 }, say("confirmTitle")),
    make("p", {}, say("confirmLead")),
    table(
      say("confirmTitle"),
      [say("columnQuestion"), say(plain ? "plainAnswer" : "columnAnswer"), say("columnOthers")],
      [...study.attributes.filter((attribute) => attribute.public), ...each].map((one) => {
        const attribute = attributeNamed(study, one.name);
        const own = attribute.values.indexOf(state.answers[one.name]);
        return [
          spokenQuestion(speech, attribute),
          spokenValue(speech, attribute, own),
          isSkip(attribute, own)
            ? say("skipSent")
            : "guess" in one
              ? say("someOf", people(speech, 1 - one.guess.right))
              : say("publicSent"),
        ];
      }),
    ),
    make("p", {}, say(plain ? "plainBody" : "confirmBody", { url, questions: plain })),
    make("p", {}, say("confirmWhy")),
    cost(state, speech, entries),
    consent(state, speech),
    actions(state, speech, act),
  );
}

/**
 * What would leave, drawn already: only for a study that wants it so.
 *
 * @param {State} state
 * @param {Speech} speech
 * @param {string} url
 * @param {Entry[]} entries
 * @param {Acts} act
 */
export function reviewScreen(state, speech, url, entries, act) {
  const { say } = speech;
  return make(
    "section",
    { class: "card review" },
    make("h2", { tabindex: -1 }, say("reviewTitle")),
    make("p", {}, say("reviewLead")),
    make("p", { class: "alert" }, say("reviewWarning")),
    reportParts(state, speech, url, false),
    cost(state, speech, entries),
    consent(state, speech),
    actions(state, speech, act),
  );
}

/**
 * @param {State} state
 * @param {Speech} speech
 * @param {Entry[]} entries
 */
function cost({ person: { study } }, { say, atMost }, entries) {
  const stands = entries.some(({ digest }) => study.digests.includes(digest));
  const epsilon = atMost(study.epsilon, 2);
  return make("p", {}, stands ? say("stands") : say("cost", { epsilon }));
}

/**
 * What the owner of the study wants agreed to, with a box to tick; nothing if that is nothing.
 *
 * @param {State} state
 * @param {Speech} speech
 */
function consent(state, speech) {
  const { say } = speech;
  const text = paragraphs("consent", speech.told(state.person.study, "consent"));
  if (!text) return null;
  const tick = (/** @type {Event} */ event) => {
    state.agreed = /** @type {HTMLInputElement} */ (event.target).checked;
  };
  return make(
    "div",
    { class: "agreement" },
    make("h3", {}, say("consentTitle")),
    text,
    make("p", { class: "error", id: "agree-error" }),
    make(
      "label",
      { class: "choice" },
      make("input", {
        type: "checkbox",
        id: "agree",
        checked: state.agreed,
        change: tick,
        "aria-describedby": "agree-error",
        autocomplete: "off",
      }),
      make("span", {}, say("consentAgree")),
    ),
  );
}

/**
 * @param {State} state
 * @param {Speech} speech
 * @param {Acts} act
 */
function actions({ failure }, { say }, act) {
  const send = () => {
    const box = /** @type {HTMLInputElement | null} */ (document.getElementById("agree"));
    if (!box || box.checked) {
      act.send();
      return;
    }
    /** @type {HTMLElement} */ (document.getElementById("agree-error")).textContent =
      say("consentMissing");
    box.setAttribute("aria-invalid", "true");
    box.focus();
  };
  return make(
    "div",
    { class: "actions" },
    make(
      "button",
      { type: "button", class: "main", id: "send", click: send },
      say(failure ? "retry" : "send"),
    ),
    act.back && make("button", { type: "button", class: "plain", click: act.back }, say("back")),
  );
}
