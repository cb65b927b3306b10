// A submitted trade: its events as they come, and what it moved beside what was estimated.

import { sol, toWords } from "../shared/amounts.js";
import { byId, call, element, readEvents } from "../shared/page.js";
import { base58 } from "../shared/wallets.js";
import { say } from "./notices.js";

const LOOK_AGAIN_MS = 300;
const WORDS = {
  sent: ({ lane }) => `Sent to ${lane}`,
  refused: ({ lane, reason }) => `${lane} did not accept it (${reason}); the others go on`,
  processed: ({ slot }) => `Seen in slot ${slot}`,
  confirmed: () => "Confirmed",
  finalized: () => "Final",
};
/** What to do, where the message of the service does not say it. */
const REMEDIES = {
  SLIPPAGE_EXCEEDED: "Allow more slippage, or trade a smaller amount, and build again.",
  TX_EXPIRED: "Nothing was traded.",
  INSUFFICIENT_SOL: "Add SOL to the wallet and build again.",
  PROGRAM_ERROR: "Build again: the market has changed.",
};

/** What `cause` of a diagnosis means. */
const CAUSES = {
  submitted_late: "it was signed and submitted too late",
  blockhash_old: "its blockhash was old when it was built",
  senders_refused: "no sender accepted it",
  senders_late: "the senders accepted it late",
  priority_low: "its priority fee was too low for the chain",
  contention: "its priority fee was too low for its accounts",
  dropped_block: "the chain dropped a block that had it",
  slots_skipped: "leaders skipped their slots",
  unknown: "The cause is not known",
};

/** Submits a signed trade and shows it until it is final. */
export async function followTrade({ session, build, signed, tokens, status }) {
  const signature = base58(signed.slice(1, 65));
  const timeline = new Timeline(build.startedMs);
  timeline.add("Built", build.builtMs);
  timeline.add("Verified and signed");
  showSignature(signature, status.network);
  byId("compare").hidden = true;
  say("outcome", "");
  const body = { submissionToken: build.built.submissionToken, signedTransaction: base64(signed) };
  const submitting = call("POST", "/v1/tx/submit", { apiKey: session.apiKey, body });
  timeline.add("Submitted");
  timeline.wait("Waiting for the chain");
  // A stream that fails or is cut leaves the answer of the submit.
  const following = follow(signature, session.apiKey, timeline, (trade) => showAmounts(trade, build, tokens)).catch(
    () => {},
  );
  try {
    const trade = await submitting;
    showAmounts(trade, build, tokens);
    if (trade.status === "pending") say("outcome", "Not decided yet: this page follows it on.");
    await following;
    const final = await call("GET", `/v1/tx/${signature}`, { apiKey: session.apiKey });
    showAmounts(final, build, tokens);
    timeline.end();
    if (final.diagnosis !== null) timeline.addWhy(final.diagnosis);
    if (final.status !== "pending") say("outcome", "The trade landed.", "good");
  } catch (error) {
    timeline.fail(error.code ?? "Failed");
    const remedy = REMEDIES[error.code];
    say("outcome", [error.message, remedy].filter((words) => words !== undefined).join(" "), "bad");
    const { diagnosis: cause, ...facts } = error.details ?? {};
    if (cause !== undefined) timeline.addWhy({ cause, ...facts });
  }
}

async function follow(signature, apiKey, timeline, show) {
  for (;;) {
    try {
      for await (const { event, data } of readEvents(`/v1/tx/${signature}/events`, apiKey)) {
        if (event === "end" || event === "error") return;
        for (const one of data.events) timeline.add(WORDS[one.kind](one));
        show(data);
      }
      return;
    } catch (error) {
      // The submit has not arrived yet.
      if (error.code !== "TRADE_NOT_FOUND") throw error;
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    }
  }
}

class Timeline {
  #list = byId("timeline");
  #startedMs;
  #waiting;

  constructor(startedMs) {
    this.#startedMs = startedMs;
    this.#list.replaceChildren();
  }

  add(words, atMs = performance.now()) {
    const item = element("li", {}, element("time", {}, `${Math.round(atMs - this.#startedMs)} ms`), words);
    if (this.#waiting === undefined) this.#list.append(item);
    else this.#waiting.before(item);
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

/** Estimated and real, side by side. */
function showAmounts({ tradeResult, costs }, { built, order }, tokens) {
  if (tradeResult == null) return;
  const amount = (raw, mint) => `${toWords(raw, tokens.decimals(mint) ?? 0)} ${tokens.name(mint)}`;
  const { estimates } = built;
  const rows = [
    ["Paid", amount(estimates.inputAmountRaw, order.inputMint), amount(tradeResult.inputAmountRaw, order.inputMint)],
    [
      "Received",
      amount(estimates.outputAmountRaw, order.outputMint),
      amount(tradeResult.outputAmountRaw, order.outputMint),
    ],
    ["Network fee", sol(built.costs.baseFee), sol(costs.baseFee)],
    ["Priority fee and tip", sol(total(built.costs)), sol(total(costs))],
    ["Rent paid", sol(built.costs.rentPaid), sol(costs.rentPaid)],
    ["Rent returned", sol(built.costs.rentReturned), sol(costs.rentReturned)],
  ];
  const shown = rows.filter(([, estimated, real]) => !(estimated === "0 SOL" && real === "0 SOL"));
  byId("compare").tBodies[0].replaceChildren(
    ...shown.map((cells) => element("tr", {}, ...cells.map((text) => element("td", {}, text)))),
  );
  byId("compare").hidden = false;
}

const total = ({ priorityFee, tip }) => BigInt(priorityFee) + BigInt(tip);

function showSignature(signature, network) {
  const cluster = network === "mainnet" ? "" : `?cluster=${network}`;
  const link = element(
    "a",
    { href: `https://explorer.solana.com/tx/${signature}${cluster}`, target: "_blank", rel: "noopener noreferrer" },
    "Open in an explorer",
  );
  const more = network === "localnet" ? "No public explorer shows this test chain." : link;
  byId("signature").replaceChildren("Signature ", element("code", {}, signature), " ", more);
}

const base64 = (bytes) => btoa(String.fromCharCode(...bytes));
