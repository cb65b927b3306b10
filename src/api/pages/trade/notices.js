// What the trade page says beside its parts.

import { byId } from "../shared/page.js";

/** Shows words in a notice of the page. @param kind `good`, `bad` or nothing */
export function say(where, words, kind = "") {
  byId(where).className = `notice ${kind}`;
  byId(where).textContent = words;
}
