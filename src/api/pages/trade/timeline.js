// The events of a trade as they come, in words.

import { byId, element } from "../shared/page.js";

const WORDS = {
  sent: ({ lane }) => `Sent to ${lane}`,
  refused: ({ lane, reason }) => `${lane} did not accept it (${reason}); the others go on`,
  processed: ({ slot }) => `Seen in slot ${slot}`,
  confirmed: () => "Confirmed",
  finalized: () => "Final",
};

/** What `cause` of a diagnosis means. */
const CAUSES = {
  submitted_late: "it was signed and submitted too late",
  blockhash_old: "its blockhash was old when it was built",
  senders_refused: "no sender accepted it",
  senders_late: "the senders accepted it late",
  insufficient_sol: "its wallet could not pay the fees",
  priority_low: "its priority fee was too low for the chain",
  contention: "its priority fee was too low for its accounts",
  dropped_block: "the chain dropped a block that had it",
  slots_skipped: "leaders skipped their slots",
  unknown: "The cause is not known",
};

export class Timeline {
  #list;
  #startedMs;
  #waiting;
  /** Events shown: a stream that is opened again begins with those before. */
  #shown = new Set();

  /** Takes the place of the timeline before it, which goes on unseen. @param startedMs when the build began. Epoch milliseconds */
  constructor(startedMs) {
    this.#startedMs = startedMs;
    this.#list = byId("timeline").cloneNode(false);
    byId("timeline").replaceWith(this.#list);
  }

  /** False once another trade is shown. */
  get isShown() {
    return this.#list.isConnected;
  }

  add(words, atMs = Date.now()) {
    const item = element("li", {}, element("time", {}, timeWords(atMs - this.#startedMs)), words);
    if (this.#waiting === undefined) this.#list.append(item);
    else this.#waiting.before(item);
  }

  /** Shows an event of the stream, once; before one with a slot, that it was seen there. */
  receive(event) {
    // It may be confirmed before anybody saw it in a block, and in another block than the one it was seen in.
    if (event.slot !== null && event.kind !== "processed") this.receive({ kind: "processed", slot: event.slot });
    const key = JSON.stringify([event.kind, event.lane, event.reason, event.slot]);
    if (this.#shown.has(key)) return;
    this.#shown.add(key);
    // A later release may have more kinds.
    this.add(WORDS[event.kind]?.(event) ?? event.kind);
  }

  wait(words) {
    this.#waiting = element("li", { class: "waiting" }, words);
    this.#list.append(this.#waiting);
  }

  end() {
    this.#waiting?.remove();
    this.#waiting = undefined;
  }

  /** Why it landed late or not at all. */
  addWhy({ cause, sure, evidence, remedy }) {
    const likely = cause === "unknown" ? "" : sure ? "Why: " : "Probably why: ";
    const words = `${likely}${CAUSES[cause] ?? cause.replaceAll("_", " ")}. ${evidence} ${remedy}`;
    this.#list.append(element("li", { class: "why" }, words));
  }

  fail(words) {
    this.end();
    this.#list.append(element("li", { class: "bad" }, words));
  }
}

const timeWords = (ms) => (ms < 10_000 ? `${Math.max(0, Math.round(ms))} ms` : `${Math.round(ms / 1_000)} s`);
