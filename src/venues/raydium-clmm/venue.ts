import type { Address } from "../../primitives/address.ts";
import { U64_MAX } from "../../primitives/integer.ts";
import type { Account, AccountView, ChainClock } from "../../solana/account.ts";
import { decodeOnceFor } from "../../solana/decode-once.ts";
import { TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import { MAX_TICK, MIN_TICK, midPrice } from "../curves/concentrated-liquidity.ts";
import { priceImpact } from "../curves/price-impact.ts";
import { extensionCount } from "../shared/mint-extensions.ts";
import { filterByMint, filterByMints } from "../shared/mint-filter.ts";
import { degraded, notTrading, outOfReach, tooSmall } from "../shared/refusals.ts";
import { rejectUnsupported, requireAccount, requireMint, unread } from "../shared/required.ts";
import { assertReserve, type Reserves, requireReserves } from "../shared/reserves.ts";
import { sortMints } from "../shared/sort-mints.ts";
import { arriving, sending, transferFeeOf } from "../shared/transfer-sides.ts";
import type { Ask, Quote, Venue } from "../venue.ts";
import { raydiumClmmErrors } from "./errors.ts";
import { clmmSwap } from "./instruction.ts";
import {
  bitmapsBetween,
  CLMM_MINT_0_OFFSET,
  CLMM_MINT_1_OFFSET,
  CLMM_POOL_SIZE,
  CLMM_PROGRAM,
  type ClmmBitmaps,
  type ClmmMarket,
  type ClmmPool,
  clmmArrayStart,
  clmmPoolAddresses,
  clmmTickArrayOf,
  decodeClmmExtension,
  decodeClmmFeeRate,
  decodeClmmMarket,
  decodeClmmPool,
  decodeClmmTicks,
  initialisedStarts,
  isBeyondBitmap,
  isClmmPool,
} from "./layout.ts";
import { type ClmmCurve, type ClmmFill, clmmAfter, clmmSqrtPrice, swapClmm } from "./math.ts";

const ID = "raydium_clmm";
/** Tick arrays read in each direction: the most that one swap can cross. */
const ARRAYS_PER_SWAP = 6;
/** Swaps with up to this many arrays name one more on either side, in case the price moves. */
const ROOM_FOR_NEIGHBOURS = 4;

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
  /** For token 0 in, and for token 1 in. */
  readonly paths: readonly [Path, Path];
  /** Address of the bitmap's extension; undefined if the pool has none. */
  readonly extension: Address | undefined;
  /** Compute units of a swap that crosses nothing. */
  readonly baseUnits: number;
}

interface ClmmQuoteFill {
  readonly zeroForOne: boolean;
  readonly trail: readonly Address[];
  readonly computeUnits: number;
}

const ACCOUNTS = {
  program: CLMM_PROGRAM,
  dataSize: CLMM_POOL_SIZE,
  mintOffsets: [CLMM_MINT_0_OFFSET, CLMM_MINT_1_OFFSET],
} as const;

/**
 * Raydium CLMM: concentrated liquidity with limit orders and fees that follow volatility, exact in and exact out,
 * Token-2022 with transfer fees. From the program's public source of July 2026.
 * Proven by execution on the mainnet program of November 2024, which knows neither limit orders nor fees that follow
 * volatility nor fees on a fixed side; for those, the maths equals what the source of July 2026 answers, run natively, on
 * random pools (its answers are kept as vectors), and the account places follow its structures. Which build
 * is deployed is uncertain. That older build also refuses trades of tokens with transfer fees that the later ones take: exact
 * out of such a token, and exact in of amounts the token's inverse fee does not give. "Permissioned" pools of other seeds are
 * found by the filter search.
 */
export const raydiumClmm: Venue<ClmmMarket, ClmmState, ClmmQuoteFill> = {
  id: ID,
  programs: [CLMM_PROGRAM],
  supports: { exactOut: true, token2022: true },

  search(pair) {
    return [{ kind: "guess", addresses: () => clmmPoolAddresses(pair) }, filterByMints(ACCOUNTS, sortMints(pair))];
  },

  searchMint: (mint) => filterByMint(ACCOUNTS, mint),

  decode: decodeClmmMarket,

  /** In the second round the arrays of the pool's own bitmap, in the third those that only its extension names. */
  needs(market, have) {
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
  },

  read: readState,
  quote,
  traded,

  swap(state, { mode, inAmount, outAmount, fill }, terms) {
    const amount = mode === "exactIn" ? inAmount : outAmount;
    return {
      instructions: [clmmSwap(state.market, fill.trail, fill.zeroForOne, mode, amount, terms)],
      computeUnits: fill.computeUnits,
      creates: [],
    };
  },

  arrayNumbers({ paths }, { fill: { trail, zeroForOne } }) {
    const { starts, addresses, behind, behindStart } = paths[zeroForOne ? 0 : 1];
    return trail.flatMap((address) => {
      const at = addresses.indexOf(address);
      return at >= 0 ? [starts[at]!] : address === behind ? [behindStart!] : [];
    });
  },

  errors: raydiumClmmErrors,
};

