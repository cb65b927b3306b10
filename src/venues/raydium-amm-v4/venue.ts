import { U64_MAX } from "../../primitives/integer.ts";
import type { AccountView } from "../../solana/account.ts";
import type { Mint } from "../../solana/token/mint.ts";
import { priceImpact } from "../curves/price-impact.ts";
import { filterByMint, filterEitherWay } from "../shared/mint-filter.ts";
import { degraded, dust, notTrading, tooLarge, tooSmall } from "../shared/refusals.ts";
import { rejectUnsupported, requireAccount, requireMint, unread } from "../shared/required.ts";
import { requireReserve } from "../shared/reserves.ts";
import type { Ask, Quote, Venue } from "../venue.ts";
import { raydiumAmmV4Errors } from "./errors.ts";
import { ammV4Swap } from "./instruction.ts";
import {
  AMM_V4_POOL_SIZE,
  AMM_V4_PROGRAM,
  type AmmV4Market,
  type AmmV4Pool,
  COIN_MINT_OFFSET,
  decodeAmmV4Market,
  decodeAmmV4Pool,
  isAmmV4Pool,
  PC_MINT_OFFSET,
} from "./layout.ts";
import { type AmmV4Side, ammV4ExactIn, ammV4ExactOut, feeRoundsToNothing, inputRoundsToNothing } from "./math.ts";
import { ammV4Spot } from "./spot.ts";

const ID = "raydium_amm_v4";
const ACCOUNTS = {
  program: AMM_V4_PROGRAM,
  dataSize: AMM_V4_POOL_SIZE,
  mintOffsets: [COIN_MINT_OFFSET, PC_MINT_OFFSET],
} as const;

/** A pool with its reserves and fee, ready to be priced in either direction. */
export interface AmmV4State {
  readonly market: AmmV4Market;
  readonly pool: AmmV4Pool;
  readonly mints: readonly [Mint, Mint];
  /** The pool for the coin in, and for the pc in. */
  readonly sides: readonly [AmmV4Side, AmmV4Side];
}

/** Nothing besides the amounts is needed. */
type AmmV4QuoteFill = null;

/**
 * Compute units: the most measured on the program with its older instructions, which have more accounts. Wide products and the trade
 * that ends a pool's waiting take most.
 */
const EXACT_IN_UNITS = 22_600;
const EXACT_OUT_UNITS = 24_900;

/**
 * Raydium AMM v4: constant product, exact in and exact out, plain tokens only.
 * From the program's public source of July 2026, which trades without an order book (instructions 16 and 17). The newest
 * public binary, of June 2025, knows only the older instructions 9 and 11 with their unused market accounts: quotes are
 * proven by execution through those, the newer instructions' bytes against the source. Uncertain: whether the source of July
 * 2026 is deployed; before it, a pool of status 1 whose funds still lie in open orders would count them. Pools cannot be
 * derived from a pair: they are found by filter.
 */
export const raydiumAmmV4: Venue<AmmV4Market, AmmV4State, AmmV4QuoteFill> = {
  id: ID,
  programs: [AMM_V4_PROGRAM],
  supports: { exactOut: true, token2022: false },
  calls: 2,

  search(pair) {
    return filterEitherWay(ACCOUNTS, pair);
  },

  searchMint: (mint) => filterByMint(ACCOUNTS, mint),

  decode: decodeAmmV4Market,
  decoded: [
    [0, 8],
    [336, 464],
  ],

  needs(market, have) {
    return unread(have, [market.address, ...market.vaults, ...market.mints]);
  },

  read: readState,
  quote,
  isTimeless: () => true,
  spot: ammV4Spot,
  traded,

  swap({ market }, { mode, inAmount, outAmount }, terms) {
    const exactIn = mode === "exactIn";
    return {
      instructions: [ammV4Swap(market, mode, exactIn ? inAmount : outAmount, terms)],
      computeUnits: exactIn ? EXACT_IN_UNITS : EXACT_OUT_UNITS,
      creates: [],
    };
  },

  errors: raydiumAmmV4Errors,
};

function readState(market: AmmV4Market, have: AccountView): AmmV4State {
  const account = requireAccount(have, market.address, ID, "pool");
  if (!isAmmV4Pool(account)) {
    throw degraded(ID, `${market.address} is no longer a pool`);
  }
  const pool = decodeAmmV4Pool(account);
  const reserve = (index: 0 | 1): bigint =>
    requireReserve(have, market.vaults[index], market.mints[index], ID) - pool.owed[index];
  const reserves = [reserve(0), reserve(1)] as const;
  const side = (from: 0 | 1): AmmV4Side => ({
    reserveIn: reserves[from],
    reserveOut: reserves[from === 0 ? 1 : 0],
    feeNumerator: pool.feeNumerator,
    feeDenominator: pool.feeDenominator,
  });
  return {
    market,
    pool,
    mints: [requireMint(have, market.mints[0], ID), requireMint(have, market.mints[1], ID)],
    sides: [side(0), side(1)],
  };
}

function quote({ market, pool, mints, sides }: AmmV4State, ask: Ask): Quote<AmmV4QuoteFill> {
  if (!pool.swappable || pool.feeDenominator === 0n) {
    throw notTrading(market, "is paused");
  }
  if (ask.clock.unixTimestamp < pool.opensAt) {
    throw notTrading(market, `opens at ${pool.opensAt} (Unix seconds)`);
  }
  rejectUnsupported(mints[0]);
  rejectUnsupported(mints[1]);
  const side = sides[ask.inMint === market.mints[0] ? 0 : 1];
  if (side.reserveIn <= 0n || side.reserveOut <= 0n) throw tooLarge(market);
  const exactIn = ask.mode === "exactIn";
  const fill = exactIn ? ammV4ExactIn(ask.amount, side) : ammV4ExactOut(ask.amount, side);
  if (fill === undefined || fill.input > U64_MAX - side.reserveIn) throw tooLarge(market);
  if (exactIn ? feeRoundsToNothing(ask.amount, side) : inputRoundsToNothing(ask.amount, side)) throw dust();
  if (fill.input <= 0n || fill.output <= 0n || fill.netIn <= 0n) throw tooSmall();
  return {
    mode: ask.mode,
    inMint: ask.inMint,
    outMint: ask.outMint,
    inAmount: fill.input,
    outAmount: fill.output,
    priceImpact: ask.amountsOnly ? 0 : priceImpact(fill.netIn, fill.output, side.reserveOut, side.reserveIn),
    fill: null,
  };
}

/** The pool with its reserves moved: fees stay in it until its owner collects them. */
function traded(state: AmmV4State, { inMint, inAmount, outAmount }: Quote<AmmV4QuoteFill>): AmmV4State {
  const from = inMint === state.market.mints[0] ? 0 : 1;
  const side = state.sides[from];
  const there = { ...side, reserveIn: side.reserveIn + inAmount, reserveOut: side.reserveOut - outAmount };
  const back = { ...there, reserveIn: there.reserveOut, reserveOut: there.reserveIn };
  return { ...state, sides: from === 0 ? [there, back] : [back, there] };
}
