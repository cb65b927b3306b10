import { randomBytes } from "node:crypto";
import { createStateSource, type LiveStateSource } from "../../../src/chain/state/state-source.ts";
import { createMarkets, type LiveMarkets } from "../../../src/market/markets.ts";
import type { MarketIndex } from "../../../src/market/search/market-index.ts";
import { Address } from "../../../src/primitives/address.ts";
import { HUB_MINTS } from "../../../src/solana/hub-mints.ts";
import { SOL_MINT, SYSTEM_PROGRAM } from "../../../src/solana/programs.ts";
import { type BuildPorts, buildTrade } from "../../../src/trade/build/build-trade.ts";
import type { TradeRequest } from "../../../src/trade/trade.ts";
import type { Venue } from "../../../src/venues/venue.ts";
import { memoryPorts } from "../../support/memory-ports.ts";
import { WORLD_CLOCK } from "../../support/world.ts";
import type { LiveChain } from "./live-chain.ts";

/** Any number of searches: budgets are not what is measured. */
export const UNLIMITED = {
  perKey: 0,
  perAddress: 0,
  perSecond: 0,
  burstSeconds: 60,
  atOnce: 1_000,
  waitMs: 60_000,
} as const;
const SLOT_MS = 200;
/** Pairs, mints and accounts that no limit drops. */
const MANY = 10_000_000;
/** Builds that wait at a time. */
const AT_ONCE = 250;

/** The state source and the markets of a service on a chain in memory, with what a build needs beside them. */
export class LiveService {
  readonly source: LiveStateSource;
  readonly markets: LiveMarkets;
  readonly ports: BuildPorts;
  readonly #wallet: Address;
  readonly #slots: NodeJS.Timeout;

  /** @param index markets found before; absent: none */
  constructor(chain: LiveChain, venues: readonly Venue[], index?: MarketIndex) {
    const { reader, feed } = chain;
    this.#wallet = Address.from(randomBytes(32));
    chain.put(this.#wallet, SYSTEM_PROGRAM, new Uint8Array(0), 1n << 50n);
    this.source = createStateSource({ reader, feed, now: Date.now, warn: console.warn, refreshMs: 300_000 });
    const [mint] = chain.pools.keys();
    const ports = memoryPorts({ mint: mint!, clock: WORLD_CLOCK, wallet: this.#wallet, markets: [] });
    this.markets = createMarkets({
      reader,
      source: this.source,
      head: { slotAgeMs: () => Date.now() - chain.liveAtMs, clock: ports.head.clock },
      venues,
      index,
      searchBudget: UNLIMITED,
      maxAgeMs: 60_000,
      maxPairs: MANY,
      maxSingles: MANY,
      researchMs: 3_600_000,
      negativeMs: 3_600_000,
      idleMs: 3_600_000,
      now: Date.now,
      warn: console.warn,
    });
    this.ports = { ...ports, markets: this.markets };
    chain.beginSlot();
    this.#slots = setInterval(() => chain.beginSlot(), SLOT_MS);
  }

  /** Builds a buy of the token. */
  build(mint: Address): ReturnType<typeof buildTrade> {
    return buildTrade(this.ports, this.#request(mint));
  }

  /** Builds on every token once, as its first caller does. */
  async warm(tokens: readonly Address[]): Promise<void> {
    for (let at = 0; at < tokens.length; at += AT_ONCE)
      await Promise.all(tokens.slice(at, at + AT_ONCE).map((token) => this.build(token)));
  }

  /** Holds the tokens and their pairs with SOL and the other hub, as builds do, without a wallet's accounts. */
  async hold(tokens: readonly Address[]): Promise<void> {
    const holdOne = async (token: Address) => {
      await this.markets.mint(token);
      await Promise.all(HUB_MINTS.map((hub) => this.markets.marketsOf({ a: hub, b: token })));
    };
    for (let at = 0; at < tokens.length; at += AT_ONCE) await Promise.all(tokens.slice(at, at + AT_ONCE).map(holdOne));
  }

  close(): void {
    clearInterval(this.#slots);
    this.markets.close();
    this.source.close();
  }

  #request(mint: Address): TradeRequest {
    return {
      principal: { accountId: "bench", keyId: "bench", wallet: this.#wallet },
      inMint: SOL_MINT,
      outMint: mint,
      mode: "exactIn",
      amount: 0.1,
      slippage: 0.05,
      priority: "fast",
      maxPriceImpact: undefined,
      maxPriorityCost: undefined,
    };
  }
}
