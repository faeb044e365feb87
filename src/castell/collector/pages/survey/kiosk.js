// One device, many people: after each of them the page forgets everything and starts anew. Whoever
// walks away in the middle is asked whether they are still there, and then forgotten as well.

/** @typedef {import("./words.js").Speech} Speech */

// Seconds without a touch or a key: on the last screen, in the middle, and from the question on.
const SENT = 30;
const IDLE = 60;
const WARNED = 30;

const ACTIVITY = ["pointerdown", "pointermove", "keydown", "input", "wheel", "scroll"];

/**
 * @typedef {object} Attended
 * @property {() => "nobody" | "answering" | "busy" | "sent"} where what happens at the device
 * @property {() => Speech["say"]} say in the language of the person
 * @property {() => void} restart forget this person
 */

/**
 * Watch the device for as long as the page is open.
 *
 * @param {Attended} attended
 */
export function attend({ where, say, restart }) {
  let last = performance.now();
  const active = () => {
    last = performance.now();
  };
  for (const kind of ACTIVITY) window.addEventListener(kind, active, { capture: true, passive: true });

  const still = /** @type {HTMLDialogElement} */ (document.getElementById("still"));
  const stay = /** @type {HTMLElement} */ (document.getElementById("stay"));
  stay.addEventListener("click", () => still.close());
  /** @param {string} id @param {"kioskNext" | "kioskStill"} words @param {number} left */
  const count = (id, words, left) => {
    if (left > 0) {
      const place = document.getElementById(id);
      if (place) place.textContent = say()(words, { n: left });
      return;
    }
    active();
    restart();
  };
  window.setInterval(() => {
    const at = where();
    if (at === "nobody" || at === "busy") active();
    const idle = Math.floor((performance.now() - last) / 1000);
    if (at === "sent") count("next", "kioskNext", SENT - idle);
    if (at === "answering" && idle >= IDLE) {
      stay.textContent = say()("kioskStay");
      if (!still.open) still.showModal();
      count("still-text", "kioskStill", IDLE + WARNED - idle);
    }
    if (still.open && performance.now() - last < 1000 * IDLE) still.close();
  }, 1000);

  // A page that the browser puts aside must not come back with what stood on it.
  window.addEventListener("pagehide", () => document.getElementById("page")?.replaceChildren());
  window.addEventListener("pageshow", ({ persisted }) => {
    if (persisted) location.reload();
  });
}
