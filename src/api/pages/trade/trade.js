// The trade page: connect, order, verify, sign, follow. Each step has a module of its own.

import { byId, fetchStatus, goTo, serviceTimeMs, suspend, takeKey } from "../shared/page.js";
import { endKey, wordsOf } from "../shared/sign-in.js";
import { Tokens } from "../shared/tokens.js";
import { base58 } from "../shared/wallets.js";
import { say } from "./notices.js";
import { OrderForm } from "./order-form.js";
import { keepTrade, takeTrades } from "./pending-trade.js";
import { followTrade } from "./trade-progress.js";
import { verifyBuild } from "./trade-proof.js";
import { WalletCard } from "./wallet-card.js";

/** Pause before a service that did not answer is asked again. */
const RETRY_MS = 1500;

let status;
let tokens;
let order;
/** The order that is being built; undefined if none is, or it is another one by now. */
let building;
let build;
/** The trades that are followed, each with the key it is followed with, and `ended`, which resolves once it is not. */
const followed = new Set();
/** Trades of this tab that wait for their wallet to be followed. */
let waiting = [];
let expiry;

const card = new WalletCard({
  opened: async (session) => {
    const isOwn = ({ address }) => address === session.account.address;
    const own = waiting.filter(isOwn);
    waiting = waiting.filter((trade) => !isOwn(trade));
    for (const trade of own) follow(trade, session, true);
    await order.open(session.apiKey);
  },
  funded: () => order.refreshBalances(),
  left: () => {
    order.close();
    closeProof();
    return Promise.all(Array.from(followed, ({ ended }) => ended));
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
  order = new OrderForm(tokens, closeProof);
  card.offer(status);
  resume();
}

/** Follows a trade to its end, and shows it until another is followed. A page that is loaded again meanwhile finds it. */
function follow(trade, { apiKey, keyId }, isAgain) {
  byId("intro").hidden = true;
  byId("result").hidden = false;
  keepTrade(trade);
  const entry = { trade, credentials: { apiKey, keyId } };
  followed.add(entry);
  entry.ended = followTrade(trade, { apiKey, tokens, status, isAgain, landed: refreshBalances }).then((isTold) => {
    followed.delete(entry);
    if (!isTold) waiting.push(trade);
  });
  return entry.ended;
}

/** Goes on with the trades that an earlier page of this tab submitted, if their end is open. */
function resume() {
  const kept = takeTrades().filter(({ trade }) => trade.network === status.network);
  for (const { trade, credentials } of kept) {
    if (credentials === undefined) waiting.push(trade);
    else follow(trade, credentials, true);
  }
  const keys = new Map(Array.from(followed, ({ credentials }) => [credentials.keyId, credentials]));
  Promise.all(Array.from(followed, ({ ended }) => ended)).then(() => {
    for (const credentials of keys.values()) endKey(credentials).catch(() => {});
  });
  const [first] = waiting;
  if (first === undefined) return;
  const words = `This tab submitted a trade of ${first.address} that was not decided yet. Connect that wallet to follow it.`;
  say("wallet-notice", words);
}

// The next page of this tab may go on with the key: it is taken out of its place at once.
addEventListener("pagehide", () => {
  for (const { trade, credentials } of followed) keepTrade(trade, credentials);
});
addEventListener("pageshow", ({ persisted }) => {
  if (!persisted) return;
  for (const { trade } of followed) keepTrade(trade);
});

byId("order").addEventListener("submit", async (event) => {
  event.preventDefault();
  const { session } = card;
  if (session === undefined || byId("review").disabled) return;
  closeProof();
  let asked;
  try {
    asked = order.read();
  } catch (error) {
    order.showFailure(error);
    return;
  }
  building = asked;
  // No price allows a second build meanwhile.
  order.pause();
  byId("review").disabled = true;
  say("order-notice", "Building");
  try {
    const startedMs = Date.now();
    const made = await verifyBuild(session, asked, order.priority, tokens);
    if (building !== asked) return;
    build = Object.assign(made, { startedMs, builtMs: Date.now() });
    say("order-notice", "");
    showProof();
    expiry = setTimeout(expire, Math.max(0, expiresAtMs(build) - serviceTimeMs()));
    byId("review").disabled = false;
  } catch (error) {
    if (building === asked) order.showFailure(error);
  }
});

/** Shows what the build was found to be. */
function showProof() {
  byId("bounds").replaceChildren(...build.facts);
  byId("lines").replaceChildren(...build.lines);
  say("verdict", build.verdict, build.refused ? "bad" : "good");
  byId("sign").disabled = build.refused;
  byId("allow-tip").hidden = build.allowTip === undefined;
  byId("intro").hidden = true;
  byId("result").hidden = true;
  byId("proof").hidden = false;
  goTo(byId("proof"));
}

byId("allow-tip").addEventListener("click", () => {
  if (build.allowTip === undefined || isExpired(build)) return;
  const { startedMs, builtMs } = build;
  build = Object.assign(build.allowTip(), { startedMs, builtMs });
  showProof();
});

/** Ends what is built or on show: nothing of it can be signed any more. */
function closeProof() {
  building = undefined;
  clearTimeout(expiry);
  byId("proof").hidden = true;
}

const expiresAtMs = ({ built }) => Date.parse(built.expiresAt);
const isExpired = (one) => expiresAtMs(one) <= serviceTimeMs();

/** A build that nobody signed in time: its price is old, and it would not land for long. */
function expire() {
  byId("sign").disabled = true;
  byId("allow-tip").hidden = true;
  say("verdict", "This build has expired: it was not signed in time. Go back to the order and build again.", "bad");
}

byId("back").addEventListener("click", () => {
  order.ask();
  byId("in-amount").focus();
});

byId("sign").addEventListener("click", async () => {
  const { session } = card;
  const signing = build;
  if (session === undefined || signing.refused) return;
  const signAgain = suspend(byId("sign"));
  say("verdict", `Waiting for ${session.wallet.name} to sign`);
  let signed;
  try {
    signed = await signing.sign();
    if (card.session !== session)
      throw new Error("The wallet was disconnected while it signed: nothing was submitted.");
    if (signing !== build || byId("proof").hidden) return;
    if (isExpired(signing)) {
      expire();
      return;
    }
    closeProof();
  } catch (error) {
    if (card.session === undefined) say("wallet-notice", wordsOf(error), "bad");
    // Another build on show has a verdict of its own.
    if (card.session !== session || signing !== build) return;
    say("verdict", wordsOf(error), "bad");
    if (!isExpired(signing)) signAgain();
    return;
  }
  const done = follow(submittable(signing, signed, session.account.address), session, false);
  goTo(byId("result"));
  await done;
  await refreshBalances();
});

/** Reads again what the wallet holds of both tokens of the order. */
function refreshBalances() {
  return order.refreshBalances().catch((error) => say("order-notice", error.message, "bad"));
}

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