function bitmapsOf(market: ClmmMarket, { bitmap }: ClmmPool, have: AccountView): ClmmBitmaps {
  const account = market.extended ? have.get(market.extension.address) : undefined;
  const extension = account ? decodeClmmExtension(account, market.address) : undefined;
  return { bitmap, extension, tickSpacing: market.tickSpacing };
}

/** Arrays with ticks around `tick`, ascending: its own if it has ticks, and the nearest on either side. */
function nearbyStarts(bitmaps: ClmmBitmaps, tick: number): number[] {
  const down = initialisedStarts(bitmaps, tick, true, true, ARRAYS_PER_SWAP).reverse();
  return down.concat(initialisedStarts(bitmaps, tick, false, false, ARRAYS_PER_SWAP));
}

/** The ticks of an array with their prices: most changes of a pool leave its arrays as they are. */
const ticksIn = decodeOnceFor((account: Account, pool: Address, start: number, tickSpacing: number) => {
  const held = decodeClmmTicks(account, pool, start, tickSpacing);
  return held && { ...held, sqrtPrices: held.ticks.map(clmmSqrtPrice) };
});

function readState(market: ClmmMarket, have: AccountView): ClmmState {
  const account = requireAccount(have, market.address, ID, "pool");
  if (!isClmmPool(account)) {
    throw degraded(ID, `${market.address} is no longer a pool`);
  }
  const pool = decodeClmmPool(account);
  if (!isOnCurve(pool)) throw degraded(ID, `the price of ${market.address} is not that of its tick`);
  const feeRate = decodeClmmFeeRate(requireAccount(have, market.config, ID, "fee configuration"));
  if (feeRate === undefined) throw degraded(ID, `${market.config} is not a fee configuration`);

  const bitmaps = bitmapsOf(market, pool, have);
  const ticks: number[] = [];
  const liquidityNet: bigint[] = [];
  const hasLiquidity: boolean[] = [];
  const orders: bigint[] = [];
  const sqrtPrices: bigint[] = [];
  for (const start of nearbyStarts(bitmaps, pool.tick)) {
    const array = requireAccount(have, clmmTickArrayOf(market.address, start).address, ID, "tick array");
    const held = ticksIn(array, market.address, start, market.tickSpacing);
    if (held === undefined) {
      throw degraded(ID, `${array.address} is not a tick array of ${market.address}`);
    }
    ticks.push(...held.ticks);
    liquidityNet.push(...held.liquidityNet);
    hasLiquidity.push(...held.hasLiquidity);
    orders.push(...held.orders);
    sqrtPrices.push(...held.sqrtPrices);
  }
  const mints = [requireMint(have, market.mints[0], ID), requireMint(have, market.mints[1], ID)] as const;
  const { liquidity, sqrtPrice, tick, feeOn, volatility } = pool;
  const { tickSpacing } = market;
  const lists = { ticks, liquidityNet, hasLiquidity, orders, sqrtPrices };
  return {
    market,
    curve: { ...lists, feeRate, feeOn, liquidity, sqrtPrice, tick, tickSpacing, volatility },
    swapDisabled: pool.swapDisabled,
    openTime: pool.openTime,
    mints,
    reserves: requireReserves(have, market, market.vaults),
    paths: [path(market, bitmaps, tick, true), path(market, bitmaps, tick, false)],
    extension: bitmaps.extension && market.extension.address,
    baseUnits:
      SWAP_UNITS +
      (256 - market.extension.bump) * DERIVATION_UNITS +
      pool.rewards * REWARD_UNITS +
      mintUnits(mints[0], extensionCount(have, market.mints[0])) +
      mintUnits(mints[1], extensionCount(have, market.mints[1])),
  };
}

/** False for a price that no swap leaves: outside the ticks, or not that of the pool's own tick. */
function isOnCurve({ tick, sqrtPrice }: ClmmPool): boolean {
  if (tick < MIN_TICK - 1 || tick > MAX_TICK) return false;
  const [lowest, highest] = [Math.max(tick, MIN_TICK), Math.min(tick + 1, MAX_TICK)];
  return sqrtPrice >= clmmSqrtPrice(lowest) && sqrtPrice <= clmmSqrtPrice(highest);
}

