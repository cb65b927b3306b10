// The trade page: connect, order, verify, sign, follow. Each step has a module of its own.

import { percent, roundToDouble, toRaw, toWhole, toWords } from "../shared/amounts.js";
import { byId, call, element, fetchStatus, handOverKey, readEvents, takeKey } from "../shared/page.js";
import { endKey, fund, retireKeys, signIn, walletButton, wordsOf } from "../shared/sign-in.js";
import { createThrowawayWallet } from "../shared/throwaway-wallet.js";
import { Tokens } from "../shared/tokens.js";
import { connect, findWallets } from "../shared/wallets.js";
import { describeQuote, describeRoute } from "./quote-view.js";
import { followTrade } from "./trade-progress.js";
import { verifyBuild } from "./trade-proof.js";

/** What the keys of this page are called in the list of an account. */
const KEY_LABEL = "trade page";
/** Typing pauses this long before a price is asked for. */
const TYPED_MS = 250;
/** Pause before a stream of prices that broke off is opened again. */
const RETRY_MS = 1500;
/** SOL left in the wallet by "Max", for fees and rent. Lamports. */
const LEFT_LAMPORTS = 10_000_000n;

let status;
/** The connected wallet, its account and API key. */
let session;
let tokens;
let priorities = [];
/** Which side was typed last: it is exact. */
let mode = "exactIn";
let quote;
let stopQuotes = () => {};
let typing;

function say(where, words, kind = "") {
  byId(where).className = `notice ${kind}`;
  byId(where).textContent = words;
}

// ---- wallet

async function start() {
  try {
    status = await fetchStatus();
  } catch (error) {
    say("wallet-notice", error.message, "bad");
    setTimeout(start, RETRY_MS);
    return;
  }
  byId("network").textContent = `This service trades on ${status.network}.`;
  tokens = new Tokens(status);
  tokens.list(byId("tokens"));
  byId("in-token").value = "SOL";
  byId("out-token").value = tokens.first();
  if (status.faucet) offer(createThrowawayWallet(), "Use a throwaway wallet");
  findWallets((wallet) => offer(wallet));
}

function offer(wallet, words) {
  byId("no-wallet").hidden = true;
  const button = walletButton({ ...wallet, name: words ?? wallet.name, icon: wallet.icon }, element);
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      await open(wallet);
    } catch (error) {
      say("wallet-notice", wordsOf(error), "bad");
    }
    button.disabled = false;
  });
  if (words === undefined) byId("wallets").append(button);
  else byId("wallets").prepend(button);
}

/** Connects a wallet, funds it if it is a throwaway one, and signs in. */
async function open(wallet) {
  say("wallet-notice", `Waiting for ${wallet.name}`);
  const account = await connect(wallet, status.network);
  if (wallet.secretKey !== undefined) await fund(account.address);
  const chosen = { wallet, account };
  const { apiKey, keyId } = await signIn(chosen, { network: status.network, label: KEY_LABEL });
  // Whatever comes of it: the next visit tries again.
  retireKeys(apiKey, KEY_LABEL).catch(() => {});
  session = { ...chosen, apiKey, keyId };
  byId("wallet-name").textContent = wallet.name;
  byId("address").textContent = account.address;
  byId("fund").hidden = !status.faucet;
  byId("secret").hidden = wallet.secretKey === undefined;
  byId("choose").hidden = true;
  byId("connected").hidden = false;
  say("wallet-notice", "");
  priorities = (await call("GET", "/v1/priority")).levels;
  await refreshBalances();
  byId("in-amount").focus();
  ask();
}

byId("leave").addEventListener("click", () => {
  stopQuotes();
  const left = session;
  session = undefined;
  // A trade on its way is still followed with the key. One that cannot be revoked now goes with the next visit.
  following.then(() => endKey(left)).catch(() => {});
  tokens.forget();
  showBalances();
  byId("choose").hidden = false;
  byId("connected").hidden = true;
  byId("proof").hidden = true;
  byId("review").disabled = true;
});

byId("fund").addEventListener("click", async () => {
  byId("fund").disabled = true;
  try {
    await fund(session.account.address);
    await refreshBalances();
    say("wallet-notice", "10 SOL of this test chain arrived.", "good");
  } catch (error) {
    say("wallet-notice", error.message, "bad");
  }
  byId("fund").disabled = false;
});

