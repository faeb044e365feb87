// The token lives in this tab's session storage and goes out in the Authorization header only: never
// in an address, never in a cookie. Where the browser keeps nothing for pages, it lives in the page.

// Of this study's pages: another at the same host, under another path, has tokens of its own.
const KEY = `castell-token ${new URL(".", location.href).pathname}`;

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

/** What the address says behind the #, which no server ever sees. */
export const address = () => new URLSearchParams(location.hash.slice(1));

/** A link may bring the token behind the #; it does not stay there. */
export function takeToken() {
  const given = address();
  const brought = given.get("token");
  if (!brought) return false;
  keepToken(brought);
  given.delete("token");
  history.replaceState(null, "", given.size ? `#${given}` : location.pathname);
  return true;
}
