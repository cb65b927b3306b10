import type { Address } from "../../../primitives/address.ts";
import { hasBytesAt, hex } from "../../../primitives/bytes.ts";
import type { Account } from "../../../solana/account.ts";
import { floorDivide, MAX_TICK, MIN_TICK } from "../../curves/concentrated-liquidity.ts";
import { CLMM_BITMAP_REACH, CLMM_PROGRAM, clmmArraySpan } from "../layout.ts";

const EXTENSION_DISCRIMINATOR = hex("3c9624db61808b99");
const EXTENSION_SIZE = 1_832;
const EXTENSION_POSITIVE_OFFSET = 40;
const EXTENSION_NEGATIVE_OFFSET = 936;

/** The bits of arrays beyond the pool's own bitmap: of those above, and of those below. */
interface ClmmExtension {
  readonly positive: Uint8Array;
  readonly negative: Uint8Array;
}

/** The extension of `pool`'s bitmap, or undefined if the account is none. @see `states/tickarray_bitmap_extension.rs` */
export function decodeClmmExtension({ owner, data }: Account, pool: Address): ClmmExtension | undefined {
  if (
    owner !== CLMM_PROGRAM ||
    data.length < EXTENSION_SIZE ||
    !hasBytesAt(data, 0, EXTENSION_DISCRIMINATOR) ||
    !pool.isAt(data, 8)
  ) {
    return undefined;
  }
  return {
    positive: data.subarray(EXTENSION_POSITIVE_OFFSET, EXTENSION_NEGATIVE_OFFSET),
    negative: data.subarray(EXTENSION_NEGATIVE_OFFSET, EXTENSION_SIZE),
  };
}

/** The bits of tick arrays. */
export interface ClmmBitmaps {
  readonly bitmap: Uint8Array;
  readonly extension: ClmmExtension | undefined;
  readonly tickSpacing: number;
}

/**
 * First ticks of the arrays with initialised ticks, at most `count`, starting at the one that covers `tick` (included only if
 * `inclusive`), downward or upward. Arrays beyond the pool's bitmap are found only with its extension.
 */
export function initialisedStarts(
  bitmaps: ClmmBitmaps,
  tick: number,
  down: boolean,
  inclusive: boolean,
  count: number,
): number[] {
  const span = clmmArraySpan(bitmaps.tickSpacing);
  const lowest = floorDivide(MIN_TICK, span);
  const highest = floorDivide(MAX_TICK, span);
  const step = down ? -1 : 1;
  const starts: number[] = [];
  let index = floorDivide(tick, span) + (inclusive ? 0 : step);
  while (index >= lowest && index <= highest && starts.length < count) {
    const byte = bitsOf(bitmaps, index);
    if (byte === 0) {
      index = down ? (index & ~7) - 1 : (index | 7) + 1;
      continue;
    }
    if (((byte >> (index & 7)) & 1) === 1) starts.push(index * span);
    index += step;
  }
  return starts;
}

/** True if the bit of the array that begins at `start` lies outside the pool's own bitmap. */
export function isBeyondBitmap(start: number, tickSpacing: number): boolean {
  const index = start / clmmArraySpan(tickSpacing);
  return index < -CLMM_BITMAP_REACH || index >= CLMM_BITMAP_REACH;
}

/** Bitmaps crossed by a search from one array to another: the pool's own counts as one, and so do each 512 arrays beyond it. */
export function bitmapsBetween(from: number, to: number, tickSpacing: number): number {
  return Math.abs(bitmapOf(from, tickSpacing) - bitmapOf(to, tickSpacing));
}

function bitmapOf(start: number, tickSpacing: number): number {
  const block = floorDivide(start / clmmArraySpan(tickSpacing), CLMM_BITMAP_REACH);
  return block < 0 ? block + 1 : block;
}

/** The byte with the bits of eight arrays, `index` among them. */
function bitsOf({ bitmap, extension }: ClmmBitmaps, index: number): number {
  if (index >= -CLMM_BITMAP_REACH && index < CLMM_BITMAP_REACH) return bitmap[(index + CLMM_BITMAP_REACH) >> 3]!;
  if (extension === undefined) return 0;
  if (index >= 0) return extension.positive[(index - CLMM_BITMAP_REACH) >> 3] ?? 0;
  // Blocks of 512 arrays go downward, the arrays within a block upward.
  const block = -floorDivide(index, CLMM_BITMAP_REACH) - 2;
  return extension.negative[(block * CLMM_BITMAP_REACH + (index & (CLMM_BITMAP_REACH - 1))) >> 3] ?? 0;
}
