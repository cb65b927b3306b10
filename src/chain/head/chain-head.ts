import bs58 from "bs58";
import { TradewireError } from "../../errors/tradewire-error.ts";
import { readU64 } from "../../primitives/bytes.ts";
import type { Now } from "../../primitives/clock.ts";
import { ceilDiv } from "../../primitives/integer.ts";
import type { ChainClock } from "../../solana/account.ts";
import { CLOCK_SYSVAR } from "../../solana/programs.ts";
import type { ChainHead, Lifetime } from "../port.ts";
import { NodeError } from "../rpc/node-error.ts";
import type { RpcPool } from "../rpc/rpc-pool.ts";
import { asAccount, asContext, asInteger, asList, asRecord, asText } from "../rpc/rpc-values.ts";
import type { Subscriptions } from "../rpc/subscriptions.ts";
import { SlotPace } from "./slot-pace.ts";

export interface LiveChainHead extends ChainHead {
  /** The newest slot known. */
  slot(): bigint;
  /** False for a slot far from where the chain is: whoever tells of it lags, or is wrong. */
  isCredible(slot: bigint): boolean;
  /** Milliseconds since the slot last moved: how long nothing has been known to happen. */
  slotAgeMs(): number;
  close(): void;
}

interface ChainHeadOptions {
  readonly pool: RpcPool;
  readonly subscriptions: Subscriptions;
  readonly now: Now;
  readonly warn: (message: string) => void;
  /** Oldest blockhash and clock answered. */
  readonly maxAgeMs?: number;
  /** How often blockhash and clock are read. */
  readonly refreshMs?: number;
  /** How often what changes slowly is read: rent, and the distance between slot and block height. */
  readonly slowRefreshMs?: number;
}

const DEFAULT_MAX_AGE_MS = 2_000;
const DEFAULT_REFRESH_MS = 400;
const DEFAULT_SLOW_REFRESH_MS = 10_000;
/** The two account sizes rent is read at; it is linear in the size. */
const RENT_SIZES = [0, 10_000] as const;
const START_PATIENCE_MS = 10_000;
/** Slots by which an endpoint may be behind the best one, and by which the chain may run ahead of its measured pace. */
const MAX_LAG_SLOTS = 10n;
const MAX_LEAD_SLOTS = 40n;
/** How far the distance between slot and last valid height may move from one blockhash to the next: by one for each skipped slot. */
const MAX_SKIPPED_SLOTS = 40n;
/** Blocks that a message on the newest blockhash can wait. @see agave MAX_PROCESSING_AGE */
const BLOCKHASH_BLOCKS = 150n;
/** Refreshes in a row that every endpoint contradicts what is remembered, after which it is the memory that is wrong. */
const CONTRADICTIONS = 8;
/** The pace of slots before it is measured; generous, so that nothing true is refused. */
const UNMEASURED_SLOT_MS = 100;

/**
 * Follows the head of the chain. Resolves when everything can be answered.
 *
 * @throws TradewireError UPSTREAM_ERROR when no endpoint tells the first facts
 */
