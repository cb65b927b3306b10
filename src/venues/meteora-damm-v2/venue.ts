import type { AccountView, ChainClock } from "../../solana/account.ts";
import type { Mint } from "../../solana/token/mint.ts";
import { priceImpact } from "../curves/price-impact.ts";
import { isPriceableFee, type LaterRoot, laterRoot } from "../curves/scheduled-fee.ts";
import { filterByMint, filterEitherWay } from "../shared/mint-filter.ts";
import { degraded, notTrading, tooLarge, tooSmall } from "../shared/refusals.ts";
import { rejectUnsupported, requireAccount, requireMint, unread } from "../shared/required.ts";
import { assertReserve, type Reserves, requireReserves } from "../shared/reserves.ts";
import { arriving, sending, transferFeeOf } from "../shared/transfer-sides.ts";
import type { Ask, Quote, Venue } from "../venue.ts";
import { meteoraDammV2Errors } from "./errors.ts";
import { dammV2Swap } from "./instruction.ts";
import {
  DAMM_V2_MINT_A_OFFSET,
  DAMM_V2_MINT_B_OFFSET,
  DAMM_V2_POOL_SIZE,
  DAMM_V2_PROGRAM,
  type DammV2Market,
  type DammV2Pool,
  dammV2PoolAddresses,
  decodeDammV2Market,
  decodeDammV2Pool,
  isDammV2Pool,
} from "./layout.ts";
import { type DammV2Fill, dammV2After, dammV2ExactIn, dammV2ExactOut, dammV2Moment, dammV2Price } from "./math.ts";
import { dammV2Spot } from "./spot.ts";
import { laterRootUnits, unitsOf } from "./units.ts";

/** A pool ready to be priced in either direction. */
interface DammV2State {
  readonly market: DammV2Market;
  readonly pool: DammV2Pool;
  readonly mints: readonly [Mint, Mint];
  readonly reserves: Reserves;
  /** Extensions each mint carries. */
  readonly extensions: readonly [number, number];
}

interface DammV2QuoteFill {
  /** True if the pool's rate limiter may apply to this trade. */
  readonly watched: boolean;
  readonly computeUnits: number;
  /** A root that the fee may take at the price of the landing. */
  readonly laterRoot: LaterRoot | undefined;
}

const ACCOUNTS = {
  program: DAMM_V2_PROGRAM,
  dataSize: DAMM_V2_POOL_SIZE,
  mintOffsets: [DAMM_V2_MINT_A_OFFSET, DAMM_V2_MINT_B_OFFSET],
} as const;

/**
 * Meteora DAMM v2 (cp-amm): one range of constant liquidity or a compounding constant product, exact in and exact out,
 * Token-2022 with transfer fees; fee schedules by time and market cap, rate limiters, volatility fees.
 * From the interface and maths of the MIT SDK 1.5.0; proven by execution on the program's builds from December 2025 to 20 March 2026.
 * Uncertain: SDK 1.5.0 knows four instructions and the errors above 6069 that this build does not; swap maths is believed
 * the same. Pools under private configurations are found only by the filter search. While a rate limiter watches, the
 * program refuses transactions that hold another instruction touching the pool before the swap.
 */
export const meteoraDammV2: Venue<DammV2Market, DammV2State, DammV2QuoteFill> = {
  id: "meteora_damm_v2",
  programs: [DAMM_V2_PROGRAM],
  supports: { exactOut: true, token2022: true },
  calls: 4,

  search(pair) {
    return [{ kind: "guess", addresses: () => dammV2PoolAddresses(pair) }, ...filterEitherWay(ACCOUNTS, pair)];
  },

  searchMint: (mint) => filterByMint(ACCOUNTS, mint),

  decode: decodeDammV2Market,
  decoded: [
    [0, 8],
    [168, 296],
  ],

  needs(market, have) {
    return unread(have, [market.address, ...market.mints, ...market.vaults]);
  },

  read: readState,
  quote,
  spot: dammV2Spot,
  traded,

  swap({ market, mints }, { mode, inAmount, outAmount, fill }, terms) {
    const amount = mode === "exactIn" ? inAmount : outAmount;
    return {
      instructions: [dammV2Swap({ market, mints, mode, amount, watched: fill.watched }, terms)],
      computeUnits: fill.computeUnits + laterRootUnits(fill.laterRoot, inAmount, terms.threshold),
      creates: [],
    };
  },

  errors: meteoraDammV2Errors,
};

