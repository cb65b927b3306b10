// The order of the trade page: tokens, amounts and terms as typed, and the price that follows the market.

import { roundToDouble, toRaw, toWhole, toWords } from "../shared/amounts.js";
import { byId, call } from "../shared/page.js";
import { say, sayFailure } from "./notices.js";
import { followQuotes } from "./quote-stream.js";
import { describeQuote, describeRoute, warningOf } from "./quote-view.js";
import { RENEW_MS, SlippageField } from "./slippage-field.js";

/** Typing pauses this long before a price is asked for. */
const TYPED_MS = 250;
/** SOL left in the wallet by "Max", for fees and rent. Lamports. */
const LEFT_LAMPORTS = 10_000_000n;

export class OrderForm {
  #tokens;
  #apiKey;
  #priorities = [];
  /** Which side was typed last: it is exact. */
  #mode = "exactIn";
  #quote;
  #stopQuotes = () => {};
  #typing;
  #renewal;
  /** The last build of this order failed: what to do about it stays in sight while prices go on. */
  #hasFailed = false;
  #slippage = new SlippageField(() => this.#askSoon());
  #changed;

  /** @param changed called once another order is asked for: a build of the one before is not of it */
  constructor(tokens, changed) {
    this.#tokens = tokens;
    this.#changed = changed;
    tokens.list(byId("tokens"));
    byId("in-token").value = "SOL";
    byId("out-token").value = tokens.first();
    this.#listen();
  }

  /** Prices come for this key from now on. @throws Error with a message for the user */
  async open(apiKey) {
    this.#apiKey = apiKey;
    this.#priorities = (await call("GET", "/v1/priority")).levels;
    await this.refreshBalances();
    byId("in-amount").focus();
    this.ask();
  }

  close() {
    this.pause();
    this.#apiKey = undefined;
    this.#tokens.forget();
    this.#showBalances();
    byId("review").disabled = true;
  }

