// A submitted trade: its events as they come, and what it moved beside what was estimated.

import { sol, toWords } from "../shared/amounts.js";
import { byId, call, element, pause, readEvents } from "../shared/page.js";
import { say, sayFailure } from "./notices.js";
import { forgetTrade } from "./pending-trade.js";
import { Timeline } from "./timeline.js";

const LOOK_AGAIN_MS = 300;
/** Pause before a submit without an answer is sent again. */
const RETRY_MS = 1500;

/** Statuses that no fork takes back. */
const LANDED = ["confirmed", "finalized"];

const UNTOLD =
  "The trade may have landed: connect its wallet again to follow it, or look at the balances before you trade again.";

/** Errors that a trade ended with, beside those that say that it is safe to build again. */
const ENDS = ["TX_EXPIRED", "OUTCOME_UNKNOWN"];

/**
 * Submits a signed trade and shows it until it is decided for good, or another one is shown.
 *
 * @param trade what `keepTrade` keeps: `signature`, `body`, `order`, `built`, `startedMs`, `builtMs`
 * @param isAgain true if it may have been submitted before
 * @param landed called once it is confirmed: what the wallet holds has changed, though the chain may take long to call it final
 * @returns false if it may have landed, but this key is not told how it ended
 */
export async function followTrade(trade, { apiKey, tokens, status, landed, isAgain = false }) {
  const { signature, startedMs, builtMs, order, built } = trade;
  const { estimates } = built;
  tokens.learn(order.inputMint, estimates.inputAmount, estimates.inputAmountRaw);
  tokens.learn(order.outputMint, estimates.outputAmount, estimates.outputAmountRaw);
  const timeline = new Timeline(startedMs);
  timeline.add("Built", builtMs);
  timeline.add(isAgain ? "Found again: submitted by this tab before" : "Verified and signed");
  showSignature(signature, status.network);
  byId("compare").hidden = true;
  const tell = (...words) => {
    if (timeline.isShown) say("outcome", ...words);
  };
  const show = (now) => {
    if (timeline.isShown) showAmounts(now, trade, tokens);
  };
  tell("");
  const ended = new AbortController();
  let mayHaveArrived = isAgain;
  const retrying = (words) => {
    mayHaveArrived = true;
    tell(words, words === "" ? "" : "bad");
  };
  const submitting = submit(trade, apiKey, retrying);
  timeline.add(isAgain ? "Submitted again, which is safe: the chain executes it once at most" : "Submitted");
  timeline.wait("Waiting for the chain");
  const following = follow(signature, { apiKey, signal: ended.signal }, timeline, show);
  try {
    const answer = await submitting;
    show(answer);
    if (LANDED.includes(answer.status)) void landed();
    if (answer.status === "pending") tell("Not decided yet: this page follows it on.");
    await following;
    const final = await untilAnswered(() => call("GET", `/v1/tx/${signature}`, { apiKey }), retrying);
    show(final);
    timeline.end();
    if (final.diagnosis !== null) timeline.addWhy(final.diagnosis);
    if (LANDED.includes(final.status)) {
      forgetTrade(trade);
      tell("The trade landed.", "good");
    } else tell("Not decided yet. The history shows how it ends.");
    return true;
  } catch (error) {
    ended.abort();
    if (mayHaveArrived && error.safeToRebuild !== true && !ENDS.includes(error.code)) {
      timeline.end();
      tell(`${error.message} ${UNTOLD}`, "bad");
      return false;
    }
    forgetTrade(trade);
    showEnd(error, timeline);
    return true;
  }
}

/** The error that a trade ended with, in words. */
function showEnd(error, timeline) {
  timeline.fail(error.code ?? "Failed");
  if (timeline.isShown) sayFailure("outcome", error);
  const { diagnosis: cause, ...facts } = error.details ?? {};
  if (cause !== undefined) timeline.addWhy({ cause, ...facts });
}

/** Submits until there is an answer: bytes that have been sent may land whatever became of the answer. */
const submit = ({ body }, apiKey, retrying) =>
  untilAnswered(() => call("POST", "/v1/tx/submit", { apiKey, body }), retrying);

/**
 * Asks until the service answers or refuses for good.
 *
 * @param retrying gets the words for a call that is repeated, and none once one is answered @throws Error with its message and code
 */
async function untilAnswered(ask, retrying) {
  for (;;) {
    try {
      const answer = await ask();
      retrying("");
      return answer;
    } catch (error) {
      if (!isOpen(error)) throw error;
      retrying(`Not decided: ${error.message} The trade may land all the same; this page asks again.`);
      await pause(RETRY_MS);
    }
  }
}

/** True of a failure that says nothing final of the trade: no answer of the service, or a fault of its own, which may follow the broadcast. */
const isOpen = ({ code, retryable, safeToRebuild }) =>
  code === undefined || code === "INTERNAL_ERROR" || (retryable === true && safeToRebuild !== true);

/** Shows the events of a trade until it is final, has failed, or `signal` aborts; a stream that is cut is opened again. */
async function follow(signature, { apiKey, signal }, timeline, show) {
  while (!signal.aborted) {
    try {
      for await (const { event, data } of readEvents(`/v1/tx/${signature}/events`, apiKey, signal)) {
        // The submit's answer has what it failed with; a process that stops says so in the stream.
        if (event === "error" && data.error.retryable === true) throw data.error;
        if (event === "end" || event === "error") return;
        for (const one of data.events) timeline.receive(one);
        show(data);
      }
    } catch (error) {
      // The submit has not arrived yet, or the service cannot be reached.
      const mayCome = error.code === undefined || error.code === "TRADE_NOT_FOUND" || error.retryable === true;
      if (!mayCome) return;
    }
    await pause(LOOK_AGAIN_MS);
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
