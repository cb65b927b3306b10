import { TradewireError } from "../../errors/tradewire-error.ts";
import type { Now } from "../../primitives/clock.ts";
import { medianBy } from "../../primitives/integer.ts";
import type { ChainClock } from "../../solana/account.ts";
import { TRANSACTION_V1_FEATURE } from "../../solana/features.ts";
import type { ChainHead, Lifetime } from "../port.ts";
import { NodeError } from "../rpc/node-error.ts";
import type { RpcEndpoint } from "../rpc/rpc-endpoint.ts";
import type { RpcPool } from "../rpc/rpc-pool.ts";
import { asInteger } from "../rpc/rpc-values.ts";
import type { Subscriptions } from "../rpc/subscriptions/subscriptions.ts";
import { BlockHeights } from "./block-heights.ts";
import { NewestBlockhash } from "./blockhash/newest-blockhash.ts";
import { ChainTime } from "./chain-time.ts";
import { FeatureGates } from "./feature-gates.ts";
import { GenesisWatch } from "./genesis-watch.ts";
import { decodeSlotMs } from "./head-answers.ts";
import { NewestClock } from "./newest-clock.ts";
import { MAX_LAG_SLOTS, NewestSlot, PROCESSED_LAG_SLOTS } from "./newest-slot.ts";
import { RentRates } from "./rent-rates.ts";
import { repeat } from "./repeat.ts";

/** The head of the chain with what only the chain's own rooms and reports use; followed until closed. */
export interface LiveChainHead extends ChainHead {
  /** The newest slot known. */
  slot(): bigint;
  /** The block height that is certainly reached: of two nodes, the one that reports the higher may be wrong. */
  leastBlockHeight(): bigint;
  /** False for a slot far from the head: its source lags or is wrong. */
  isCredible(slot: bigint): boolean;
  /** The slot that at least two of three or more nodes have reached; undefined with fewer nodes. */
  slotByNodes(): bigint | undefined;
  /** Milliseconds since the slot last moved. */
  slotAgeMs(): number;
  /**
   * Milliseconds since a node last showed that there is nothing newer. Small while the chain pauses and nodes answer; after
   * the longest pause allowed it is the pause itself, because a node that is cut off looks the same.
   */
  silenceMs(): number;
  /** True if the cluster has activated version 1 transactions: elsewhere nodes accept and drop them. */
  hasTransactionV1(): boolean;
  /** Why no message can be built on this head now; undefined if one can. */
  fault(): string | undefined;
  close(): void;
}

interface ChainHeadOptions {
  readonly pool: RpcPool;
  readonly subscriptions: Subscriptions;
  /** The clock for ages; best a monotonic one. */
  readonly now: Now;
  /** The clock of `heightAtMs`, which others see; absent: `now`. */
  readonly wallMs?: Now;
  readonly monotonicMs: Now;
  readonly warn: (message: string) => void;
  /** Called once if most of the nodes, or the trusted one, have switched to another chain. */
  readonly onForeignChain?: ((message: string) => void) | undefined;
  /** The node whose word decides a contradiction about the chain served; undefined if the operator named none. */
  readonly trusted?: RpcEndpoint | undefined;
  /**
   * Maximum age of a blockhash that is answered: age costs time to sign and land, nothing else. Also the longest pause of the chain during
   * which its state counts as current.
   */
  readonly maxAgeMs?: number;
  /** Maximum age of a clock that is answered while the chain moves: quotes depend on it as on market state. */
  readonly clockMaxAgeMs?: number;
}