function path(market: ClmmMarket, bitmaps: ClmmBitmaps, tick: number, down: boolean): Path {
  const starts = initialisedStarts(bitmaps, tick, down, true, ARRAYS_PER_SWAP);
  const [behind] = initialisedStarts(bitmaps, tick, !down, false, 1);
  const addressOf = (start: number): Address => clmmTickArrayOf(market.address, start).address;
  return {
    starts,
    addresses: starts.map(addressOf),
    behind: behind === undefined ? undefined : addressOf(behind),
    behindStart: behind,
  };
}

function quote(state: ClmmState, ask: Ask): Quote<ClmmQuoteFill> {
  const { market, curve, mints } = state;
  if (state.swapDisabled) throw notTrading(market, "is paused");
  if (ask.clock.unixTimestamp <= state.openTime) {
    throw notTrading(market, `opens after ${state.openTime} (Unix seconds)`);
  }
  rejectUnsupported(mints[0]);
  rejectUnsupported(mints[1]);
  const zeroForOne = ask.inMint === market.mints[0];
  const feeIn = transferFeeOf(mints[zeroForOne ? 0 : 1], ask.clock.epoch);
  const feeOut = transferFeeOf(mints[zeroForOne ? 1 : 0], ask.clock.epoch);
  const exactIn = ask.mode === "exactIn";
  const amount = exactIn ? arriving(ask.amount, feeIn) : sending(ask.amount, feeOut);
  if (amount === undefined || amount > U64_MAX) throw outOfReach(market);
  if (amount <= 0n) throw tooSmall();
  const fill = swapClmm(curve, zeroForOne, exactIn, amount, ask.clock.unixTimestamp);
  if (fill === undefined || fill.input > U64_MAX || fill.grossOut > U64_MAX) throw outOfReach(market);
  const inAmount = exactIn ? ask.amount : sending(fill.input, feeIn);
  if (inAmount === undefined || inAmount > U64_MAX) throw outOfReach(market);
  const outAmount = exactIn ? arriving(fill.output, feeOut) : ask.amount;
  if (inAmount <= 0n || outAmount <= 0n) throw tooSmall();
  assertReserve(market, state.reserves[zeroForOne ? 1 : 0], fill.output);
  const planned = plan(state, fill, zeroForOne, exactIn);
  if (planned.computeUnits > MAX_SWAP_UNITS) throw outOfReach(market);
  const [midNumerator, midDenominator] = midPrice(curve.sqrtPrice, zeroForOne);
  return {
    mode: ask.mode,
    inMint: ask.inMint,
    outMint: ask.outMint,
    inAmount,
    outAmount,
    priceImpact: priceImpact(fill.netIn, fill.grossOut, midNumerator, midDenominator),
    fill: planned,
  };
}

/** The pool at the price that the trade leaves, with the ticks that are known of it. */
function traded(state: ClmmState, made: Quote<ClmmQuoteFill>, clock: ChainClock): ClmmState | undefined {
  const { market, curve, mints, reserves } = state;
  const zeroForOne = made.inMint === market.mints[0];
  const exactIn = made.mode === "exactIn";
  const amount = exactIn
    ? arriving(made.inAmount, transferFeeOf(mints[zeroForOne ? 0 : 1], clock.epoch))
    : sending(made.outAmount, transferFeeOf(mints[zeroForOne ? 1 : 0], clock.epoch));
  const after = amount && clmmAfter(curve, zeroForOne, exactIn, amount, clock.unixTimestamp);
  if (!after) return undefined;
  const [zero, one] = zeroForOne ? [made.inAmount, -made.outAmount] : [-made.outAmount, made.inAmount];
  return { ...state, curve: after, reserves: [reserves[0] + zero, reserves[1] + one] };
}

/** The accounts after the fixed ones, and the bound on compute units. */
function plan(state: ClmmState, fill: ClmmFill, zeroForOne: boolean, exactIn: boolean): ClmmQuoteFill {
  const { market, extension } = state;
  const { tickSpacing } = market;
  const { starts, addresses, behind } = state.paths[zeroForOne ? 0 : 1];
  const own = clmmArrayStart(state.curve.tick, tickSpacing);
  const used = starts.indexOf(clmmArrayStart(fill.searchedTo, tickSpacing)) + 1;
  const neighbours = used <= ROOM_FOR_NEIGHBOURS;
  const ahead = neighbours ? starts[used] : starts[used - 1];
  const trail: Address[] = [];
  let units = tradeUnits(state, fill, zeroForOne, exactIn);
  if (extension !== undefined) {
    const beyond = ahead === undefined || isBeyondBitmap(ahead, tickSpacing) || isBeyondBitmap(own, tickSpacing);
    if (beyond) {
      trail.push(extension);
      units += BITMAP_EXTENSION_UNITS;
    }
  }
  if (neighbours && behind !== undefined) trail.push(behind);
  let previous = own;
  for (let i = 0; i < used; i++) {
    const start = starts[i]!;
    trail.push(addresses[i]!);
    units += bitmapsBetween(previous, start, tickSpacing) * BITMAP_UNITS;
    previous = start;
  }
  if (neighbours && ahead !== undefined) trail.push(addresses[used]!);
  units += (used - 1) * ARRAY_UNITS;
  if (starts[0] !== own) units += FIRST_ARRAY_UNITS;
  return { zeroForOne, trail, computeUnits: units };
}

