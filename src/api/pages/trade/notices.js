// What the trade page says beside its parts.

import { byId, element } from "../shared/page.js";

/** What to do, where the message of the service does not say it. */
const REMEDIES = {
  AUTH_ERROR: "Disconnect, and connect the wallet again. The history shows whether a trade was made.",
  TOKEN_NOT_FOUND: "Check the mint; a new one appears within a second or two.",
  UNSUPPORTED_TOKEN_EXTENSION: "Choose another token.",
  SLIPPAGE_EXCEEDED: "Allow more slippage, or trade a smaller amount, and build again.",
  TX_EXPIRED: "Build again.",
  INSUFFICIENT_SOL: "Add SOL to the wallet, or trade a smaller amount, and build again.",
  INSUFFICIENT_TOKEN_BALANCE: "Choose a smaller amount and build again.",
  INSUFFICIENT_LIQUIDITY: "Choose a smaller amount and build again.",
  NO_ROUTE: "Choose another token or amount, or try again later.",
  PROGRAM_ERROR: "Build again: the market has changed.",
  INVALID_SIGNATURE: "Choose the account shown above in the wallet, and build again.",
  INVALID_SUBMISSION_TOKEN: "Build again.",
  OUTCOME_UNKNOWN: "Look at your balances or at an explorer before you trade again.",
};

/** Shows words in a notice of the page. @param kind `good`, `bad` or nothing */
export function say(where, words, kind = "") {
  byId(where).className = `notice ${kind}`;
  byId(where).textContent = words;
}

/** Shows what failed, what to do about it, and where its code is explained. */
export function sayFailure(where, { code, message, safeToRebuild, docUrl }) {
  // An expiry of what was submitted here alone: its message says what to look at first.
  const remedy = code === "TX_EXPIRED" && safeToRebuild === false ? undefined : REMEDIES[code];
  say(where, [message, remedy].filter((words) => words !== undefined).join(" "), "bad");
  if (docUrl !== undefined) byId(where).append(" ", element("a", { href: docUrl }, `What ${code} means`));
}