export async function createChainHead({
  pool,
  subscriptions,
  now,
  warn,
  maxAgeMs = DEFAULT_MAX_AGE_MS,
  refreshMs = DEFAULT_REFRESH_MS,
  slowRefreshMs = DEFAULT_SLOW_REFRESH_MS,
}: ChainHeadOptions): Promise<LiveChainHead> {
  let slot = 0n;
  let slotAtMs = now();
  const pace = new SlotPace();
  let lifetime: Lifetime | undefined;
  let lifetimeAtMs = 0;
  /** Last valid height less slot: differs from endpoint to endpoint only where one is wrong. */
  let lifetimeSpan = 0n;
  let standstills = 0;
  let contradictions = 0;
  let clock: ChainClock | undefined;
  let clockAtMs = 0;
  /** Slot minus block height: grows by one for each skipped slot. */
  let skippedSlots = 0n;
  let rentBase = 0n;
  let rentPerSpan = 0n;
  /** Rent by data bytes, of the few sizes there are. */
  const rents = new Map<number, bigint>();

  /** False for a slot no chain could have reached by now: whoever tells of it is wrong. */
  function isReachable(seen: bigint): boolean {
    const slotMs = pace.slotMs > 0 ? pace.slotMs : UNMEASURED_SLOT_MS;
    return seen <= slot + MAX_LEAD_SLOTS + BigInt(Math.ceil((2 * Math.max(0, now() - slotAtMs)) / slotMs));
  }

  function noteSlot(seen: bigint): void {
    if (!noteAge(seen)) return;
    pace.note(slot, slotAtMs);
  }

  /** A slot that says how far the chain is, but not when it began, as when it was confirmed later. */
  function noteAge(seen: bigint): boolean {
    if (seen <= slot || slot === 0n || !isReachable(seen)) return false;
    slot = seen;
    slotAtMs = now();
    return true;
  }

  /** Where the endpoints together say the chain is: the middle of what they tell. */
  async function takeBearings(): Promise<void> {
    const told = await Promise.allSettled(
      pool.endpoints.map(async (endpoint) => {
        const [blockhash, info] = await Promise.all([
          endpoint.call("getLatestBlockhash", [{ commitment: "confirmed" }]),
          endpoint.call("getEpochInfo", [{ commitment: "confirmed" }]),
        ]);
        const one = decodeLifetime(blockhash);
        if (!isHeightOf(one.lastValidBlockHeight - one.slot, decodeHeight(info)))
          throw new NodeError(
            "malformed",
            `The Solana node ${endpoint.name} contradicts itself about its block height.`,
          );
        return one;
      }),
    );
    const lifetimes = told.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    if (lifetimes.length === 0) throw told.find((one) => one.status === "rejected")?.reason;
    slot = middleOf(lifetimes.map((one) => one.slot));
    slotAtMs = now();
    lifetimeSpan = middleOf(lifetimes.map((one) => one.lastValidBlockHeight - one.slot));
    lifetime = undefined;
    clock = undefined;
  }

  async function refreshLifetime(): Promise<void> {
    const askedAtMs = now();
    const known = lifetime?.slot ?? 0n;
    const told = decodeLifetime(
      await pool.read("getLatestBlockhash", [{ commitment: "confirmed" }], {
        // An endpoint that has stood still is not asked first again.
        startAt: standstills,
        isWrong: (result) => {
          const one = decodeLifetime(result);
          const drift = one.lastValidBlockHeight - one.slot - lifetimeSpan;
          return (
            one.slot + MAX_LAG_SLOTS < known ||
            !isReachable(one.slot) ||
            drift > MAX_SKIPPED_SLOTS ||
            drift < -MAX_SKIPPED_SLOTS
          );
        },
      }),
    );
    // An endpoint that lags, or stands still, neither takes the blockhash back nor makes it look new.
    if (told.slot <= known) {
      standstills += 1;
      return;
    }
    lifetime = told;
    lifetimeSpan = told.lastValidBlockHeight - told.slot;
    lifetimeAtMs = askedAtMs;
    noteAge(told.slot);
  }

  const isOff = (seen: bigint) => seen + MAX_LAG_SLOTS + MAX_LEAD_SLOTS < slot || !isReachable(seen);

  async function refreshClock(): Promise<void> {
    const askedAtMs = now();
    const { slot: at, value } = asContext(
      await pool.read(
        "getMultipleAccounts",
        [[CLOCK_SYSVAR.toString()], { encoding: "base64", commitment: "processed" }],
        { startAt: standstills, isWrong: (result) => isOff(asContext(result, "the clock").slot) },
      ),
      "the clock",
    );
    const account = asAccount(CLOCK_SYSVAR, asList(value, "the clock")[0] ?? null, at);
    if (account === null || account.data.length < 40)
      throw new NodeError("malformed", "A Solana node has no clock account.");
    noteSlot(at);
    const seen = {
      slot: readU64(account.data, 0),
      epoch: readU64(account.data, 16),
      unixTimestamp: BigInt.asIntN(64, readU64(account.data, 32)),
    };
    if (clock !== undefined && seen.slot <= clock.slot) return;
    clock = seen;
    clockAtMs = askedAtMs;
  }

  async function refreshHeight(): Promise<void> {
    const told = decodeHeight(
      await pool.read("getEpochInfo", [{ commitment: "processed" }], {
        isWrong: (result) => {
          const one = decodeHeight(result);
          return isOff(one.slot) || !isHeightOf(lifetimeSpan, one);
        },
      }),
    );
    noteSlot(told.slot);
    skippedSlots = told.slot - told.height;
  }

  async function refreshRent(): Promise<void> {
    const [base, far] = await Promise.all(
      RENT_SIZES.map(async (size) => asInteger(await pool.read("getMinimumBalanceForRentExemption", [size]), "rent")),
    );
    rentBase = base!;
    rentPerSpan = far! - base!;
    rents.clear();
  }

  const fast = async () => {
    try {
      await Promise.all([refreshLifetime(), refreshClock()]);
      contradictions = 0;
    } catch (error) {
      contradictions += error instanceof NodeError && error.kind === "malformed" ? 1 : 0;
      if (contradictions < CONTRADICTIONS) throw error;
      contradictions = 0;
      await takeBearings();
    }
  };
  const slow = () => Promise.all([refreshHeight(), refreshRent()]);

  /** Repeats `work` every `periodMs`, never overlapping; says so once when it begins to fail. */
  function repeat(work: () => Promise<unknown>, periodMs: number, what: string): () => void {
    let running = false;
    let failing = false;
    const timer = setInterval(async () => {
      if (running) return;
      running = true;
      try {
        await work();
        failing = false;
      } catch (error) {
        if (!failing) warn(`Cannot refresh ${what}: ${String(error)}`);
        failing = true;
      } finally {
        running = false;
      }
    }, periodMs);
    return () => clearInterval(timer);
  }

  const stops = [subscriptions.onSlot(noteSlot)];
  const close = () => {
    for (const stop of stops) stop();
  };

  let genesisHash: string;
  try {
    await takeBearings();
    const [genesis, sampleMs] = await Promise.all([
      pool.read("getGenesisHash", []),
      sampleSlotMs(pool),
      fast(),
      slow(),
    ]);
    genesisHash = asText(genesis, "a genesis hash");
    if (sampleMs > 0) pace.begin(sampleMs);
    stops.push(repeat(fast, refreshMs, "blockhash and clock"), repeat(slow, slowRefreshMs, "rent and block height"));
    await until(() => pace.slotMs > 0);
  } catch (error) {
    close();
    throw error;
  }

  const stale = (what: string, ageMs: number) =>
    new TradewireError(
      "STATE_STALE",
      `The newest ${what} is ${Math.round(ageMs)} ms old. The Solana node lags; try again shortly.`,
      {
        retryAfterMs: refreshMs,
      },
    );

  return {
    lifetime() {
      const ageMs = now() - lifetimeAtMs;
      if (lifetime === undefined || ageMs > maxAgeMs) throw stale("blockhash", ageMs);
      return lifetime;
    },
    clock() {
      const ageMs = now() - clockAtMs;
      if (clock === undefined || ageMs > maxAgeMs) throw stale("chain clock", ageMs);
      return clock;
    },
    blockHeight: () => slot - skippedSlots,
    slotMs: () => pace.slotMs,
    // Not from now: whenever the newest slot was heard of, that is when it began.
    heightAtMs: (height) => slotAtMs + Number(height - (slot - skippedSlots)) * pace.slotMs,
    rentExemption(space) {
      let rent = rents.get(space);
      if (rent === undefined) {
        rent = rentBase + ceilDiv(rentPerSpan * BigInt(space), BigInt(RENT_SIZES[1]));
        rents.set(space, rent);
      }
      return rent;
    },
    genesisHash: () => genesisHash,
    slot: () => slot,
    isCredible: (seen) => !isOff(seen),
    slotAgeMs: () => now() - slotAtMs,
    close,
  };
}

