import bs58 from "bs58";
import { readU64 } from "../../primitives/bytes.ts";
import type { ChainClock } from "../../solana/account.ts";
import { CLOCK_SYSVAR } from "../../solana/programs.ts";
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

const CLOCK_BYTES = 40;

/** Decodes getLatestBlockhash. @throws TradewireError UPSTREAM_ERROR */
export function decodeLifetime(result: unknown): Lifetime {
  const { slot, value } = asContext(result, "a blockhash");
  const { blockhash, lastValidBlockHeight } = asRecord(value, "a blockhash");
  const bytes = bs58.decodeUnsafe(asText(blockhash, "a blockhash"));
  if (bytes?.length !== 32)
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

/** Decodes getRecentPerformanceSamples: milliseconds per slot over the last minute, 0 without a sample. @throws TradewireError UPSTREAM_ERROR */
export function decodeSlotMs(result: unknown): number {
  const [sample] = asList(result, "performance samples");
  if (sample === undefined) return 0;
  const { numSlots, samplePeriodSecs } = asRecord(sample, "performance samples");
  const slots = Number(asInteger(numSlots, "performance samples"));
  return slots === 0 ? 0 : (Number(asInteger(samplePeriodSecs, "performance samples")) * 1000) / slots;
}
