import { TradewireError } from "../../errors/tradewire-error.ts";
import type { Now } from "../../primitives/clock.ts";
import type { ChainClock } from "../../solana/account.ts";
import { CLOCK_SYSVAR } from "../../solana/programs.ts";
import type { ChainHead, Lifetime } from "../port.ts";
import { NodeError } from "../rpc/node-error.ts";
import type { RpcEndpoint } from "../rpc/rpc-endpoint.ts";
import type { RpcPool } from "../rpc/rpc-pool.ts";
import { asContext, asText } from "../rpc/rpc-values.ts";
import type { Subscriptions } from "../rpc/subscriptions.ts";
import { decodeClock, decodeHeight, decodeLifetime, decodeSlotMs, type SlotHeight } from "./head-answers.ts";
import { MAX_LAG_SLOTS, NewestSlot } from "./newest-slot.ts";
import { RentRates } from "./rent-rates.ts";
import { repeat } from "./repeat.ts";

export interface LiveChainHead extends ChainHead {
  /** The newest slot known. */
  slot(): bigint;
  /** False for a slot far from the head: its source lags or is wrong. */
  isCredible(slot: bigint): boolean;
  /** Milliseconds since the slot last moved. */
  slotAgeMs(): number;
  close(): void;
}

interface ChainHeadOptions {
  readonly pool: RpcPool;
  readonly subscriptions: Subscriptions;
  readonly now: Now;
  readonly monotonicMs: Now;
  readonly warn: (message: string) => void;
  /** Oldest blockhash and clock answered. */
  readonly maxAgeMs?: number;
  /** How often blockhash and clock are read. */
  readonly refreshMs?: number;
  /** How often slow facts are read: rent, and the distance between slot and block height. */
  readonly slowRefreshMs?: number;
}