  /** Ends the price; `ask` follows it again. */
  pause() {
    clearTimeout(this.#typing);
    clearInterval(this.#renewal);
    this.#stopQuotes();
    byId("quote").classList.add("stale");
  }

  get priority() {
    return byId("priority").value;
  }

  /** The order as typed. @throws Error saying what is missing */
  read(slippageOf = (order) => this.#slippage.of(order)) {
    const { input, output } = this.#sides();
    if (input === undefined || output === undefined)
      throw new Error("Choose both tokens: a symbol of the list, or a mint address.");
    if (input === output) throw new Error("Choose two different tokens.");
    const mode = this.#mode;
    const text = byId(mode === "exactIn" ? "in-amount" : "out-amount")
      .value.trim()
      .replace(",", ".");
    const decimals = this.#tokens.decimals(mode === "exactIn" ? input : output) ?? 9;
    if (toRaw(text, decimals) === undefined) throw new Error(text === "" ? "" : `${text} is not an amount above zero.`);
    const order = { inputMint: input, outputMint: output, amount: Number(text), swapMode: mode };
    return { ...order, slippage: slippageOf(order) };
  }

  /** Follows the price of the order until the next one. */
  ask() {
    this.#changed();
    this.#slippage.forget();
    this.#follow();
  }

  /** Shows why nothing was built of the order, until it is another one; its price goes on. */
  showFailure(error) {
    this.#follow();
    this.#hasFailed = true;
    sayFailure("order-notice", error);
  }

  async #follow() {
    this.pause();
    this.#quote = undefined;
    this.#hasFailed = false;
    byId("quote").hidden = true;
    byId("review").disabled = true;
    byId(this.#mode === "exactIn" ? "out-amount" : "in-amount").value = "";
    let order;
    try {
      order = this.read((sides) => this.#slippage.whileAsking(sides));
    } catch (error) {
      say("order-notice", error.message, error.message === "" ? "" : "bad");
      return;
    }
    if (this.#apiKey === undefined) {
      say("order-notice", "Connect a wallet to see prices.");
      return;
    }
    say("order-notice", "");
    const stop = new AbortController();
    this.#stopQuotes = () => stop.abort();
    if (this.#slippage.isAuto) this.#renewal = setInterval(() => this.#renewSlippage(order, stop.signal), RENEW_MS);
    await followQuotes(order, this.#apiKey, stop.signal, {
      quoted: (data) => {
        if (stop.signal.aborted || this.#choosesSlippage(order, data)) return;
        this.#quote = { order, data };
        byId("quote").classList.remove("stale");
        if (!this.#hasFailed) say("order-notice", "");
        this.#showQuote();
      },
      failed: (error) => {
        byId("review").disabled = true;
        byId("quote").classList.add("stale");
        sayFailure("order-notice", error);
      },
    });
  }

  /** A market at rest streams no price: one is asked for, so that the automatic slippage goes by what is known now. */
  async #renewSlippage(order, signal) {
    try {
      const data = await call("POST", "/v1/tx/quote", { apiKey: this.#apiKey, body: order });
      if (!signal.aborted) this.#choosesSlippage(order, data);
    } catch {
      // The stream says what is wrong; a choice that grows old is not built with.
    }
  }

  /** Goes on with the slippage that a price chose, or asks for a number. @returns whether this price is for another slippage */
  #choosesSlippage(order, { priceMovement }) {
    try {
      if (!this.#slippage.choose(order, priceMovement)) return false;
      this.#follow();
    } catch (error) {
      this.pause();
      byId("review").disabled = true;
      say("order-notice", error.message, "bad");
    }
    return true;
  }

  #showQuote() {
    if (this.#quote === undefined) return;
    const tokens = this.#tokens;
    const { order, data } = this.#quote;
    const { estimates } = data;
    tokens.learn(order.inputMint, estimates.inputAmount, estimates.inputAmountRaw);
    tokens.learn(order.outputMint, estimates.outputAmount, estimates.outputAmountRaw);
    const [field, mint, raw] =
      order.swapMode === "exactIn"
        ? ["out-amount", order.outputMint, estimates.outputAmountRaw]
        : ["in-amount", order.inputMint, estimates.inputAmountRaw];
    byId(field).value = toWhole(raw, tokens.decimals(mint) ?? 0);
    const level = this.#priorities.find(({ priority }) => priority === this.priority);
    byId("quote-facts").replaceChildren(...describeQuote(this.#quote, tokens, level));
    byId("route").replaceChildren(...describeRoute(data.route, tokens));
    byId("quote").hidden = false;
    byId("review").disabled = false;
    const warning = warningOf(order, estimates, tokens);
    if (warning !== undefined && !this.#hasFailed) say("order-notice", warning, "bad");
  }

  #sides() {
    return { input: this.#tokens.find(byId("in-token").value), output: this.#tokens.find(byId("out-token").value) };
  }

  /** Reads what the wallet holds of both tokens. @throws Error with a message for the user */
  async refreshBalances() {
    if (this.#apiKey === undefined) return;
    const { input, output } = this.#sides();
    const mints = [input, output].filter((mint) => mint !== undefined);
    await this.#tokens.refresh(this.#apiKey, mints);
    this.#showBalances();
  }

  #showBalances() {
    const { input, output } = this.#sides();
    for (const [side, mint] of [
      ["in", input],
      ["out", output],
    ]) {
      const balance = mint === undefined ? undefined : this.#tokens.balance(mint);
      byId(`${side}-balance`).textContent =
        balance === undefined ? "" : `Balance ${toWords(balance.raw, balance.decimals)} ${this.#tokens.name(mint)}`;
    }
  }

  #listen() {
    for (const button of document.querySelectorAll("[data-percent]")) {
      button.addEventListener("click", () => this.#takeShare(BigInt(button.dataset.percent)));
    }
    for (const [id, typed] of [
      ["in-amount", "exactIn"],
      ["out-amount", "exactOut"],
    ]) {
      byId(id).addEventListener("input", () => {
        this.#mode = typed;
        this.#askSoon();
      });
    }
    for (const id of ["in-token", "out-token"]) {
      byId(id).addEventListener("change", () => this.#changeToken(byId(id).value));
      // A click shows the whole list and not only what matches the present token.
      byId(id).addEventListener("focus", () => byId(id).select());
    }
    byId("priority").addEventListener("change", () => this.#askSoon());
    byId("flip").addEventListener("click", () => this.#flip());
  }

  #takeShare(share) {
    const { input } = this.#sides();
    const balance = input === undefined ? undefined : this.#tokens.balance(input);
    if (balance === undefined) {
      say("order-notice", "Connect a wallet first: its balance is what the share is taken of.", "bad");
      return;
    }
    const wanted = (balance.raw * share) / 100n;
    const spendable = this.#tokens.isSol(input) ? balance.raw - LEFT_LAMPORTS : balance.raw;
    const raw = roundToDouble(wanted < spendable ? wanted : spendable > 0n ? spendable : 0n);
    byId("in-amount").value = toWhole(raw, balance.decimals);
    this.#mode = "exactIn";
    this.ask();
  }

  async #changeToken(typed) {
    this.#changed();
    // The balance of the token before it is not that of this one.
    this.#showBalances();
    if (this.#tokens.find(typed) === undefined) {
      say("order-notice", `${typed || "An empty field"} is neither a symbol listed here nor a mint address.`, "bad");
      byId("review").disabled = true;
      this.pause();
      return;
    }
    this.ask();
    try {
      await this.refreshBalances();
    } catch (error) {
      sayFailure("order-notice", error);
    }
  }

  #flip() {
    for (const [a, b] of [
      ["in-token", "out-token"],
      ["in-amount", "out-amount"],
    ]) {
      [byId(a).value, byId(b).value] = [byId(b).value, byId(a).value];
    }
    this.#mode = this.#mode === "exactIn" ? "exactOut" : "exactIn";
    this.#showBalances();
    this.ask();
  }

  /** Asks once typing pauses; nothing is built meanwhile, as the price on show is another order's. */
  #askSoon() {
    this.#changed();
    byId("review").disabled = true;
    clearTimeout(this.#typing);
    this.#typing = setTimeout(() => this.ask(), TYPED_MS);
  }
}
