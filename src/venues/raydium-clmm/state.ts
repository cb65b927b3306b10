import type { Address } from "../../primitives/address.ts";
import { U64_MAX } from "../../primitives/integer.ts";
import type { Account, AccountView, ChainClock } from "../../solana/account.ts";
import { decodeOnce, decodeOnceFor, decodeTogether } from "../../solana/decode-once.ts";
import type { Mint } from "../../solana/token/mint.ts";
import { joined, MAX_TICK, MIN_TICK } from "../curves/concentrated-liquidity.ts";
import { degraded } from "../shared/refusals.ts";
import { requireAccount, requireMint, unread } from "../shared/required.ts";
import { type Reserves, requireReserves } from "../shared/reserves.ts";
import { arriving, sending, transferFeeOf } from "../shared/transfer-sides.ts";
import type { Quote } from "../venue.ts";
import type { ClmmCurve } from "./curve.ts";
import {
  type ClmmMarket,
  type ClmmPool,
  clmmArrayStart,
  clmmTickArrayOf,
  decodeClmmFeeRate,
  decodeClmmPool,
  decodeClmmTicks,
  isClmmPool,
} from "./layout.ts";
import { clmmAfter } from "./math.ts";
import { type ClmmBitmaps, decodeClmmExtension, initialisedStarts } from "./ticks/tick-bitmaps.ts";
import { clmmSqrtPrice } from "./ticks/tick-price.ts";
import { swapUnits } from "./units.ts";

const ID = "raydium_clmm";
/** Tick arrays read in each direction: the most that one swap can cross. */
const ARRAYS_PER_SWAP = 6;

/** The tick arrays with ticks in one direction, in its order, starting at the pool's price. */
interface Path {
  readonly starts: readonly number[];
  readonly addresses: readonly Address[];
  /** The nearest array on the other side. */
  readonly behind: Address | undefined;
  readonly behindStart: number | undefined;
}

/** A pool with its ticks and mints, ready to be priced in either direction. */
export interface ClmmState {
  readonly market: ClmmMarket;
  readonly curve: ClmmCurve;
  readonly swapDisabled: boolean;
  readonly openTime: bigint;
  readonly mints: readonly [Mint, Mint];
  readonly reserves: Reserves;
  /** First ticks of the arrays with ticks that are known, ascending. */
  readonly starts: readonly number[];
  /** For token 0 in, and for token 1 in. */
  readonly paths: readonly [Path, Path];
  /** Address of the bitmap's extension; undefined if the pool has none. */
  readonly extension: Address | undefined;
  /** Compute units of a swap that crosses nothing. */
  readonly baseUnits: number;
}

function bitmapsOf(market: ClmmMarket, { bitmap }: ClmmPool, have: AccountView): ClmmBitmaps {
  const account = market.extended ? have.get(market.extension.address) : undefined;
  const extension = account ? decodeClmmExtension(account, market.address) : undefined;
  return { bitmap, extension, tickSpacing: market.tickSpacing };
}

/** Accounts still missing: in the second round the arrays of the pool's own bitmap, in the third those that only its extension names. */
export function clmmNeeds(market: ClmmMarket, have: AccountView): Address[] {
  const missing = unread(have, [market.address, market.config, ...market.mints, ...market.vaults]);
  if (market.extended) missing.push(...unread(have, [market.extension.address]));
  const account = have.get(market.address);
  if (account === undefined || account === null) return missing;
  const pool = decodeClmmPool(account);
  const starts = nearbyStarts(bitmapsOf(market, pool, have), pool.tick);
  return missing.concat(
    unread(
      have,
      starts.map((start) => clmmTickArrayOf(market.address, start).address),
    ),
  );
}

/** Arrays with ticks around `tick`, ascending: its own if it has ticks, and the nearest on either side. */
function nearbyStarts(bitmaps: ClmmBitmaps, tick: number): number[] {
  const down = initialisedStarts(bitmaps, tick, true, true, ARRAYS_PER_SWAP).reverse();
  return down.concat(initialisedStarts(bitmaps, tick, false, false, ARRAYS_PER_SWAP));
}

/** The ticks of an array with their prices. */
const ticksIn = decodeOnceFor((account: Account, pool: Address, start: number, tickSpacing: number) => {
  const held = decodeClmmTicks(account, pool, start, tickSpacing);
  return held && { ...held, sqrtPrices: held.ticks.map(clmmSqrtPrice) };
});

/** The ticks of all arrays that a pool's quotes read, and the ways over them: most changes of a pool leave its arrays as they are. */
const ticksOf = decodeTogether((market: ClmmMarket, starts, arrays: readonly Account[]) => {
  const held = arrays.map((array, at) => {
    const ticks = ticksIn(array, market.address, starts[at]!, market.tickSpacing);
    if (ticks === undefined) throw degraded(ID, `${array.address} is not a tick array of ${market.address}`);
    return ticks;
  });
  const lists = {
    ticks: joined(held.map(({ ticks }) => ticks)),
    liquidityNet: joined(held.map(({ liquidityNet }) => liquidityNet)),
    hasLiquidity: joined(held.map(({ hasLiquidity }) => hasLiquidity)),
    orders: joined(held.map(({ orders }) => orders)),
    sqrtPrices: joined(held.map(({ sqrtPrices }) => sqrtPrices)),
  };
  return { starts, lists };
});