/**
 * Compute units, measured on the program of November 2024, the costliest build known, with some margin; later builds use
 * fewer. Prices above 1 take longer divisions, a price from an amount of token 0 one more, and every swap of that build
 * searched for the address of the bitmap's extension, one attempt after another. Limit orders and fees that follow volatility
 * are an estimate.
 */
const SWAP_UNITS = 33_700;
const ZERO_FOR_ONE_UNITS = 2_900;
const TICK_OF_PRICE_UNITS = 30_100;
const TICK_OF_PRICE_ABOVE_UNITS = 3_550;
const TOKEN_0_PRICE_UNITS = 7_000;
const TOKEN_0_PRICE_ABOVE_UNITS = 2_050;
const CROSSING_UNITS = 17_750;
const CROSSING_DOWN_UNITS = 970;
const CROSSING_ABOVE_UNITS = 1_830;
const CROSSING_DOWN_ABOVE_UNITS = 1_400;
/** Saved if the price already stands at the crossed tick. */
const TOUCHING_UNITS = 12_500;
const ORDERS_UNITS = 12_000;
const ARRAY_UNITS = 3_980;
const FIRST_ARRAY_UNITS = 1_080;
const BITMAP_UNITS = 2_370;
const BITMAP_EXTENSION_UNITS = 860;
const DERIVATION_UNITS = 1_665;
const REWARD_UNITS = 6_300;
const TOKEN_2022_UNITS = 4_200;
const EXTENDED_UNITS = 1_200;
const MINT_EXTENSION_UNITS = 300;
const FEE_EXTENSION_UNITS = 400;
const TRANSFER_FEE_IN_UNITS = 4_950;
const TRANSFER_FEE_OUT_UNITS = 2_800;
const TRANSFER_FEE_IN_EXACT_OUT_UNITS = 2_150;
/** A swap's share of the 1,400,000 units of a transaction, the rest is for the instructions around it. */
const MAX_SWAP_UNITS = 1_250_000;

function tradeUnits(state: ClmmState, fill: ClmmFill, zeroForOne: boolean, exactIn: boolean): number {
  const above = state.curve.tick >= 0;
  const between = fill.endsBetween ? 1 : 0;
  const stretches = fill.steps - between + fill.touched;
  let units = state.baseUnits + fill.matched * ORDERS_UNITS - fill.touched * TOUCHING_UNITS;
  units += between * (TICK_OF_PRICE_UNITS + (above ? TICK_OF_PRICE_ABOVE_UNITS : 0));
  units += stretches * (CROSSING_UNITS + (zeroForOne ? CROSSING_DOWN_UNITS : 0));
  units += fill.crossedAbove * (CROSSING_ABOVE_UNITS + (zeroForOne ? CROSSING_DOWN_ABOVE_UNITS : 0));
  if (zeroForOne) units += ZERO_FOR_ONE_UNITS;
  if (zeroForOne === exactIn) units += TOKEN_0_PRICE_UNITS + (above ? TOKEN_0_PRICE_ABOVE_UNITS : 0);
  if (state.mints[zeroForOne ? 0 : 1].transferFees !== undefined) {
    units += exactIn ? TRANSFER_FEE_IN_UNITS : TRANSFER_FEE_IN_EXACT_OUT_UNITS;
  }
  if (state.mints[zeroForOne ? 1 : 0].transferFees !== undefined) units += TRANSFER_FEE_OUT_UNITS;
  return units;
}

/** Addition for a token; programs scan all of a mint's extensions. What a transfer fee adds depends on the side. */
function mintUnits({ program, transferFees }: Mint, extensions: number): number {
  if (program === TOKEN_PROGRAM) return 0;
  if (transferFees !== undefined) return TOKEN_2022_UNITS + FEE_EXTENSION_UNITS * (extensions - 1);
  return TOKEN_2022_UNITS + (extensions === 0 ? 0 : EXTENDED_UNITS) + MINT_EXTENSION_UNITS * extensions;
}