const DEFAULT_MAX_AGE_MS = 2_000;
/** How often blockhash and clock are read while messages are built. */
const REFRESH_MS = 400;
/** The same at rest. */
const IDLE_REFRESH_MS = 1_000;
/** Time without a build after which the head is idle. */
const REST_AFTER_MS = 10_000;
/** How often slow facts are read: rent, and the distance between slot and block height. */
const SLOW_REFRESH_MS = 10_000;
const START_TIMEOUT_MS = 10_000;
const START_POLL_MS = 20;
/** Features are activated at the beginning of an epoch, announced days before. */
const FEATURE_REFRESH_MS = 60_000;
/** Blockhashes tried at the start until one is proven, and the pause after a failed one. Milliseconds. */
const START_BLOCKHASHES = 5;
const START_BLOCKHASH_MS = 100;
/** Part of the maximum age for which a proven blockhash is not replaced while idle, because its proof takes a call. */
const FRESH_AT_REST = 1 / 8;
/** Consecutive refreshes contradicted by every endpoint after which the remembered head counts as wrong. */
const MAX_CONTRADICTIONS = 8;
const PROCESSED = { commitment: "processed" };

/**
 * Follows the head of the chain. Resolves once everything can be answered.
 *
 * @throws TradewireError UPSTREAM_ERROR if no endpoint answers, or the slot does not move
 */
export async function createChainHead(options: ChainHeadOptions): Promise<LiveChainHead> {
  const head = new FollowedChainHead(options);
  try {
    await head.start();
    return head;
  } catch (error) {
    head.close();
    throw error;
  }
}

class FollowedChainHead implements LiveChainHead {
  readonly #pool: RpcPool;
  readonly #subscriptions: Subscriptions;
  readonly #now: Now;
  readonly #wallMs: Now;
  readonly #monotonicMs: Now;
  readonly #warn: (message: string) => void;
  readonly #maxAgeMs: number;
  readonly #newest: NewestSlot;
  readonly #rent: RentRates;
  readonly #features: FeatureGates;
  readonly #genesis: GenesisWatch;
  readonly #heights: BlockHeights;
  readonly #blockhash: NewestBlockhash;
  readonly #time: ChainTime;
  readonly #clock: NewestClock;
  readonly #stops: (() => void)[] = [];
  #genesisHash = "";
  #usedAtMs = 0;
  #refreshedAtMs = 0;
  #contradictions = 0;

