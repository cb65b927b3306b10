// The trade page: connect, order, verify, sign, follow. Each step has a module of its own.

import { byId, fetchStatus, takeKey } from "../shared/page.js";
import { wordsOf } from "../shared/sign-in.js";
import { Tokens } from "../shared/tokens.js";
import { say } from "./notices.js";
import { OrderForm } from "./order-form.js";
import { followTrade } from "./trade-progress.js";
import { verifyBuild } from "./trade-proof.js";
import { WalletCard } from "./wallet-card.js";

/** Pause before a service that did not answer is asked again. */
const RETRY_MS = 1500;

let status;
let tokens;
let order;
let build;
/** Resolves once no trade is followed any more. */
let following = Promise.resolve();

const card = new WalletCard({
  opened: ({ apiKey }) => order.open(apiKey),
  funded: () => order.refreshBalances(),
  left: () => {
    order.close();
    byId("proof").hidden = true;
    return following;
  },
});

async function start() {
  try {
    status = await fetchStatus();
  } catch (error) {
    say("wallet-notice", error.message, "bad");
    setTimeout(start, RETRY_MS);
    return;
  }
  say("wallet-notice", "");
  tokens = new Tokens(status);
  order = new OrderForm(tokens);
  card.offer(status);
}

byId("order").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (card.session === undefined || byId("review").disabled) return;
  byId("review").disabled = true;
  say("order-notice", "Building");
  try {
    const startedMs = performance.now();
    build = await verifyBuild(card.session, order.read(), order.priority, tokens);
    build.startedMs = startedMs;
    build.builtMs = performance.now();
    order.pause();
    say("order-notice", "");
    byId("bounds").replaceChildren(...build.facts);
    byId("lines").replaceChildren(...build.lines);
    say("verdict", build.verdict, build.refused ? "bad" : "good");
    byId("sign").disabled = build.refused;
    byId("intro").hidden = true;
    byId("result").hidden = true;
    byId("proof").hidden = false;
    byId("proof").focus();
  } catch (error) {
    say("order-notice", error.message, "bad");
  }
  byId("review").disabled = false;
});

byId("back").addEventListener("click", () => {
  byId("proof").hidden = true;
  byId("in-amount").focus();
  order.ask();
});

byId("sign").addEventListener("click", async () => {
  const { session } = card;
  byId("sign").disabled = true;
  say("verdict", `Waiting for ${session.wallet.name} to sign`);
  try {
    const signed = await build.sign();
    byId("proof").hidden = true;
    byId("result").hidden = false;
    byId("result").focus();
    following = followTrade({ session, build, signed, tokens, status });
    await following;
    if (card.session !== undefined) await order.refreshBalances();
  } catch (error) {
    say("verdict", wordsOf(error), "bad");
    byId("sign").disabled = false;
  }
});

byId("again").addEventListener("click", () => {
  byId("result").hidden = true;
  byId("intro").hidden = false;
  byId("in-amount").focus();
  order.ask();
});

// A key handed over by another page belongs to no wallet here.
takeKey();
start();