const DEFAULT_MAX_AGE_MS = 2_000;
const DEFAULT_REFRESH_MS = 400;
const DEFAULT_SLOW_REFRESH_MS = 10_000;
const START_TIMEOUT_MS = 10_000;
const START_POLL_MS = 20;
/** Blocks a new blockhash is valid for. @see agave MAX_PROCESSING_AGE */
const BLOCKHASH_BLOCKS = 150n;
/** Upper bound of the drift between slot and last valid height from one blockhash to the next: one for each skipped slot. */
const MAX_SKIPPED_SLOTS = 40n;
/** Consecutive refreshes contradicted by every endpoint after which what is remembered counts as wrong. */
const MAX_CONTRADICTIONS = 8;
const PROCESSED = { commitment: "processed" };
const CONFIRMED = { commitment: "confirmed" };

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
  readonly #monotonicMs: Now;
  readonly #warn: (message: string) => void;
  readonly #maxAgeMs: number;
  readonly #refreshMs: number;
  readonly #slowRefreshMs: number;
  readonly #newest: NewestSlot;
  readonly #rent = new RentRates();
  readonly #stops: (() => void)[] = [];
  #genesisHash = "";
  #lifetime: Lifetime | undefined;
  #lifetimeAtMs = 0;
  /** Last valid height minus slot: equal on every endpoint, unless one is wrong. */
  #lifetimeSpan = 0n;
  #clock: ChainClock | undefined;
  #clockAtMs = 0;
  /** Slot minus block height: grows by one for each skipped slot. */
  #skippedSlots = 0n;
  /** Refreshes that brought no newer blockhash. */
  #standstills = 0;
  #contradictions = 0;

  constructor(options: ChainHeadOptions) {
    this.#pool = options.pool;
    this.#subscriptions = options.subscriptions;
    this.#now = options.now;
    this.#monotonicMs = options.monotonicMs;
    this.#warn = options.warn;
    this.#maxAgeMs = options.maxAgeMs ?? DEFAULT_MAX_AGE_MS;
    this.#refreshMs = options.refreshMs ?? DEFAULT_REFRESH_MS;
    this.#slowRefreshMs = options.slowRefreshMs ?? DEFAULT_SLOW_REFRESH_MS;
    this.#newest = new NewestSlot(options.now);
  }

  async start(): Promise<void> {
    this.#stops.push(this.#subscriptions.onSlot((slot) => this.#newest.noteBegun(slot)));
    await this.#locate();
    const [genesis, slotMs] = await Promise.all([
      this.#pool.read("getGenesisHash", []),
      this.#sampleSlotMs(),
      this.#refreshFast(),
      this.#refreshSlow(),
    ]);
    this.#genesisHash = asText(genesis, "a genesis hash");
    if (slotMs > 0) this.#newest.beginPace(slotMs);
    this.#stops.push(
      this.#repeat(() => this.#refreshFast(), this.#refreshMs, "blockhash and clock"),
      this.#repeat(() => this.#refreshSlow(), this.#slowRefreshMs, "rent and block height"),
    );
    await this.#awaitPace();
  }

  lifetime(): Lifetime {
    const ageMs = this.#now() - this.#lifetimeAtMs;
    if (this.#lifetime === undefined || ageMs > this.#maxAgeMs) throw this.#stale("blockhash", ageMs);
    return this.#lifetime;
  }

  clock(): ChainClock {
    const ageMs = this.#now() - this.#clockAtMs;
    if (this.#clock === undefined || ageMs > this.#maxAgeMs) throw this.#stale("chain clock", ageMs);
    return this.#clock;
  }

  blockHeight(): bigint {
    return this.#newest.slot - this.#skippedSlots;
  }

  slotMs(): number {
    return this.#newest.slotMs;
  }

  heightAtMs(height: bigint): number {
    // Counted from when the newest slot began, not from now.
    return this.#newest.atMs + Number(height - this.blockHeight()) * this.#newest.slotMs;
  }

  rentExemption(space: number): bigint {
    return this.#rent.exemption(space);
  }

  genesisHash(): string {
    return this.#genesisHash;
  }

  slot(): bigint {
    return this.#newest.slot;
  }

  isCredible(slot: bigint): boolean {
    return !this.#newest.isOff(slot);
  }

  slotAgeMs(): number {
    return this.#now() - this.#newest.atMs;
  }

  close(): void {
    for (const stop of this.#stops) stop();
  }

  #stale(what: string, ageMs: number): TradewireError {
    return new TradewireError(
      "STATE_STALE",
      `The newest ${what} is ${Math.round(ageMs)} ms old. The Solana node lags; try again shortly.`,
      { retryAfterMs: this.#refreshMs },
    );
  }

  #repeat(work: () => Promise<unknown>, periodMs: number, what: string): () => void {
    return repeat(work, periodMs, (error) => this.#warn(`Cannot refresh ${what}: ${String(error)}`));
  }

  /** Finds the head from all endpoints together: the median of their answers. */
  async #locate(): Promise<void> {
    const settled = await Promise.allSettled(this.#pool.endpoints.map(fetchConsistentLifetime));
    const lifetimes = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    if (lifetimes.length === 0) throw settled.find((one) => one.status === "rejected")?.reason;
    this.#newest.reset(median(lifetimes.map(({ slot }) => slot)));
    this.#lifetimeSpan = median(lifetimes.map(spanOf));
    this.#lifetime = undefined;
    this.#clock = undefined;
  }

  async #refreshFast(): Promise<void> {
    try {
      await Promise.all([this.#refreshLifetime(), this.#refreshClock()]);
      this.#contradictions = 0;
    } catch (error) {
      if (error instanceof NodeError && error.kind === "malformed") this.#contradictions += 1;
      if (this.#contradictions < MAX_CONTRADICTIONS) throw error;
      this.#contradictions = 0;
      await this.#locate();
    }
  }

  async #refreshSlow(): Promise<void> {
    await Promise.all([this.#refreshHeight(), this.#rent.refresh(this.#pool)]);
  }

  async #refreshLifetime(): Promise<void> {
    const askedAtMs = this.#now();
    const known = this.#lifetime?.slot ?? 0n;
    const result = await this.#pool.read("getLatestBlockhash", [CONFIRMED], {
      // After a standstill another endpoint goes first.
      startAt: this.#standstills,
      isWrong: (answer) => this.#isWrongLifetime(decodeLifetime(answer), known),
    });
    const lifetime = decodeLifetime(result);
    // An endpoint that lags or stands still must not replace the blockhash, nor make it look new.
    if (lifetime.slot <= known) {
      this.#standstills += 1;
      return;
    }
    this.#lifetime = lifetime;
    this.#lifetimeSpan = spanOf(lifetime);
    this.#lifetimeAtMs = askedAtMs;
    this.#newest.noteReached(lifetime.slot);
  }

  #isWrongLifetime(lifetime: Lifetime, known: bigint): boolean {
    const lags = lifetime.slot + MAX_LAG_SLOTS < known;
    return lags || !this.#newest.isReachable(lifetime.slot) || !isSmall(spanOf(lifetime) - this.#lifetimeSpan);
  }

  async #refreshClock(): Promise<void> {
    const askedAtMs = this.#now();
    const params = [[CLOCK_SYSVAR.toString()], { encoding: "base64", ...PROCESSED }];
    const result = await this.#pool.read("getMultipleAccounts", params, {
      startAt: this.#standstills,
      isWrong: (answer) => this.#newest.isOff(asContext(answer, "the clock").slot),
    });
    const { readAt, clock } = decodeClock(result);
    this.#newest.noteBegun(readAt);
    if (this.#clock !== undefined && clock.slot <= this.#clock.slot) return;
    this.#clock = clock;
    this.#clockAtMs = askedAtMs;
  }

  async #refreshHeight(): Promise<void> {
    const result = await this.#pool.read("getEpochInfo", [PROCESSED], {
      isWrong: (answer) => {
        const height = decodeHeight(answer);
        return this.#newest.isOff(height.slot) || !isConsistent(height, this.#lifetimeSpan);
      },
    });
    const { slot, height } = decodeHeight(result);
    this.#newest.noteBegun(slot);
    this.#skippedSlots = slot - height;
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

/** One endpoint's lifetime, checked against its own block height. @throws TradewireError UPSTREAM_ERROR */
async function fetchConsistentLifetime(endpoint: RpcEndpoint): Promise<Lifetime> {
  const [blockhash, info] = await Promise.all([
    endpoint.call("getLatestBlockhash", [CONFIRMED]),
    endpoint.call("getEpochInfo", [CONFIRMED]),
  ]);
  const lifetime = decodeLifetime(blockhash);
  if (!isConsistent(decodeHeight(info), spanOf(lifetime)))
    throw new NodeError("malformed", `The Solana node ${endpoint.name} contradicts itself about its block height.`);
  return lifetime;
}

function spanOf({ lastValidBlockHeight, slot }: Lifetime): bigint {
  return lastValidBlockHeight - slot;
}

/** True if a block height agrees with the distance of last valid heights from their slots. */
function isConsistent({ slot, height }: SlotHeight, lifetimeSpan: bigint): boolean {
  const skippedSlots = BLOCKHASH_BLOCKS - lifetimeSpan;
  return height <= slot && isSmall(slot - height - skippedSlots);
}

function isSmall(drift: bigint): boolean {
  return drift <= MAX_SKIPPED_SLOTS && drift >= -MAX_SKIPPED_SLOTS;
}

/** The median; of an even number of values the lower one. */
function median(values: readonly bigint[]): bigint {
  return values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))[(values.length - 1) >> 1]!;
}