byId("secret").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(session.wallet.secretKey);
    say(
      "wallet-notice",
      "The secret key is on the clipboard. This wallet is worth nothing outside this chain.",
      "good",
    );
  } catch {
    say("wallet-notice", `Secret key of this throwaway wallet: ${session.wallet.secretKey}`);
  }
});

byId("history").addEventListener("click", () => {
  handOverKey(session.apiKey);
  location.assign("/history");
});

// ---- order

const sides = () => ({ input: tokens.find(byId("in-token").value), output: tokens.find(byId("out-token").value) });

async function refreshBalances() {
  if (session === undefined) return;
  const { input, output } = sides();
  await tokens.refresh(
    session.apiKey,
    [input, output].filter((mint) => mint !== undefined),
  );
  showBalances();
}

function showBalances() {
  const { input, output } = sides();
  for (const [side, mint] of [
    ["in", input],
    ["out", output],
  ]) {
    const balance = mint === undefined ? undefined : tokens.balance(mint);
    byId(`${side}-balance`).textContent =
      balance === undefined ? "" : `Balance ${toWords(balance.raw, balance.decimals)} ${tokens.name(mint)}`;
  }
}

for (const button of document.querySelectorAll("[data-percent]")) {
  button.addEventListener("click", () => {
    const { input } = sides();
    const balance = input === undefined ? undefined : tokens.balance(input);
    if (balance === undefined) {
      say("order-notice", "Connect a wallet first: its balance is what the share is taken of.", "bad");
      return;
    }
    const share = (balance.raw * BigInt(button.dataset.percent)) / 100n;
    const spendable = tokens.isSol(input) ? balance.raw - LEFT_LAMPORTS : balance.raw;
    const raw = roundToDouble(share < spendable ? share : spendable > 0n ? spendable : 0n);
    byId("in-amount").value = toWhole(raw, balance.decimals);
    mode = "exactIn";
    ask();
  });
}

for (const [id, typed] of [
  ["in-amount", "exactIn"],
  ["out-amount", "exactOut"],
]) {
  byId(id).addEventListener("input", () => {
    mode = typed;
    askSoon();
  });
}
for (const id of ["in-token", "out-token"]) {
  byId(id).addEventListener("change", async () => {
    // The balance of the token before it is not that of this one.
    showBalances();
    if (tokens.find(byId(id).value) === undefined) {
      say(
        "order-notice",
        `${byId(id).value || "An empty field"} is neither a symbol listed here nor a mint address.`,
        "bad",
      );
      byId("review").disabled = true;
      stopQuotes();
      return;
    }
    ask();
    try {
      await refreshBalances();
    } catch (error) {
      say("order-notice", error.message, "bad");
    }
  });
  // A click shows the whole list and not only what matches the present token.
  byId(id).addEventListener("focus", () => byId(id).select());
}
byId("slippage").addEventListener("input", askSoon);
byId("priority").addEventListener("change", () => showQuote());
byId("flip").addEventListener("click", () => {
  for (const [a, b] of [
    ["in-token", "out-token"],
    ["in-amount", "out-amount"],
  ]) {
    [byId(a).value, byId(b).value] = [byId(b).value, byId(a).value];
  }
  mode = mode === "exactIn" ? "exactOut" : "exactIn";
  showBalances();
  ask();
});

function askSoon() {
  clearTimeout(typing);
  typing = setTimeout(ask, TYPED_MS);
}

/** The order as typed. @throws Error saying what is missing */
function readOrder() {
  const { input, output } = sides();
  if (input === undefined || output === undefined)
    throw new Error("Choose both tokens: a symbol of the list, or a mint address.");
  if (input === output) throw new Error("Choose two different tokens.");
  const text = byId(mode === "exactIn" ? "in-amount" : "out-amount")
    .value.trim()
    .replace(",", ".");
  const decimals = tokens.decimals(mode === "exactIn" ? input : output) ?? 9;
  if (toRaw(text, decimals) === undefined) throw new Error(text === "" ? "" : `${text} is not an amount above zero.`);
  const slippage = Number(byId("slippage").value.trim().replace(",", ".") || Number.NaN) / 100;
  if (!(slippage >= 0 && slippage < 1)) throw new Error("Slippage is a percentage from 0 to below 100: 1 is 1 %.");
  return { inputMint: input, outputMint: output, amount: Number(text), swapMode: mode, slippage };
}