function decodeLifetime(result: unknown): Lifetime {
  const { slot, value } = asContext(result, "a blockhash");
  const { blockhash, lastValidBlockHeight } = asRecord(value, "a blockhash");
  const bytes = bs58.decodeUnsafe(asText(blockhash, "a blockhash"));
  if (bytes?.length !== 32)
    throw new NodeError("malformed", "A Solana node answered with a blockhash that is not 32 bytes.");
  return { blockhash: bytes, lastValidBlockHeight: asInteger(lastValidBlockHeight, "a blockhash"), slot };
}

interface Height {
  readonly slot: bigint;
  readonly height: bigint;
}

function decodeHeight(result: unknown): Height {
  const { absoluteSlot, blockHeight } = asRecord(result, "epoch info");
  return { slot: asInteger(absoluteSlot, "epoch info"), height: asInteger(blockHeight, "epoch info") };
}

/** Whether a height agrees with how far last valid heights are from their slots: a new blockhash is good for 150 blocks. */
function isHeightOf(lifetimeSpan: bigint, { slot, height }: Height): boolean {
  const skipped = BLOCKHASH_BLOCKS - lifetimeSpan;
  const drift = slot - height - skipped;
  return height <= slot && drift <= MAX_SKIPPED_SLOTS && drift >= -MAX_SKIPPED_SLOTS;
}

/** The middle one; of an even number the lower. */
function middleOf(values: readonly bigint[]): bigint {
  return values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))[(values.length - 1) >> 1]!;
}

/** The node's own measure of the last minute's slots; 0 when it has none. */
async function sampleSlotMs(pool: RpcPool): Promise<number> {
  try {
    const [sample] = asList(await pool.read("getRecentPerformanceSamples", [1]), "performance samples");
    if (sample === undefined) return 0;
    const { numSlots, samplePeriodSecs } = asRecord(sample, "performance samples");
    const slots = Number(asInteger(numSlots, "performance samples"));
    return slots === 0 ? 0 : (Number(asInteger(samplePeriodSecs, "performance samples")) * 1000) / slots;
  } catch {
    // A node without samples: the slots themselves tell, a little later.
    return 0;
  }
}

async function until(condition: () => boolean): Promise<void> {
  const startedAt = performance.now();
  while (!condition()) {
    if (performance.now() - startedAt > START_PATIENCE_MS)
      throw new NodeError("unreachable", "The Solana node's slot does not move. Check that it is running and in step.");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