function readState(market: DammV2Market, have: AccountView): DammV2State {
  const account = requireAccount(have, market.address, "meteora_damm_v2", "pool");
  const pool = isDammV2Pool(account) ? decodeDammV2Pool(account) : undefined;
  if (pool === undefined) {
    throw degraded("meteora_damm_v2", `${market.address} is not a pool of a kind known here`);
  }
  if (!isPriceable(pool)) throw degraded("meteora_damm_v2", `the price or the fee of ${market.address} cannot be`);
  const mints = [
    requireMint(have, market.mints[0], "meteora_damm_v2"),
    requireMint(have, market.mints[1], "meteora_damm_v2"),
  ] as const;
  const extensions = [mints[0].extensions, mints[1].extensions] as const;
  const reserves = requireReserves(have, market, market.vaults);
  return { market, pool, mints, reserves, extensions };
}

/** False for numbers that no program writes. */
function isPriceable({
  compounding,
  baseFee,
  minSqrtPrice,
  sqrtPrice,
  maxSqrtPrice,
  firstSqrtPrice,
}: DammV2Pool): boolean {
  if (!isPriceableFee(baseFee) || (baseFee.kind === "marketCapSchedule" && firstSqrtPrice === 0n)) return false;
  return compounding || (minSqrtPrice > 0n && sqrtPrice >= minSqrtPrice && sqrtPrice <= maxSqrtPrice);
}

function quote(state: DammV2State, ask: Ask): Quote<DammV2QuoteFill> {
  const { market, pool, mints } = state;
  const point = pool.countsSeconds ? ask.clock.unixTimestamp : ask.clock.slot;
  if (!pool.enabled) throw notTrading(market, "is disabled");
  if (point < pool.activationPoint) {
    throw notTrading(market, `opens at ${pool.countsSeconds ? "Unix second" : "slot"} ${pool.activationPoint}`);
  }
  rejectUnsupported(mints[0]);
  rejectUnsupported(mints[1]);
  const aToB = ask.inMint === market.mints[0];
  const feeIn = transferFeeOf(mints[aToB ? 0 : 1], ask.clock.epoch);
  const feeOut = transferFeeOf(mints[aToB ? 1 : 0], ask.clock.epoch);
  const moment = dammV2Moment(pool, aToB, point);

  let inAmount: bigint;
  let fill: DammV2Fill | undefined;
  if (ask.mode === "exactIn") {
    inAmount = ask.amount;
    const arrives = arriving(inAmount, feeIn);
    if (arrives <= 0n) throw tooSmall();
    fill = dammV2ExactIn(pool, aToB, arrives, moment);
    if (fill === undefined) throw tooLarge(market);
  } else {
    const leaves = sending(ask.amount, feeOut);
    fill = leaves === undefined ? undefined : dammV2ExactOut(pool, aToB, leaves, moment);
    const sent = fill === undefined ? undefined : sending(fill.input, feeIn);
    if (fill === undefined || sent === undefined) throw tooLarge(market);
    inAmount = sent;
  }
  const outAmount = arriving(fill.output, feeOut);
  if (inAmount <= 0n || outAmount <= 0n) throw tooSmall();
  assertReserve(market, state.reserves[aToB ? 1 : 0], fill.output);
  const [numerator, denominator] = dammV2Price(pool);
  const watched = pool.baseFee.kind === "rateLimiter" && !aToB;
  return {
    mode: ask.mode,
    inMint: ask.inMint,
    outMint: ask.outMint,
    inAmount,
    outAmount,
    priceImpact: ask.amountsOnly
      ? 0
      : aToB
        ? priceImpact(fill.netIn, fill.grossOut, numerator, denominator)
        : priceImpact(fill.netIn, fill.grossOut, denominator, numerator),
    fill: {
      watched,
      computeUnits: unitsOf(state, aToB, ask, fill, moment),
      laterRoot: ask.mode === "exactOut" ? laterRoot(pool.baseFee, fill.netIn, moment) : undefined,
    },
  };
}

/** The pool that the trade leaves. */
function traded(state: DammV2State, made: Quote<DammV2QuoteFill>, clock: ChainClock): DammV2State | undefined {
  const { market, pool, mints, reserves } = state;
  const point = pool.countsSeconds ? clock.unixTimestamp : clock.slot;
  const aToB = made.inMint === market.mints[0];
  const moment = dammV2Moment(pool, aToB, point);
  const exactIn = made.mode === "exactIn";
  const amount = exactIn
    ? arriving(made.inAmount, transferFeeOf(mints[aToB ? 0 : 1], clock.epoch))
    : sending(made.outAmount, transferFeeOf(mints[aToB ? 1 : 0], clock.epoch));
  if (amount === undefined) return undefined;
  const fill = exactIn ? dammV2ExactIn(pool, aToB, amount, moment) : dammV2ExactOut(pool, aToB, amount, moment);
  const after = fill && dammV2After(pool, aToB, exactIn, fill, clock.unixTimestamp);
  if (fill === undefined || after === undefined) return undefined;
  const [a, b] = aToB ? [fill.input, -fill.output] : [-fill.output, fill.input];
  return { ...state, pool: after, reserves: [reserves[0] + a, reserves[1] + b] };
}