/** Follows the price of the order until the next one. */
async function ask() {
  clearTimeout(typing);
  stopQuotes();
  quote = undefined;
  byId("quote").hidden = true;
  byId("review").disabled = true;
  byId(mode === "exactIn" ? "out-amount" : "in-amount").value = "";
  let order;
  try {
    order = readOrder();
  } catch (error) {
    say("order-notice", error.message, error.message === "" ? "" : "bad");
    return;
  }
  if (session === undefined) {
    say("order-notice", "Connect a wallet to see prices.");
    return;
  }
  const stop = new AbortController();
  stopQuotes = () => stop.abort();
  say("order-notice", "");
  while (!stop.signal.aborted) {
    try {
      const path = `/v1/quotes/stream?${new URLSearchParams(order)}`;
      for await (const { event, data } of readEvents(path, session.apiKey, stop.signal)) {
        if (event === "error") throw Object.assign(new Error(data.error.message), data.error);
        if (event !== "quote") continue;
        quote = { order, data };
        say("order-notice", "");
        showQuote();
      }
    } catch (error) {
      if (stop.signal.aborted) return;
      byId("review").disabled = true;
      say("order-notice", error.message, "bad");
      if (error.retryable === false) return;
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

function showQuote() {
  if (quote === undefined) return;
  const { order, data } = quote;
  const { estimates } = data;
  tokens.learn(order.inputMint, estimates.inputAmount, estimates.inputAmountRaw);
  tokens.learn(order.outputMint, estimates.outputAmount, estimates.outputAmountRaw);
  const [field, mint, raw] =
    order.swapMode === "exactIn"
      ? ["out-amount", order.outputMint, estimates.outputAmountRaw]
      : ["in-amount", order.inputMint, estimates.inputAmountRaw];
  byId(field).value = toWhole(raw, tokens.decimals(mint) ?? 0);
  const level = priorities.find(({ priority }) => priority === byId("priority").value);
  byId("quote-facts").replaceChildren(...describeQuote(quote, tokens, level));
  byId("route").replaceChildren(...describeRoute(data.route, tokens));
  byId("quote").hidden = false;
  byId("review").disabled = false;
  const balance = tokens.balance(order.inputMint);
  if (balance !== undefined && BigInt(estimates.inputAmountRaw) > balance.raw) {
    const held = `${toWords(balance.raw, balance.decimals)} ${tokens.name(order.inputMint)}`;
    say("order-notice", `The wallet holds ${held}: less than this trade takes.`, "bad");
  } else if (estimates.priceImpact > 0.05) {
    say(
      "order-notice",
      `This trade moves the price by ${percent(estimates.priceImpact)}. A smaller one gets a better price.`,
      "bad",
    );
  }
}

// ---- build, verify, sign, follow

let build;
/** Resolves once no trade is followed any more. */
let following = Promise.resolve();

byId("order").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (session === undefined || byId("review").disabled) return;
  byId("review").disabled = true;
  say("order-notice", "Building");
  try {
    const order = readOrder();
    const startedMs = performance.now();
    build = await verifyBuild(session, order, byId("priority").value, tokens);
    build.startedMs = startedMs;
    build.builtMs = performance.now();
    stopQuotes();
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
  ask();
});

byId("sign").addEventListener("click", async () => {
  byId("sign").disabled = true;
  say("verdict", `Waiting for ${session.wallet.name} to sign`);
  try {
    const signed = await build.sign();
    byId("proof").hidden = true;
    byId("result").hidden = false;
    byId("result").focus();
    following = followTrade({ session, build, signed, tokens, status, say });
    await following;
    if (session !== undefined) await refreshBalances();
  } catch (error) {
    say("verdict", wordsOf(error), "bad");
    byId("sign").disabled = false;
  }
});

byId("again").addEventListener("click", () => {
  byId("result").hidden = true;
  byId("intro").hidden = false;
  byId("in-amount").focus();
  ask();
});

// A key handed over by another page belongs to no wallet here.
takeKey();
start();
