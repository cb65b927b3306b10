import { PRIORITY_LEVELS, type SenderPlan, type Tip } from "../../chain/port.ts";
import { Address } from "../../primitives/address.ts";
import { RANDOM_TEXT_LENGTH } from "../../primitives/random-text.ts";
import type { Account } from "../../solana/account.ts";
import { MAX_TRANSACTION_ACCOUNTS } from "../../solana/message.ts";
import { TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { SwapMode } from "../../venues/venue.ts";
import type { Intent } from "../intent.ts";
import type { RouteFit } from "../quote/quote-trade.ts";
import type { Route } from "../quote/route.ts";
import { lossOf } from "../quote/route-order.ts";
import type { Snapshot } from "../quote/snapshot.ts";
import type { Splits } from "../quote/split/splits.ts";
import { composeMessage, type MessagePorts, type MessageTerms, misfitOf } from "./message-forms.ts";
import { walletAccounts, wrappedSolAccount } from "./wallet-accounts.ts";

/** What measuring a route reads, all from memory. */
export interface RouteFitPorts extends Omit<MessagePorts, "markets"> {
  readonly senders: SenderPlan;
}

/** A placeholder wallet: the transactions of a quote are measured in its name. */
const WALLET = Address.from(new Uint8Array(32).fill(7));
const WRAPPED_SOL = wrappedSolAccount(WALLET).address;
const OPEN: Account = {
  address: WALLET,
  owner: TOKEN_PROGRAM,
  lamports: 1n,
  data: new Uint8Array(0),
  executable: false,
  slot: 0n,
};
const BLOCKHASH = new Uint8Array(32);
const NO_TIPS: MessageTerms["choice"] = { senders: [], tips: [] };
const SEED = "-".repeat(RANDOM_TEXT_LENGTH);

/** A wallet that holds nothing but SOL, and one that needs no new account. */
const NOTHING_OPEN: MessagePorts["markets"] = { account: () => null };
const EVERYTHING_OPEN: MessagePorts["markets"] = { account: () => OPEN };
const ALL_OPEN: MessagePorts["markets"] = { account: (address) => (address === WRAPPED_SOL ? null : OPEN) };

/**
 * Measures the transaction of each route, in order: for a wallet without token accounts, with the most tips that any
 * priority asks for; if that is too large, for a wallet that has all accounts, without tips.
 */
export function measureRoutes(
  ports: RouteFitPorts,
  intent: Intent,
  snapshot: Snapshot,
  routes: readonly Route[],
  maxTransactionVersion: number | undefined,
): readonly RouteFit[] {
  const accounts = walletAccounts({ wallet: WALLET }, intent.inMint, intent.outMint);
  const shared = {
    request: { priority: "fastest", maxTransactionVersion },
    intent,
    accounts,
    snapshot,
    blockhash: BLOCKHASH,
    nonce: 0,
    seed: SEED,
  } as const;
  const withTips = { ...shared, choice: { senders: [], tips: mostTips(ports.senders) } };
  const withoutTips = { ...shared, choice: NO_TIPS };
  const forNewWallet = { ...ports, markets: NOTHING_OPEN };
  const forOpenWallet = { ...ports, markets: ALL_OPEN };
  return routes.map((route): RouteFit => {
    if (composeMessage(forNewWallet, withTips, route).fits) return { kind: "always" };
    const composed = composeMessage(forOpenWallet, withoutTips, route);
    return composed.fits ? { kind: "openAccounts" } : { kind: "never", ...misfitOf(composed) };
  });
}

/**
 * True if a route takes too many compute units or accounts for any wallet: even for one that has all token accounts, without tips. Opening
 * an account takes thousands of units, depending on its address.
 */
export function fitsNobody(ports: MessagePorts, terms: MessageTerms, route: Route): boolean {
  const forOpenWallet = { ...ports, markets: EVERYTHING_OPEN };
  const { overUnits, accounts = 0 } = composeMessage(forOpenWallet, { ...terms, choice: NO_TIPS }, route);
  return overUnits || accounts > MAX_TRANSACTION_ACCOUNTS;
}

/**
 * True if the transaction of a route has too many bytes for any wallet: even for one that opens and closes no account beside the temporary
 * one, without tips.
 */
export function isTooLargeForAll(ports: MessagePorts, terms: MessageTerms, route: Route): boolean {
  const wrapped = wrappedSolAccount(terms.accounts.wallet).address;
  const account: MessagePorts["markets"]["account"] = (address) => (address === wrapped ? null : OPEN);
  const barest = { ...terms, intent: { ...terms.intent, emptied: undefined }, choice: NO_TIPS };
  return !composeMessage({ ...ports, markets: { account } }, barest, route).fits;
}

/** The tips of the priority that asks for most of them. */
function mostTips(senders: SenderPlan): readonly Tip[] {
  return PRIORITY_LEVELS.map((priority) => senders.choose(priority, 0).tips).reduce((a, b) =>
    b.length > a.length ? b : a,
  );
}

interface UnfitRoute {
  readonly value: number;
  readonly learn: () => boolean;
}

/**
 * What one trade loses because better routes fit into no transaction. A route that fits no wallet is remembered for all trades of about
 * this size; one that does not fit this wallet counts for this trade only.
 */
export class FitLoss {
  readonly #mode: SwapMode;
  readonly #splits: Pick<Splits, "unfitWorth" | "beginsBelow"> | undefined;
  /** The value of the best route, whether it fits or not: the most output, or the least input. */
  #best: number | undefined;
  /** A route that fits no wallet, until another one is tried in its place. */
  #unfit: UnfitRoute | undefined;

  constructor(mode: SwapMode, splits: Pick<Splits, "unfitWorth" | "beginsBelow"> | undefined) {
    this.#mode = mode;
    this.#splits = splits;
  }

  /** Notes that the message of a route was composed: the best one first. */
  tries(route: Route): void {
    const value = Number(route.value);
    const unfitWorth = this.#splits?.unfitWorth ?? 1;
    const best = this.#best ?? (this.#isOutput ? value * unfitWorth : value / unfitWorth);
    this.#best = this.#isOutput ? Math.max(best, value) : Math.min(best, value);
    const unfit = this.#unfit;
    this.#unfit = undefined;
    if (unfit?.learn() !== true) return;
    this.#splits?.beginsBelow(this.#isOutput ? unfit.value / value : value / unfit.value);
  }

  /**
   * Notes that a route fits into no wallet's transaction. Other trades learn that together with what it costs them, once another route is
   * tried: a draft may be abandoned before, at a pause.
   *
   * @param learn keeps other trades from beginning with it; returns false if they do not do so already
   */
  fitsNobody(route: Route, learn: () => boolean): void {
    this.#unfit ??= { value: Number(route.value), learn };
  }

  /** How much better, before costs, the best route is than this one, which fits. Fraction of this one's value. */
  of(taken: Route): number {
    const value = Number(taken.value);
    return lossOf(this.#mode, this.#best ?? value, value);
  }

  get #isOutput(): boolean {
    return this.#mode === "exactIn";
  }
}
