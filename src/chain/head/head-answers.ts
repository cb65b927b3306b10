import { readU64 } from "../../primitives/bytes.ts";
import { decodeBase58 } from "../../primitives/encoding/base58.ts";
import type { ChainClock } from "../../solana/account.ts";
import { CLOCK_SYSVAR, RECENT_BLOCKHASHES_SYSVAR, SYSVAR_OWNER } from "../../solana/programs.ts";
import type { Lifetime } from "../port.ts";
import { NodeError } from "../rpc/node-error.ts";
import { asAccount, asContext, asInteger, asList, asRecord, asText } from "../rpc/rpc-values.ts";

/** A slot and its block height. */
export interface SlotHeight {
  readonly slot: bigint;
  readonly height: bigint;
}

/** The chain's clock, and the slot it was read at. */
export interface ClockAnswer {
  readonly readAt: bigint;
  readonly clock: ChainClock;
}

/** The newest blockhashes of a node's chain, and the slot they were read at. */
export interface RecentBlockhashes {
  readonly readAt: bigint;
  /** The newest first. */
  readonly blockhashes: readonly Uint8Array[];
}

const CLOCK_BYTES = 40;
/** The list of recent blockhashes: their number, then for each its bytes and the lamports of a signature. */
const COUNT_BYTES = 8;
const BLOCKHASH_BYTES = 32;
const ENTRY_BYTES = BLOCKHASH_BYTES + 8;

/** Decodes getLatestBlockhash. @throws TradewireError UPSTREAM_ERROR */
export function decodeLifetime(result: unknown): Lifetime {
  const { slot, value } = asContext(result, "a blockhash");
  const { blockhash, lastValidBlockHeight } = asRecord(value, "a blockhash");
  // Refuses longer texts undecoded: decoding takes quadratic time.
  const bytes = decodeBase58(asText(blockhash, "a blockhash"), BLOCKHASH_BYTES);
  if (bytes?.length !== BLOCKHASH_BYTES)
    throw new NodeError("malformed", "A Solana node answered with a blockhash that is not 32 bytes.");
  return { blockhash: bytes, lastValidBlockHeight: asInteger(lastValidBlockHeight, "a blockhash"), slot };
}

/** Decodes getEpochInfo. @throws TradewireError UPSTREAM_ERROR */
export function decodeHeight(result: unknown): SlotHeight {
  const { absoluteSlot, blockHeight } = asRecord(result, "epoch info");
  return { slot: asInteger(absoluteSlot, "epoch info"), height: asInteger(blockHeight, "epoch info") };
}

/** Decodes getMultipleAccounts of the clock sysvar alone, and the slot it was read at. @throws TradewireError UPSTREAM_ERROR */
export function decodeClock(result: unknown): ClockAnswer {
  const { slot, value } = asContext(result, "the clock");
  const account = asAccount(CLOCK_SYSVAR, asList(value, "the clock")[0] ?? null, slot);
  if (account === null || account.data.length < CLOCK_BYTES)
    throw new NodeError("malformed", "A Solana node has no clock account.");
  return {
    readAt: slot,
    clock: {
      slot: readU64(account.data, 0),
      epoch: readU64(account.data, 16),
      unixTimestamp: BigInt.asIntN(64, readU64(account.data, 32)),
    },
  };
}

/** Params of getMultipleAccounts for that many of the newest blockhashes. */
export function recentBlockhashesParams(count: number): readonly unknown[] {
  const dataSlice = { offset: 0, length: COUNT_BYTES + count * ENTRY_BYTES };
  return [[RECENT_BLOCKHASHES_SYSVAR.toString()], { encoding: "base64", commitment: "processed", dataSlice }];
}

/** Decodes the answer to that; undefined if the node keeps no such list. @throws TradewireError UPSTREAM_ERROR */
export function decodeRecentBlockhashes(result: unknown): RecentBlockhashes | undefined {
  const { slot: readAt, value } = asContext(result, "recent blockhashes");
  const account = asAccount(RECENT_BLOCKHASHES_SYSVAR, asList(value, "recent blockhashes")[0] ?? null, readAt);
  if (account === null || account.owner !== SYSVAR_OWNER || account.data.length < COUNT_BYTES) return undefined;
  const { data } = account;
  const held = Math.floor((data.length - COUNT_BYTES) / ENTRY_BYTES);
  const count = Math.min(held, Number(readU64(data, 0)));
  if (count === 0) return undefined;
  const blockhashes = Array.from({ length: count }, (_, i) => {
    const at = COUNT_BYTES + i * ENTRY_BYTES;
    return data.subarray(at, at + BLOCKHASH_BYTES);
  });
  return { readAt, blockhashes };
}

/**
 * Decodes getRecentPerformanceSamples: milliseconds per slot over the last minute, 0 without a sample.
 * @throws TradewireError UPSTREAM_ERROR
 */
export function decodeSlotMs(result: unknown): number {
  const [sample] = asList(result, "performance samples");
  if (sample === undefined) return 0;
  const { numSlots, samplePeriodSecs } = asRecord(sample, "performance samples");
  const slots = Number(asInteger(numSlots, "performance samples"));
  return slots === 0 ? 0 : (Number(asInteger(samplePeriodSecs, "performance samples")) * 1000) / slots;
}
