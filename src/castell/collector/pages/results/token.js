// The token lives in this tab's session storage and goes out in the Authorization header only: never
// in an address, never in a cookie. Where the browser keeps nothing for pages, it lives in the page.

// Of this study: another at the same host, under another path, has tokens of its own.
const KEY = `castell-token ${location.pathname}`;

/** @type {string | null} */
let held = null;

/** @template T @param {(storage: Storage) => T} work @returns {T | null} null where storage is blocked */
function stored(work) {
  try {
    return work(sessionStorage);
  } catch {
    return null;
  }
}

/** @returns {string | null} */
export const token = () => held ?? stored((storage) => storage.getItem(KEY));

/** @param {string | null} text */
export function keepToken(text) {
  held = text || null;
  stored((storage) => (text ? storage.setItem(KEY, text) : storage.removeItem(KEY)));
}

/** Whether a reload will find the token again. */
export const isRemembered = () => stored((storage) => storage.length >= 0) === true;
