import type { Address } from "../../primitives/address.ts";
import { U64_MAX } from "../../primitives/integer.ts";
import type { Account, AccountView } from "../../solana/account.ts";
import { decodeOnceFor } from "../../solana/decode-once.ts";
import type { DerivedAddress } from "../../solana/derived-address.ts";
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
import { orcaWhirlpoolErrors } from "./errors.ts";
import { whirlpoolSwap } from "./instruction.ts";
import {
  decodeWhirlpool,
  decodeWhirlpoolMarket,
  decodeWhirlpoolOracle,
  decodeWhirlpoolTicks,
  isArrayStart,
  isWhirlpool,
  WHIRLPOOL_MINT_A_OFFSET,
  WHIRLPOOL_MINT_B_OFFSET,
  WHIRLPOOL_PROGRAM,
  WHIRLPOOL_SIZE,
  type WhirlpoolMarket,
  whirlpoolAddresses,
  whirlpoolArraySpan,
  whirlpoolArrayStart,
  whirlpoolTickArrayOf,
} from "./layout.ts";
import { swapArrayStarts, swapWhirlpool, type WhirlpoolCurve, type WhirlpoolFill } from "./math.ts";
import { whirlpoolSqrtPrice } from "./tick-price.ts";
import { tickBits } from "./volatility.ts";

const ID = "orca_whirlpool";
/** The parts of a tick array that an instruction and its cost depend on. */
interface ArraySlot extends DerivedAddress {
  readonly start: number;
  readonly exists: boolean;
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
  /** For A in, and for B in. */
  readonly routes: readonly [Route, Route];
}

interface WhirlpoolQuoteFill {
  readonly aToB: boolean;
  readonly tickArrays: readonly [Address, Address, Address];
  readonly computeUnits: number;
}

const ACCOUNTS = {
  program: WHIRLPOOL_PROGRAM,
  dataSize: WHIRLPOOL_SIZE,
  mintOffsets: [WHIRLPOOL_MINT_A_OFFSET, WHIRLPOOL_MINT_B_OFFSET],
} as const;

/**
 * Orca Whirlpools: concentrated liquidity, exact in and exact out, Token-2022 with transfer fees, fixed and dynamic tick
 * arrays, and fees that follow volatility.
 * Proven by execution on the builds deployed on mainnet from September 2024 to September 2025, on pools they created and on a
 * mainnet SOL/USDC pool; fees that follow volatility on those since May 2025, dynamic tick arrays on those since July 2025. A swap reaches three arrays of 88 ticks; more is refused as too little
 * liquidity, as the program does, and so is a trade through more ticks than one transaction has compute units for. Pools of adaptive fee tiers and other configurations are found by the filter search.
 */
export const orcaWhirlpool: Venue<WhirlpoolMarket, WhirlpoolState, WhirlpoolQuoteFill> = {
  id: ID,
  programs: [WHIRLPOOL_PROGRAM],
  supports: { exactOut: true, token2022: true },

  search(pair) {
    return [{ kind: "guess", addresses: () => whirlpoolAddresses(pair) }, filterByMints(ACCOUNTS, sortMints(pair))];
  },

  searchMint: (mint) => filterByMint(ACCOUNTS, mint),

  decode: decodeWhirlpoolMarket,

  needs(market, have) {
    const missing = unread(have, [market.address, ...market.mints, ...market.vaults]);
    if (market.adaptive) missing.push(...unread(have, [market.oracle]));
    const account = have.get(market.address);
    if (account === undefined || account === null) return missing;
    const arrays = nearbyStarts(decodeWhirlpool(account).tick, market.tickSpacing);
    return missing.concat(
      unread(
        have,
        arrays.map((start) => whirlpoolTickArrayOf(market.address, start).address),
      ),
    );
  },

  read: readState,
  quote,

  swap(state, { mode, inAmount, outAmount, fill }, terms) {
    const amount = mode === "exactIn" ? inAmount : outAmount;
    const { market, tokenPrograms } = state;
    return {
      instructions: [whirlpoolSwap(market, tokenPrograms, fill.tickArrays, fill.aToB, mode, amount, terms)],
      computeUnits: fill.computeUnits,
      creates: [],
    };
  },

  arrayNumbers({ routes }, { fill: { tickArrays, aToB } }) {
    const { arrays, behind } = routes[aToB ? 0 : 1];
    return tickArrays.map((named) => (arrays.find(({ address }) => address === named) ?? behind!).start);
  },

  errors: orcaWhirlpoolErrors,
};

