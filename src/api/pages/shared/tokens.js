// The tokens that the page knows: by symbol on a test chain, by mint anywhere.

import { decimalsFrom } from "./amounts.js";
import { call, element } from "./page.js";

const SOL = "So11111111111111111111111111111111111111112";
/** Public tokens that trades of this service pass through. */
const PUBLIC = [["USDC", "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", 6]];
const MINT = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

export class Tokens {
  #mints = new Map([["SOL", SOL]]);
  #symbols = new Map([[SOL, "SOL"]]);
  #decimals = new Map([[SOL, 9]]);
  #balances = new Map();

  constructor({ network, tokens }) {
    const listed = tokens.map(({ symbol, mint }) => [symbol, mint]);
    for (const [symbol, mint, decimals] of network === "mainnet" ? PUBLIC : listed) {
      // One symbol may stand for several mints; the first one gets it.
      if (!this.#mints.has(symbol.toUpperCase())) this.#mints.set(symbol.toUpperCase(), mint);
      this.#symbols.set(mint, symbol);
      if (decimals !== undefined) this.#decimals.set(mint, decimals);
    }
  }

  /** Fills a datalist: the symbol is typed, the mint is shown beside it. */
  list(datalist) {
    const options = [...this.#mints.values()].map((mint) =>
      element("option", { value: this.name(mint) }, `${this.name(mint)} · ${mint}`),
    );
    datalist.replaceChildren(...options);
  }

  /** What the page offers to buy first. */
  first() {
    return [...this.#symbols.values()][1] ?? "";
  }

  /** The mint that a symbol or mint stands for; undefined if it is neither. */
  find(text) {
    const words = text.trim();
    return this.#mints.get(words.toUpperCase()) ?? (MINT.test(words) ? words : undefined);
  }

  name(mint) {
    const symbol = this.#symbols.get(mint);
    const isOwn = symbol !== undefined && this.#mints.get(symbol.toUpperCase()) === mint;
    return isOwn ? symbol : `${mint.slice(0, 4)}…${mint.slice(-4)}`;
  }

  isSol(mint) {
    return mint === SOL;
  }

  decimals(mint) {
    return this.#decimals.get(mint);
  }

  /** Takes the decimals of a token from both forms of an amount. */
  learn(mint, amount, raw) {
    if (this.#decimals.has(mint)) return;
    const decimals = decimalsFrom(amount, raw);
    if (decimals !== undefined) this.#decimals.set(mint, decimals);
  }

  /** Reads the balances of the account's wallet. @throws Error with a message for the user */
  async refresh(apiKey, mints) {
    const query = new URLSearchParams(mints.filter((mint) => mint !== SOL).map((mint) => ["mint", mint]));
    const { lamportsRaw, tokens } = await call("GET", `/v1/auth/balances?${query}`, { apiKey });
    this.#balances.set(SOL, BigInt(lamportsRaw));
    for (const { mint, amountRaw, decimals } of tokens) {
      this.#balances.set(mint, BigInt(amountRaw));
      this.#decimals.set(mint, decimals);
    }
  }

  /** What the wallet holds; undefined if that is not known. */
  balance(mint) {
    const raw = this.#balances.get(mint);
    const decimals = this.#decimals.get(mint);
    return raw === undefined || decimals === undefined ? undefined : { raw, decimals };
  }

  forget() {
    this.#balances.clear();
  }
}
