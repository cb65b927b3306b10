// The trade page: connect, order, verify, sign, follow. Each step has a module of its own.

import { byId, fetchStatus, serviceTimeMs, takeKey } from "../shared/page.js";
import { endKey, wordsOf } from "../shared/sign-in.js";
import { Tokens } from "../shared/tokens.js";
import { base58 } from "../shared/wallets.js";
import { say } from "./notices.js";
import { OrderForm } from "./order-form.js";
import { keepTrade, takeTrade } from "./pending-trade.js";
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
/** The trade that is followed, and the key it is followed with; undefined if none is. */
let followed;
/** A trade of this tab that waits for its wallet to be followed. */
let waiting;
let expiry;

const card = new WalletCard({
  opened: async (session) => {
    if (waiting?.address === session.account.address) {
      follow(waiting, session, true);
      waiting = undefined;
    }
    await order.open(session.apiKey);
  },
  funded: () => order.refreshBalances(),
  left: () => {
    order.close();
    closeProof();
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
  resume();
}

/** Follows a trade to its end. A page that is loaded again meanwhile finds it. */
function follow(trade, { apiKey, keyId }, isAgain) {
  byId("intro").hidden = true;
  byId("result").hidden = false;
  keepTrade(trade);
  followed = { trade, credentials: { apiKey, keyId } };
  following = followTrade(trade, { apiKey, tokens, status, isAgain }).finally(() => {
    followed = undefined;
  });
  return following;
}

/** Goes on with the trade that an earlier page of this tab submitted, if its end is open. */
function resume() {
  const kept = takeTrade();
  if (kept === undefined) return;
  const { trade, credentials } = kept;
  if (trade.network !== status.network) return;
  if (credentials !== undefined) {
    follow(trade, credentials, true).then(() => endKey(credentials).catch(() => {}));
    return;
  }
  waiting = trade;
  const words = `This tab submitted a trade of ${trade.address} that was not decided yet. Connect that wallet to follow it.`;
  say("wallet-notice", words);
}

// The next page of this tab may go on with the key: it is taken out of its place at once.
addEventListener("pagehide", () => {
  if (followed !== undefined) keepTrade(followed.trade, followed.credentials);
});
addEventListener("pageshow", ({ persisted }) => {
  if (persisted && followed !== undefined) keepTrade(followed.trade);
});

byId("order").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (card.session === undefined || byId("review").disabled) return;
  byId("review").disabled = true;
  say("order-notice", "Building");
  try {
    const startedMs = Date.now();
    build = await verifyBuild(card.session, order.read(), order.priority, tokens);
    Object.assign(build, { startedMs, builtMs: Date.now() });
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
    expiry = setTimeout(expire, Math.max(0, expiresAtMs(build) - serviceTimeMs()));
  } catch (error) {
    say("order-notice", error.message, "bad");
  }
  byId("review").disabled = false;
});

function closeProof() {
  clearTimeout(expiry);
  byId("proof").hidden = true;
}

const expiresAtMs = ({ built }) => Date.parse(built.expiresAt);
const isExpired = (one) => expiresAtMs(one) <= serviceTimeMs();

/** A build that nobody signed in time: its price is old, and it would not land for long. */
function expire() {
  byId("sign").disabled = true;
  say("verdict", "This build has expired: it was not signed in time. Go back to the order and build again.", "bad");
}

byId("back").addEventListener("click", () => {
  closeProof();
  byId("in-amount").focus();
  order.ask();
});

byId("sign").addEventListener("click", async () => {
  const { session } = card;
  byId("sign").disabled = true;
  say("verdict", `Waiting for ${session.wallet.name} to sign`);
  const signing = build;
  try {
    const signed = await signing.sign();
    if (card.session !== session)
      throw new Error("The wallet was disconnected while it signed: nothing was submitted.");
    if (signing !== build || byId("proof").hidden) return;
    if (isExpired(signing)) {
      expire();
      return;
    }
    closeProof();
    const done = follow(submittable(signing, signed, session.account.address), session, false);
    byId("result").focus();
    await done;
    if (card.session !== undefined) await order.refreshBalances();
  } catch (error) {
    if (card.session === undefined) {
      say("wallet-notice", wordsOf(error), "bad");
      return;
    }
    say("verdict", wordsOf(error), "bad");
    byId("sign").disabled = isExpired(signing);
  }
});

/** What following a trade takes, as plain data. */
function submittable({ built, order, startedMs, builtMs }, signed, address) {
  const { submissionToken, estimates, costs } = built;
  return {
    signature: base58(signed.slice(1, 65)),
    body: { submissionToken, signedTransaction: btoa(String.fromCharCode(...signed)) },
    ...{ network: status.network, address, order, startedMs, builtMs },
    built: { estimates, costs },
  };
}

byId("again").addEventListener("click", () => {
  byId("result").hidden = true;
  byId("intro").hidden = false;
  byId("in-amount").focus();
  order.ask();
});

// A key handed over by another page belongs to no wallet here.
takeKey();
start();