const feeRateIn = decodeOnce(decodeClmmFeeRate);

/** The state of a pool. @throws TradewireError VENUE_DEGRADED */
export function readClmm(market: ClmmMarket, have: AccountView): ClmmState {
  const account = requireAccount(have, market.address, ID, "pool");
  if (!isClmmPool(account)) {
    throw degraded(ID, `${market.address} is no longer a pool`);
  }
  const pool = decodeClmmPool(account);
  if (pool.feeOn > 2) throw degraded(ID, `${market.address} takes its fee in a way not known here`);
  if (!isOnCurve(pool)) throw degraded(ID, `the price of ${market.address} is not that of its tick`);
  const feeRate = feeRateIn(requireAccount(have, market.config, ID, "fee configuration"));
  if (feeRate === undefined) throw degraded(ID, `${market.config} is not a fee configuration`);

  const bitmaps = bitmapsOf(market, pool, have);
  const nearby = nearbyStarts(bitmaps, pool.tick);
  const arrays = nearby.map((start) =>
    requireAccount(have, clmmTickArrayOf(market.address, start).address, ID, "tick array"),
  );
  const { starts, lists } = ticksOf(market, nearby, arrays);
  const mints = [requireMint(have, market.mints[0], ID), requireMint(have, market.mints[1], ID)] as const;
  const { liquidity, sqrtPrice, tick, feeOn, volatility } = pool;
  const { tickSpacing } = market;
  return {
    market,
    curve: { ...lists, feeRate, feeOn, liquidity, sqrtPrice, tick, tickSpacing, volatility },
    swapDisabled: pool.swapDisabled,
    openTime: pool.openTime,
    mints,
    reserves: requireReserves(have, market, market.vaults),
    starts,
    paths: pathsOver(starts, market, clmmArrayStart(tick, tickSpacing)),
    extension: bitmaps.extension && market.extension.address,
    baseUnits: swapUnits(market.extension.bump, pool.rewards, mints, [mints[0].extensions, mints[1].extensions]),
  };
}

/** False for a price that no swap leaves: outside the ticks, or not that of the pool's own tick. */
function isOnCurve({ tick, sqrtPrice }: ClmmPool): boolean {
  if (tick < MIN_TICK - 1 || tick > MAX_TICK) return false;
  const [lowest, highest] = [Math.max(tick, MIN_TICK), Math.min(tick + 1, MAX_TICK)];
  return sqrtPrice >= clmmSqrtPrice(lowest) && sqrtPrice <= clmmSqrtPrice(highest);
}

/**
 * The pool after a trade, with its known ticks.
 *
 * @returns undefined if the pool cannot make the trade
 */
export function tradedClmm(state: ClmmState, made: Quote, clock: ChainClock): ClmmState | undefined {
  const { market, mints, reserves } = state;
  const zeroForOne = made.inMint === market.mints[0];
  const exactIn = made.mode === "exactIn";
  const amount = exactIn
    ? arriving(made.inAmount, transferFeeOf(mints[zeroForOne ? 0 : 1], clock.epoch))
    : sending(made.outAmount, transferFeeOf(mints[zeroForOne ? 1 : 0], clock.epoch));
  if (amount === undefined || amount > U64_MAX) return undefined;
  const after = clmmAfter(state.curve, zeroForOne, exactIn, amount, clock.unixTimestamp);
  if (after === undefined) return undefined;
  const { fill, curve } = after;
  const [zero, one] = zeroForOne ? [fill.input, -fill.output] : [-fill.output, fill.input];
  const starts = curve.ticks === state.curve.ticks ? state.starts : startsOf(curve);
  return {
    ...state,
    curve,
    starts,
    paths: pathsFrom(starts, market, clmmArrayStart(curve.tick, market.tickSpacing)),
    reserves: [reserves[0] + zero, reserves[1] + one],
  };
}

/** First ticks of the arrays of a curve's ticks, ascending. */
function startsOf({ ticks, tickSpacing }: ClmmCurve): number[] {
  return [...new Set(ticks.map((tick) => clmmArrayStart(tick, tickSpacing)))];
}

/** The ways over arrays that begin at `starts`, from the price's own array, whether it has ticks or not. */
function pathsFrom(starts: readonly number[], market: ClmmMarket, own: number): readonly [Path, Path] {
  const addressOf = (start: number): Address => clmmTickArrayOf(market.address, start).address;
  const path = (ahead: readonly number[], behind: number | undefined): Path => ({
    starts: ahead,
    addresses: ahead.map(addressOf),
    behind: behind === undefined ? undefined : addressOf(behind),
    behindStart: behind,
  });
  const down = starts.filter((start) => start <= own).reverse();
  const up = starts.filter((start) => start >= own);
  return [
    path(
      down,
      starts.find((start) => start > own),
    ),
    path(
      up,
      starts.findLast((start) => start < own),
    ),
  ];
}

/** As `pathsFrom`, made once while the arrays and the price's own stay the same. */
const pathsOver = decodeOnceFor(pathsFrom);
