// Canonical JSON and its digest, byte for byte as Python makes them: keys sorted by code point, no
// spaces, nothing escaped that need not be.

/**
 * @param {any} value what JSON can hold, whole numbers only
 * @returns {string}
 */
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value !== null && typeof value === "object") {
    const keys = Object.keys(value).sort(byCodePoint);
    return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
  }
  return JSON.stringify(value);
}

/**
 * JavaScript sorts texts by UTF-16 units, which puts what lies beyond U+FFFF before U+E000.
 *
 * @param {string} a
 * @param {string} b
 * @returns {number}
 */
function byCodePoint(a, b) {
  const left = Array.from(a, codePoint);
  const right = Array.from(b, codePoint);
  for (let i = 0; i < Math.min(left.length, right.length); i += 1) {
    if (left[i] !== right[i]) return left[i] - right[i];
  }
  return left.length - right.length;
}

/** @param {string} character */
function codePoint(character) {
  return /** @type {number} */ (character.codePointAt(0));
}

/**
 * @param {string} text
 * @returns {Promise<string>} SHA-256 of the text in UTF-8, in hexadecimal
 */
export async function sha256(text) {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