/** First ticks of every array a swap from `tick` may use in either direction, and of those just behind. */
function nearbyStarts(tick: number, tickSpacing: number): number[] {
  const span = whirlpoolArraySpan(tickSpacing);
  const low = whirlpoolArrayStart(tick, tickSpacing) - 2 * span;
  const high = whirlpoolArrayStart(tick + tickSpacing, tickSpacing) + 2 * span;
  const starts: number[] = [];
  for (let start = low; start <= high; start += span) if (isArrayStart(start, tickSpacing)) starts.push(start);
  return starts;
}

/** The ticks of an array with their prices: most changes of a pool leave its arrays as they are. */
const ticksIn = decodeOnceFor((account: Account, pool: Address, start: number, tickSpacing: number) => {
  const held = decodeWhirlpoolTicks(account, pool, start, tickSpacing);
  return held && { ...held, sqrtPrices: held.ticks.map(whirlpoolSqrtPrice) };
});

function readState(market: WhirlpoolMarket, have: AccountView): WhirlpoolState {
  const account = requireAccount(have, market.address, ID, "pool");
  if (!isWhirlpool(account)) {
    throw degraded(ID, `${market.address} is no longer a pool`);
  }
  const pool = decodeWhirlpool(account);
  if (!isOnCurve(pool)) throw degraded(ID, `the price of ${market.address} is not that of its tick`);
  const { tickSpacing } = market;
  const slots = new Map<number, ArraySlot>();
  const ticks: number[] = [];
  const liquidityNet: bigint[] = [];
  const sqrtPrices: bigint[] = [];
  for (const start of nearbyStarts(pool.tick, tickSpacing)) {
    const derived = whirlpoolTickArrayOf(market.address, start);
    const array = have.get(derived.address) ?? undefined;
    const held = array && ticksIn(array, market.address, start, tickSpacing);
    if (array !== undefined && held === undefined && array.owner === WHIRLPOOL_PROGRAM) {
      throw degraded(ID, `${derived.address} is not a tick array of ${market.address}`);
    }
    slots.set(start, { ...derived, start, exists: held !== undefined });
    if (held === undefined) continue;
    ticks.push(...held.ticks);
    liquidityNet.push(...held.liquidityNet);
    sqrtPrices.push(...held.sqrtPrices);
  }
  const mints = [requireMint(have, market.mints[0], ID), requireMint(have, market.mints[1], ID)] as const;
  return {
    market,
    curve: {
      ...pool,
      ticks,
      liquidityNet,
      sqrtPrices,
      tickSpacing,
      oracle: readOracle(market, have),
    },
    mints,
    reserves: requireReserves(have, market, market.vaults),
    tokenPrograms: [mints[0].program, mints[1].program],
    baseUnits:
      SWAP_UNITS +
      pool.rewards * REWARD_UNITS +
      (market.adaptive ? VOLATILITY_UNITS + ABOVE_BIT_UNITS * (pool.tick > 0 ? tickBits(pool.tick) : 0) : 0) +
      mintUnits(mints[0], extensionCount(have, market.mints[0])) +
      mintUnits(mints[1], extensionCount(have, market.mints[1])),
    routes: [route(slots, pool.tick, tickSpacing, true), route(slots, pool.tick, tickSpacing, false)],
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

function route(slots: ReadonlyMap<number, ArraySlot>, tick: number, tickSpacing: number, aToB: boolean): Route {
  const starts = swapArrayStarts(tick, tickSpacing, aToB);
  const span = whirlpoolArraySpan(tickSpacing);
  const first = starts[0] ?? 0;
  return {
    arrays: starts.map((start) => slots.get(start)!),
    behind: slots.get(aToB ? first + span : first - span),
    borders: starts.slice(1).map((start) => whirlpoolSqrtPrice(aToB ? start + span : start - tickSpacing)),
  };
}

function quote(state: WhirlpoolState, ask: Ask): Quote<WhirlpoolQuoteFill> {
  const { market, curve, mints } = state;
  if (curve.oracle !== undefined && ask.clock.unixTimestamp < curve.oracle.tradeEnabledAt) {
    throw notTrading(market, `opens at ${curve.oracle.tradeEnabledAt} (Unix seconds)`);
  }
  rejectUnsupported(mints[0]);
  rejectUnsupported(mints[1]);
  const aToB = ask.inMint === market.mints[0];
  const feeIn = transferFeeOf(mints[aToB ? 0 : 1], ask.clock.epoch);
  const feeOut = transferFeeOf(mints[aToB ? 1 : 0], ask.clock.epoch);
  const exactIn = ask.mode === "exactIn";
  const amount = exactIn ? arriving(ask.amount, feeIn) : sending(ask.amount, feeOut);
  if (amount === undefined || amount > U64_MAX) throw outOfReach(market);
  if (amount <= 0n) throw tooSmall();
  const fill = swapWhirlpool(curve, aToB, exactIn, amount, ask.clock.unixTimestamp);
  if (fill === undefined || fill.input > U64_MAX || fill.output > U64_MAX) throw outOfReach(market);
  const inAmount = exactIn ? ask.amount : sending(fill.input, feeIn);
  if (inAmount === undefined || inAmount > U64_MAX) throw outOfReach(market);
  const outAmount = exactIn ? arriving(fill.output, feeOut) : ask.amount;
  if (inAmount <= 0n || outAmount <= 0n) throw tooSmall();
  assertReserve(market, state.reserves[aToB ? 1 : 0], fill.output);
  const planned = plan(state, fill, aToB, exactIn);
  if (planned.computeUnits > MAX_SWAP_UNITS) throw outOfReach(market);
  const [midNumerator, midDenominator] = midPrice(curve.sqrtPrice, aToB);
  return {
    mode: ask.mode,
    inMint: ask.inMint,
    outMint: ask.outMint,
    inAmount,
    outAmount,
    priceImpact: priceImpact(fill.netIn, fill.output, midNumerator, midDenominator),
    fill: planned,
  };
}

/**
 * The arrays to name: those crossed, then the one behind and the next one if there is room, so that a price that moves a little
 * in the meantime still finds its array.
 */
function plan(state: WhirlpoolState, fill: WhirlpoolFill, aToB: boolean, exactIn: boolean): WhirlpoolQuoteFill {
  const { arrays, borders, behind } = state.routes[aToB ? 0 : 1];
  let used = 1;
  for (const border of borders) if (aToB ? fill.sqrtPrice < border : fill.sqrtPrice > border) used++;
  const first = arrays[0]!;
  const second = arrays[1] ?? behind ?? first;
  const third = (used === 3 ? arrays[2] : behind) ?? arrays[2] ?? first;

  const slots = Math.abs(fill.searchedTo - state.curve.tick) / state.market.tickSpacing;
  let units =
    state.baseUnits +
    fill.crossed * CROSSING_UNITS +
    (fill.steps - 1 - fill.crossed) * STEP_UNITS +
    Math.ceil(slots) * SLOT_UNITS +
    volatilityUnits(state, fill) +
    (aToB === exactIn ? TOKEN_A_PRICE_UNITS : 0);
  for (const array of arrays) {
    const passed = array === first || array === second || array === third;
    if (passed && array.exists) continue;
    units += (256 - array.bump) * DERIVATION_UNITS;
    if (!passed) break;
  }
  return { aToB, tickArrays: [first.address, second.address, third.address], computeUnits: units };
}

/** What following volatility adds to the steps of a swap. */
function volatilityUnits({ market }: WhirlpoolState, { steps, borderBits: [above, below] }: WhirlpoolFill): number {
  return market.adaptive ? (steps - 1) * VOLATILE_STEP_UNITS + above * ABOVE_BIT_UNITS + below * BELOW_BIT_UNITS : 0;
}

/**
 * Compute units, measured on the program's builds from September 2024 to September 2025 and rounded up. An array the program
 * needs and does not find initialised costs a search for its address, one attempt after another. If the fee follows
 * volatility, each step computes the price of a border of ticks: a multiplication for each set bit of the tick, in wider
 * numbers above tick 0.
 */
const SWAP_UNITS = 48_700;
const CROSSING_UNITS = 7_620;
const STEP_UNITS = 7_700;
const SLOT_UNITS = 10;
const TOKEN_A_PRICE_UNITS = 3_900;
const DERIVATION_UNITS = 1_530;
const REWARD_UNITS = 600;
const VOLATILITY_UNITS = 13_600;
const VOLATILE_STEP_UNITS = 400;
const ABOVE_BIT_UNITS = 300;
const BELOW_BIT_UNITS = 80;
const TOKEN_2022_UNITS = 6_300;
const TRANSFER_FEE_UNITS = 9_650;
const EXTENDED_UNITS = 1_600;
const EXTENSION_UNITS = 310;
/** A swap's share of the 1,400,000 units of a transaction, the rest is for the instructions around it. */
const MAX_SWAP_UNITS = 1_250_000;

/** Addition for a token; programs scan all of a mint's extensions. */
function mintUnits({ program, transferFees }: Mint, extensions: number): number {
  if (program === TOKEN_PROGRAM) return 0;
  if (transferFees !== undefined) return TOKEN_2022_UNITS + TRANSFER_FEE_UNITS + EXTENSION_UNITS * (extensions - 1);
  return TOKEN_2022_UNITS + (extensions === 0 ? 0 : EXTENDED_UNITS) + EXTENSION_UNITS * extensions;
}