  constructor(options: ChainHeadOptions) {
    this.#pool = options.pool;
    this.#subscriptions = options.subscriptions;
    this.#now = options.now;
    this.#wallMs = options.wallMs ?? options.now;
    this.#monotonicMs = options.monotonicMs;
    this.#warn = options.warn;
    this.#maxAgeMs = options.maxAgeMs ?? DEFAULT_MAX_AGE_MS;
    this.#newest = new NewestSlot(options.now, options.pool.slots);
    this.#rent = new RentRates(options.trusted);
    this.#features = new FeatureGates(options);
    this.#genesis = new GenesisWatch(options);
    this.#heights = new BlockHeights(options);
    this.#time = new ChainTime({ ...options, wallMs: this.#wallMs });
    this.#blockhash = new NewestBlockhash({
      ...options,
      newest: this.#newest,
      heights: this.#heights,
      maxAgeMs: this.#maxAgeMs,
    });
    this.#clock = new NewestClock({
      ...{ pool: options.pool, now: options.now, newest: this.#newest, time: this.#time },
      maxAgeMs: options.clockMaxAgeMs ?? this.#maxAgeMs,
      maxPauseMs: this.#maxAgeMs,
      onUnfollowed: () => this.#correctNewest(),
    });
  }

  async start(): Promise<void> {
    this.#stops.push(this.#subscriptions.onSlot((slot) => this.#newest.noteBegun(slot)));
    await this.#locate();
    const [genesis, slotMs] = await Promise.all([
      this.#genesis.find(),
      this.#sampleSlotMs(),
      this.#refreshFast(),
      this.#refreshSlow(),
    ]);
    this.#genesisHash = genesis;
    await this.#awaitBlockhash();
    await Promise.all([this.#features.refresh(), this.#genesis.check(this.#genesisHash)]);
    if (slotMs > 0) this.#newest.beginPace(slotMs);
    this.#stops.push(
      this.#repeat(() => this.#refreshIfDue(), REFRESH_MS, "blockhash and clock"),
      this.#repeat(() => this.#refreshSlow(), SLOW_REFRESH_MS, "rent and block height"),
      this.#repeat(() => this.#genesis.check(this.#genesisHash), SLOW_REFRESH_MS, "the genesis hash"),
      this.#repeat(() => this.#features.refresh(), FEATURE_REFRESH_MS, "feature accounts"),
    );
    await this.#awaitPace();
  }

  lifetime(): Lifetime {
    this.#usedAtMs = this.#now();
    const stale = this.#staleLifetime();
    if (stale !== undefined) throw stale;
    return this.#blockhash.lifetime!;
  }

  clock(): ChainClock {
    const stale = this.#staleClock();
    if (stale !== undefined) throw stale;
    return this.#clock.clock!;
  }

  fault(): string | undefined {
    return (this.#staleLifetime() ?? this.#staleClock())?.message;
  }

  blockHeight(): bigint {
    return this.#heights.at(this.#newest.slot);
  }

  leastBlockHeight(): bigint {
    return this.#heights.at(this.#newest.least);
  }

  slotMs(): number {
    return this.#newest.slotMs;
  }

  heightAtMs(height: bigint): number {
    // Counted from when the newest slot began, not from now.
    return this.#wallMs() - this.slotAgeMs() + Number(height - this.blockHeight()) * this.#newest.slotMs;
  }

  rentExemption(space: number): bigint {
    return this.#rent.exemption(space);
  }

  genesisHash(): string {
    return this.#genesisHash;
  }

  hasTransactionV1(): boolean {
    return this.#features.isActive(TRANSACTION_V1_FEATURE);
  }

  slot(): bigint {
    return this.#newest.slot;
  }

  isCredible(slot: bigint): boolean {
    return !this.#newest.isOff(slot);
  }

  slotByNodes(): bigint | undefined {
    return this.#newest.byNodes();
  }

  slotAgeMs(): number {
    return this.#newest.ageMs();
  }

  silenceMs(): number {
    const pausedMs = this.slotAgeMs();
    return pausedMs > this.#maxAgeMs ? pausedMs : Math.min(pausedMs, this.#now() - this.#clock.shownAtMs);
  }

  close(): void {
    for (const stop of this.#stops) stop();
  }

  #staleLifetime(): TradewireError | undefined {
    return this.#blockhash.isStale() ? this.#stale("blockhash", this.#blockhash.ageMs()) : undefined;
  }

  #staleClock(): TradewireError | undefined {
    return this.#clock.isStale() ? this.#stale("chain clock", this.#clock.ageMs()) : undefined;
  }

  #stale(what: string, ageMs: number): TradewireError {
    const isContradicted = what === "blockhash" && this.#blockhash.isContradicted;
    const why = isContradicted ? "The Solana nodes contradict each other about newer ones" : "The Solana node lags";
    const isUndone = what === "blockhash" && this.#blockhash.isUndone;
    const fault = isUndone
      ? "The chain that the newest blockhash was of was undone"
      : `The newest ${what} is ${Math.round(ageMs)} ms old. ${why}`;
    return new TradewireError("STATE_STALE", `${fault}; try again shortly.`, { retryAfterMs: REFRESH_MS });
  }

  #repeat(work: () => Promise<unknown>, periodMs: number, what: string): () => void {
    return repeat(work, periodMs, (error) => this.#warn(`Cannot refresh ${what}: ${String(error)}`));
  }

  /** Finds the head from all endpoints: the median of their answers, without those that lag behind the wall clock. */
  async #locate(): Promise<void> {
    const asked = this.#time.ask();
    this.#newest.reset(await this.#heights.locate(asked.then((answers) => this.#time.laggards(answers))));
    this.#time.take((await asked).filter(({ readAt }) => !this.#isBehind(readAt)));
    this.#blockhash.forget();
    this.#clock.forget();
  }

  /** Less often while idle: nobody uses the results then. */
  async #refreshIfDue(): Promise<void> {
    const isAtRest = this.#now() - this.#usedAtMs > REST_AFTER_MS;
    if (isAtRest && this.#now() - this.#refreshedAtMs < IDLE_REFRESH_MS) return;
    this.#refreshedAtMs = this.#now();
    const isFresh = this.#blockhash.ageMs() < FRESH_AT_REST * this.#maxAgeMs;
    await this.#refreshFast(isAtRest && isFresh && this.#blockhash.isProven);
  }

  async #refreshFast(isClockOnly = false): Promise<void> {
    try {
      await Promise.all([isClockOnly ? undefined : this.#blockhash.refresh(), this.#clock.refresh()]);
      this.#contradictions = 0;
    } catch (error) {
      if (error instanceof NodeError && error.kind === "malformed") {
        this.#contradictions += 1;
        await this.#blockhash.dropIfUndone();
      }
      if (this.#contradictions < MAX_CONTRADICTIONS && !this.#blockhash.isUndone) throw error;
      this.#contradictions = 0;
      await this.#genesis.check(this.#genesisHash);
      await this.#locate();
    }
  }

  async #refreshSlow(): Promise<void> {
    await Promise.all([
      this.#refreshHeight(),
      this.#rent.refresh(this.#pool),
      this.#time.refresh((slot) => this.#isBehind(slot)),
    ]);
  }

  /** True for a slot that proves nothing about the current time. */
  #isBehind(slot: bigint): boolean {
    return slot + MAX_LAG_SLOTS < this.#newest.slot || this.#newest.isOff(slot);
  }

  /** Takes back a newest slot that the chain has not reached, and a blockhash from there: one node alone had reported it. */
  async #correctNewest(): Promise<void> {
    const askedAtMs = this.#now();
    const settled = await Promise.allSettled(
      this.#pool.endpoints.map(async (endpoint) => {
        const found = asInteger(await this.#pool.ask(endpoint, "getSlot", [PROCESSED]), "a slot");
        return { found, tookMs: Math.max(0, this.#now() - askedAtMs) };
      }),
    );
    const answers = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    if (answers.length === 0) return;
    const { found } = medianBy(answers, (answer) => answer.found);
    // The chain went on while an answer travelled, or waited here to be read.
    const nowOf = (answer: (typeof answers)[number]) => answer.found + this.#slotsIn(answer.tookMs);
    const byNow = nowOf(medianBy(answers, nowOf));
    if (byNow + PROCESSED_LAG_SLOTS >= this.#newest.slot) return;
    this.#warn(`The newest slot ${this.#newest.slot} is taken back to ${found}: no node follows it.`);
    this.#newest.reset(found);
    await this.#blockhash.comeBackTo(found);
  }

  /** Slots that may begin within this time. */
  #slotsIn(tookMs: number): bigint {
    return BigInt(Math.ceil(tookMs / Math.max(1, this.slotMs())));
  }

  async #refreshHeight(): Promise<void> {
    this.#newest.noteBegun(await this.#heights.refresh((slot) => this.#newest.isOff(slot)));
  }

  /** The node's own measure of the last minute's slots; 0 if it has none. */
  async #sampleSlotMs(): Promise<number> {
    try {
      return decodeSlotMs(await this.#pool.read("getRecentPerformanceSamples", [1]));
    } catch {
      // A node without samples: the pace is measured from the slots themselves, a little later.
      return 0;
    }
  }

  /** The process starts even if the nodes contradict each other about it: builds answer STATE_STALE until they agree. */
  async #awaitBlockhash(): Promise<void> {
    for (let asked = 1; ; asked++) {
      await this.#blockhash.settle();
      if (this.#blockhash.lifetime !== undefined || asked === START_BLOCKHASHES) return;
      await new Promise((resolve) => setTimeout(resolve, START_BLOCKHASH_MS));
      // Read once already: a node that fails now is asked again with the next refresh.
      await this.#blockhash.refresh().catch(() => {});
    }
  }

  async #awaitPace(): Promise<void> {
    const startedAtMs = this.#monotonicMs();
    while (this.#newest.slotMs <= 0) {
      if (this.#monotonicMs() - startedAtMs > START_TIMEOUT_MS)
        throw new NodeError(
          "unreachable",
          "The Solana node's slot does not move. Check that it is running and in sync.",
        );
      await new Promise((resolve) => setTimeout(resolve, START_POLL_MS));
    }
  }
}
