import type { Address } from "../../primitives/address.ts";
import type { Account, AccountView } from "../../solana/account.ts";
import { decodeOnceFor, decodeTogether } from "../../solana/decode-once.ts";
import type { DerivedAddress } from "../../solana/derived-address.ts";
import type { Mint } from "../../solana/token/mint.ts";
import { joined, MAX_TICK, MIN_TICK } from "../curves/concentrated-liquidity.ts";
import { rangeBound } from "../curves/range-spot.ts";
import { degraded } from "../shared/refusals.ts";
import { requireAccount, requireMint } from "../shared/required.ts";
import { type Reserves, requireReserves } from "../shared/reserves.ts";
import { numberI32, numberQ64, numberU128, type SpotBounds } from "../spot-bound.ts";
import {
  decodeWhirlpool,
  decodeWhirlpoolOracle,
  decodeWhirlpoolTicks,
  isArrayStart,
  isDynamicArray,
  isWhirlpool,
  WHIRLPOOL_PROGRAM,
  type WhirlpoolMarket,
  whirlpoolArraySpan,
  whirlpoolArrayStart,
  whirlpoolTickArrayOf,
} from "./layout.ts";
import { swapArrayStarts, type WhirlpoolCurve } from "./math.ts";
import { whirlpoolSqrtPrice } from "./tick-price.ts";
import { baseUnits } from "./units.ts";

const ID = "orca_whirlpool";

/** The parts of a tick array that an instruction and its cost depend on. */
export interface ArraySlot extends DerivedAddress {
  readonly start: number;
  readonly exists: boolean;
  /** True if its account is only as long as its initialised ticks need. */
  readonly isDynamic?: boolean;
}

/** The arrays of one direction, in its order, and the one behind the first, in case the price turns. */
interface Route {
  readonly arrays: readonly ArraySlot[];
  readonly behind: ArraySlot | undefined;
  /** The furthest price that each array but the last covers. */
  readonly borders: readonly bigint[];
}

/** A pool with its ticks and mints, ready to be priced in either direction. */
export interface WhirlpoolState {
  readonly market: WhirlpoolMarket;
  readonly curve: WhirlpoolCurve;
  readonly mints: readonly [Mint, Mint];
  readonly reserves: Reserves;
  readonly tokenPrograms: readonly [Address, Address];
  /** Compute units of a swap that crosses nothing. */
  readonly baseUnits: number;
  /** The arrays that were read, by their first tick. */
  readonly slots: ReadonlyMap<number, ArraySlot>;
  /** For A in, and for B in. */
  readonly routes: readonly [Route, Route];
}

/** First ticks of every array a swap from `tick` may use in either direction, and of those just behind. */
export function nearbyStarts(tick: number, tickSpacing: number): number[] {
  const span = whirlpoolArraySpan(tickSpacing);
  const low = whirlpoolArrayStart(tick, tickSpacing) - 2 * span;
  const high = whirlpoolArrayStart(tick + tickSpacing, tickSpacing) + 2 * span;
  const starts: number[] = [];
  for (let start = low; start <= high; start += span) if (isArrayStart(start, tickSpacing)) starts.push(start);
  return starts;
}

/** The ticks of an array with their prices, and its kind. */
const ticksIn = decodeOnceFor((account: Account, pool: Address, start: number, tickSpacing: number) => {
  const held = decodeWhirlpoolTicks(account, pool, start, tickSpacing);
  return held && { ...held, sqrtPrices: held.ticks.map(whirlpoolSqrtPrice), isDynamic: isDynamicArray(account) };
});

/** The arrays around a pool's price, with the ticks of those that exist: most changes of a pool leave its arrays as they are. */
const arraysOf = decodeTogether((market: WhirlpoolMarket, starts, arrays: readonly (Account | undefined)[]) => {
  const slots = new Map<number, ArraySlot>();
  const all: NonNullable<ReturnType<typeof ticksIn>>[] = [];
  for (const [at, start] of starts.entries()) {
    const derived = whirlpoolTickArrayOf(market.address, start);
    const array = arrays[at];
    const held = array && ticksIn(array, market.address, start, market.tickSpacing);
    if (array !== undefined && held === undefined && array.owner === WHIRLPOOL_PROGRAM) {
      throw degraded(ID, `${derived.address} is not a tick array of ${market.address}`);
    }
    slots.set(start, {
      ...derived,
      start,
      exists: held !== undefined,
      isDynamic: held?.isDynamic === true,
    });
    if (held !== undefined) all.push(held);
  }
  return {
    slots,
    ticks: joined(all.map(({ ticks }) => ticks)),
    liquidityNet: joined(all.map(({ liquidityNet }) => liquidityNet)),
    sqrtPrices: joined(all.map(({ sqrtPrices }) => sqrtPrices)),
  };
});

