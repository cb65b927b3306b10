import { U64_MAX } from "../../primitives/integer.ts";
import { midPrice } from "../curves/concentrated-liquidity.ts";
import { priceImpact } from "../curves/price-impact.ts";
import { filterByMint, filterByMints } from "../shared/mint-filter.ts";
import { notTrading, outOfReach, tooSmall } from "../shared/refusals.ts";
import { rejectUnsupported, unread } from "../shared/required.ts";
import { assertReserve } from "../shared/reserves.ts";
import { sortMints } from "../shared/sort-mints.ts";
import { arriving, sending, transferFeeOf } from "../shared/transfer-sides.ts";
import type { Ask, Quote, Venue } from "../venue.ts";
import { tradedWhirlpool, withArrays } from "./after.ts";
import { orcaWhirlpoolErrors } from "./errors.ts";
import { whirlpoolSwap } from "./instruction.ts";
import {
  decodeWhirlpool,
  decodeWhirlpoolMarket,
  WHIRLPOOL_MINT_A_OFFSET,
  WHIRLPOOL_MINT_B_OFFSET,
  WHIRLPOOL_PROGRAM,
  WHIRLPOOL_SIZE,
  type WhirlpoolMarket,
  whirlpoolAddresses,
  whirlpoolTickArrayOf,
} from "./layout.ts";
import { leanWhirlpool, olderWhirlpool } from "./lean.ts";
import { swapWhirlpool } from "./math.ts";
import { movedUnits, namedArrays, planWhirlpool, unitsUntilLanding, type WhirlpoolQuoteFill } from "./plan.ts";
import { nearbyStarts, readWhirlpool, type WhirlpoolState, whirlpoolSpot } from "./state.ts";
import { MAX_SWAP_UNITS, olderSaving } from "./units.ts";

const ID = "orca_whirlpool";

const ACCOUNTS = {
  program: WHIRLPOOL_PROGRAM,
  dataSize: WHIRLPOOL_SIZE,
  mintOffsets: [WHIRLPOOL_MINT_A_OFFSET, WHIRLPOOL_MINT_B_OFFSET],
} as const;

/**
 * Orca Whirlpools: concentrated liquidity, exact in and exact out, Token-2022 with transfer fees, fixed and dynamic tick arrays,
 * and fees that follow volatility. Proven by execution on the builds deployed on mainnet from September 2024 to September 2025, on
 * pools they created and on a mainnet SOL/USDC pool; fees that follow volatility on those since May 2025, dynamic tick arrays on
 * those since July 2025. A swap reaches three arrays of 88 ticks; more is refused as too little liquidity, as the program does, and
 * so is a trade through more ticks than one transaction has compute units for. Pools of adaptive fee tiers and other configurations
 * are found by the filter search.
 */
export const orcaWhirlpool: Venue<WhirlpoolMarket, WhirlpoolState, WhirlpoolQuoteFill> = {
  id: ID,
  programs: [WHIRLPOOL_PROGRAM],
  supports: { exactOut: true, token2022: true, memo: true },
  // Two transfers, and a memo for each token that takes a fee.
  calls: 4,

  search(pair) {
    return [{ kind: "guess", addresses: () => whirlpoolAddresses(pair) }, filterByMints(ACCOUNTS, sortMints(pair))];
  },

  searchMint: (mint) => filterByMint(ACCOUNTS, mint),

  decode: decodeWhirlpoolMarket,
  decoded: [
    [0, 8],
    [41, 45],
    [101, 165],
    [181, 245],
  ],

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

  read: readWhirlpool,
  quote,
  isTimeless: ({ curve }) => curve.oracle === undefined,
  spot: whirlpoolSpot,
  traded: tradedWhirlpool,
  replay(state, { fill }, ask) {
    const seen = withArrays(state, fill.tickArrays);
    const made = quote(seen, ask);
    return { made, left: () => tradedWhirlpool(seen, made, ask.clock) };
  },

  older: olderWhirlpool,
  lean: leanWhirlpool,

  swap(state, quote, terms) {
    const { mode, inAmount, outAmount, fill } = quote;
    const amount = mode === "exactIn" ? inAmount : outAmount;
    const { market, tokenPrograms } = state;
    const { tickArrays, aToB, isOlder = false } = fill;
    return {
      instructions: [whirlpoolSwap({ market, tokenPrograms, tickArrays, aToB, mode, amount, isOlder }, terms)],
      computeUnits: unitsUntilLanding(state, fill) - (isOlder ? olderSaving(market.adaptive) : 0),
      movedUnits: movedUnits(state, quote, terms.threshold),
      creates: [],
    };
  },

  arrayNumbers: (state, { fill }) => namedArrays(state, fill).map(({ start }) => start),

  errors: orcaWhirlpoolErrors,
};

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
  // Quotes of a fixed fee are the same at any time.
  const now = curve.oracle === undefined ? 0n : ask.clock.unixTimestamp;
  const fill = swapWhirlpool(curve, aToB, exactIn, amount, now);
  if (fill === undefined || fill.input > U64_MAX || fill.output > U64_MAX) throw outOfReach(market);
  const inAmount = exactIn ? ask.amount : sending(fill.input, feeIn);
  if (inAmount === undefined || inAmount > U64_MAX) throw outOfReach(market);
  const outAmount = exactIn ? arriving(fill.output, feeOut) : ask.amount;
  if (inAmount <= 0n || outAmount <= 0n) throw tooSmall();
  assertReserve(market, state.reserves[aToB ? 1 : 0], fill.output);
  const planned = planWhirlpool(state, fill, { aToB, exactIn, amount, now });
  if (planned.computeUnits > MAX_SWAP_UNITS) throw outOfReach(market);
  return {
    mode: ask.mode,
    inMint: ask.inMint,
    outMint: ask.outMint,
    inAmount,
    outAmount,
    priceImpact: ask.amountsOnly ? 0 : priceImpact(fill.netIn, fill.output, ...midPrice(curve.sqrtPrice, aToB)),
    fill: planned,
  };
}
