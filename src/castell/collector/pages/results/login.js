// The form that takes a token.

import { at } from "./dom.js";
import { keepToken } from "./token.js";

/** @param {() => void} enter what comes once a token was given */
export function whenSignedIn(enter) {
  at("login").onsubmit = (event) => {
    event.preventDefault();
    keepToken(at("token").value.trim());
    at("token").value = "";
    enter();
  };
}