/** Decodes everything that quotes need. @throws TradewireError VENUE_DEGRADED */
export function readWhirlpool(market: WhirlpoolMarket, have: AccountView): WhirlpoolState {
  const account = requireAccount(have, market.address, ID, "pool");
  if (!isWhirlpool(account)) {
    throw degraded(ID, `${market.address} is no longer a pool`);
  }
  const pool = decodeWhirlpool(account);
  if (!isOnCurve(pool)) throw degraded(ID, `the price of ${market.address} is not that of its tick`);
  const { tickSpacing } = market;
  const starts = nearbyStarts(pool.tick, tickSpacing);
  const arrays = starts.map((start) => have.get(whirlpoolTickArrayOf(market.address, start).address) ?? undefined);
  const { slots, ticks, liquidityNet, sqrtPrices } = arraysOf(market, starts, arrays);
  const { feeRate, liquidity, sqrtPrice, tick } = pool;
  const oracle = readOracle(market, have);
  const mints = [requireMint(have, market.mints[0], ID), requireMint(have, market.mints[1], ID)] as const;
  return {
    market,
    curve: { ticks, liquidityNet, sqrtPrices, feeRate, liquidity, sqrtPrice, tick, tickSpacing, oracle },
    mints,
    reserves: requireReserves(have, market, market.vaults),
    tokenPrograms: [mints[0].program, mints[1].program],
    baseUnits: baseUnits(market, pool, mints, [mints[0].extensions, mints[1].extensions]),
    slots,
    routes: routesOver(
      slots,
      tickSpacing,
      whirlpoolArrayStart(pool.tick, tickSpacing),
      whirlpoolArrayStart(pool.tick + tickSpacing, tickSpacing),
    ),
  };
}

/** False for a price that no swap leaves: outside the ticks, or not that of the pool's own tick. */
function isOnCurve({ tick, sqrtPrice }: Pick<WhirlpoolCurve, "tick" | "sqrtPrice">): boolean {
  if (tick < MIN_TICK - 1 || tick > MAX_TICK) return false;
  const [lowest, highest] = [Math.max(tick, MIN_TICK), Math.min(tick + 1, MAX_TICK)];
  return sqrtPrice >= whirlpoolSqrtPrice(lowest) && sqrtPrice <= whirlpoolSqrtPrice(highest);
}

function readOracle(market: WhirlpoolMarket, have: AccountView): WhirlpoolCurve["oracle"] {
  if (!market.adaptive) return undefined;
  const oracle = decodeWhirlpoolOracle(requireAccount(have, market.oracle, ID, "oracle"), market.address);
  if (oracle === undefined || oracle.groupSize === 0) {
    throw degraded(ID, `${market.oracle} is not the oracle of ${market.address}`);
  }
  return oracle;
}

/** Both directions from the pool's tick, over arrays that were read. */
export function routesFrom(
  slots: ReadonlyMap<number, ArraySlot>,
  pool: Pick<WhirlpoolCurve, "tick" | "tickSpacing" | "arrays">,
): readonly [Route, Route] {
  return [routeFrom(slots, pool, true), routeFrom(slots, pool, false)];
}

/** As `routesFrom`, made once while the arrays, and the first one of each direction, stay the same. */
const routesOver = decodeOnceFor(
  (slots: ReadonlyMap<number, ArraySlot>, tickSpacing: number, down: number, up: number): readonly [Route, Route] => [
    routeFrom(slots, { tick: down, tickSpacing }, true),
    // Upwards, the first array is that of the next tick.
    routeFrom(slots, { tick: up - tickSpacing, tickSpacing }, false),
  ],
);

function routeFrom(
  slots: ReadonlyMap<number, ArraySlot>,
  { tick, tickSpacing, arrays }: Pick<WhirlpoolCurve, "tick" | "tickSpacing" | "arrays">,
  aToB: boolean,
): Route {
  const starts = swapArrayStarts(tick, tickSpacing, aToB, arrays);
  const span = whirlpoolArraySpan(tickSpacing);
  const first = starts[0] ?? 0;
  return {
    arrays: starts.map((start) => slots.get(start)!),
    behind: slots.get(aToB ? first + span : first - span),
    borders: starts.slice(1).map((start) => whirlpoolSqrtPrice(aToB ? start + span : start - tickSpacing)),
  };
}

/** The fee comes from the state, without the part that follows volatility, price and liquidity from the pool's account. */
export const whirlpoolSpot: SpotBounds<WhirlpoolMarket, WhirlpoolState> = {
  reads: ({ market }) => [market.address],
  of({ market, curve }, [account]) {
    const { data } = account!;
    const { tickSpacing } = market;
    const tick = numberI32(data, 81);
    const isNear = (ahead: number) =>
      whirlpoolArrayStart(tick + ahead, tickSpacing) === whirlpoolArrayStart(curve.tick + ahead, tickSpacing);
    if (!isNear(0) || !isNear(tickSpacing)) return undefined;
    return rangeBound({
      root: numberQ64(data, 65),
      liquidity: numberU128(data, 49),
      tick,
      tickSpacing,
      kept: 1 - Number(curve.feeRate) / 1e6,
      isOnInput: [true, true],
    });
  },
  follows: {
    fixed: [
      [0, 8],
      [41, 47],
    ],
    accounts: ({ mints }) => mints,
  },
};
