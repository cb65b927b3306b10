import { TradewireError } from "../../errors/tradewire-error.ts";
import type { Address } from "../../primitives/address.ts";
import { TOKEN_PROGRAM } from "../../solana/programs.ts";
import { priceImpact } from "../curves/price-impact.ts";
import { Q64_ONE } from "../curves/q64-power.ts";
import { filterByMint, filterEitherWay } from "../shared/mint-filter.ts";
import { notTrading, tooLarge, tooSmall } from "../shared/refusals.ts";
import { rejectUnsupported, unread } from "../shared/required.ts";
import { assertReserve } from "../shared/reserves.ts";
import { arriving, sending, transferFeeOf } from "../shared/transfer-sides.ts";
import type { Ask, Quote, Venue } from "../venue.ts";
import { tradedDlmm, withArraysNamed } from "./after.ts";
import { meteoraDlmmErrors } from "./errors.ts";
import { dlmmSwap } from "./instruction.ts";
import {
  arraysWithLiquidity,
  binArrayOf,
  bitmapExtensionOf,
  DLMM_PAIR_SIZE,
  DLMM_PROGRAM,
  type DlmmMarket,
  decodeBitmap,
  decodeDlmmMarket,
  decodeDlmmPair,
  dlmmPairAddresses,
  MINT_X_OFFSET,
  MINT_Y_OFFSET,
} from "./layout.ts";
import { activeArray, type BinWalk, type DlmmFill, type DlmmRefusal, dlmmExactIn, dlmmExactOut } from "./math.ts";
import { movedBinUnits } from "./moved-bins.ts";
import { arraysToName, withoutFarArrays } from "./named-arrays.ts";
import { dlmmSpot } from "./spot.ts";
import { ARRAYS_PER_TRADE, ARRAYS_READ, type DlmmState, readDlmm } from "./state.ts";
import { furtherBinUnits, PASSED_ARRAY_UNITS, unitsOf } from "./units.ts";

interface DlmmQuoteFill {
  /** Arrays that the trade itself reaches, and the bin in which it ends. */
  readonly used: number;
  readonly endsIn: number;
  readonly binArrays: readonly Address[];
  readonly computeUnits: number;
  /** Bins that it reaches, with liquidity and without. */
  readonly bins: number;
  readonly empty: number;
  /** True to make the trade by the program's older instruction, which names one account fewer. */
  readonly isOlder?: boolean;
}

const ACCOUNTS = {
  program: DLMM_PROGRAM,
  dataSize: DLMM_PAIR_SIZE,
  mintOffsets: [MINT_X_OFFSET, MINT_Y_OFFSET],
} as const;

/**
 * Meteora DLMM: bins of constant price, exact in and exact out, Token-2022 with transfer fees, volatility fees with their clock,
 * limit orders in bins, fees in Y only. From the interface and maths of the ISC SDK 1.9.14; proven by execution on the program's
 * builds of March 2026 (0.12) and May 2026. Uncertain: how many presets exist is not published, so pairs are probed under the
 * first presets and otherwise found by the filter search. Exact outputs that end between a bin's market makers and its limit
 * orders may round one unit short: the builds of March refuse those, the one of May gives them, and they are not quoted. A trade
 * that needs more bin arrays than a transaction holds is refused as too large.
 */
export const meteoraDlmm: Venue<DlmmMarket, DlmmState, DlmmQuoteFill> = {
  id: "meteora_dlmm",
  programs: [DLMM_PROGRAM],
  supports: { exactOut: true, token2022: true, memo: true },
  calls: 4,

  search(pair) {
    return [{ kind: "guess", addresses: () => dlmmPairAddresses(pair) }, ...filterEitherWay(ACCOUNTS, pair)];
  },

  searchMint: (mint) => filterByMint(ACCOUNTS, mint),

  decode: decodeDlmmMarket,
  decoded: [
    [0, 8],
    [80, 82],
    [88, 216],
    [552, 584],
  ],

  /** First the pair, its mints and its bitmap; then the arrays around the active bin that the bitmap says hold liquidity. */
  needs(market, have) {
    const extension = bitmapExtensionOf(market.address).address;
    const missing = unread(have, [market.address, extension, ...market.mints, ...market.reserves]);
    const account = have.get(market.address);
    const held = have.get(extension);
    if (account === undefined || account === null) return missing;
    const pair = decodeDlmmPair(account);
    if (pair === undefined) return missing;
    // Most pairs have no extension: what the pair's own bitmap says is read along with it.
    const bitmap = decodeBitmap(account, held ?? null);
    const addresses = [false, true].flatMap((upwards) =>
      arraysWithLiquidity(bitmap, activeArray(pair), upwards, ARRAYS_READ),
    );
    return [
      ...missing,
      ...unread(
        have,
        [...new Set(addresses)].map((index) => binArrayOf(market.address, index).address),
      ),
    ];
  },

  read: readDlmm,
  quote,
  spot: dlmmSpot,
  traded: tradedDlmm,

  /** Exact outputs that only builds since May 2026 give are made: a swap that passes is what can be traded around. */
  replay(state, { fill }, ask) {
    const seen = withArraysNamed(state, fill.binArrays);
    const made = quoteWithin(seen, ask, { mostArrays: fill.binArrays.length, givesUneven: true });
    return { made, left: () => tradedDlmm(state, made, ask.clock, true) };
  },

  older,
  lean,

  swap(state, { inMint, mode, inAmount, outAmount, fill }, terms) {
    const { market, mints, extended } = state;
    const xToY = inMint === market.mints[0];
    const signed = { xToY, mode, inAmount, outAmount, threshold: terms.threshold };
    const amount = mode === "exactIn" ? inAmount : outAmount;
    const { binArrays, isOlder = false } = fill;
    return {
      instructions: [dlmmSwap({ market, mints, extended, binArrays, mode, amount, isOlder }, terms)],
      computeUnits: fill.computeUnits,
      movedUnits: movedBinUnits(state, signed, fill, furtherBinUnits(state, mode === "exactIn", xToY)),
      creates: [],
    };
  },

  arrayNumbers({ down, up }, { fill: { binArrays } }) {
    const known = [...down.arrays, ...up.arrays];
    return binArrays.flatMap((address) => known.find((array) => array.address === address)?.index ?? []);
  },

  errors: meteoraDlmmErrors,
};

function quote(state: DlmmState, ask: Ask): Quote<DlmmQuoteFill> {
  return quoteWithin(state, ask, { mostArrays: ARRAYS_PER_TRADE, givesUneven: false });
}

interface DlmmLimits {
  readonly mostArrays: number;
  /** As in `BinWalk`. */
  readonly givesUneven: boolean;
}

function quoteWithin(state: DlmmState, ask: Ask, { mostArrays, givesUneven }: DlmmLimits): Quote<DlmmQuoteFill> {
  const { market, pair, mints } = state;
  const point = pair.countsSeconds ? ask.clock.unixTimestamp : ask.clock.slot;
  if (!pair.enabled) throw notTrading(market, "is disabled");
  if (point < pair.activationPoint) {
    throw notTrading(market, `opens at ${pair.countsSeconds ? "Unix second" : "slot"} ${pair.activationPoint}`);
  }
  rejectUnsupported(mints[0]);
  rejectUnsupported(mints[1]);
  const xToY = ask.inMint === market.mints[0];
  const feeIn = transferFeeOf(mints[xToY ? 0 : 1], ask.clock.epoch);
  const feeOut = transferFeeOf(mints[xToY ? 1 : 0], ask.clock.epoch);
  const { arrays } = xToY ? state.down : state.up;
  const walk: BinWalk = { pair, binStep: market.binStep, xToY, arrays, now: ask.clock.unixTimestamp, givesUneven };

  let fill: DlmmFill | DlmmRefusal;
  if (ask.mode === "exactIn") {
    const arrives = arriving(ask.amount, feeIn);
    if (arrives <= 0n) throw tooSmall();
    fill = dlmmExactIn(walk, arrives);
  } else {
    const leaves = sending(ask.amount, feeOut);
    if (leaves === undefined) throw tooLarge(market);
    fill = dlmmExactOut(walk, leaves);
  }
  if (fill === "uneven") throw uneven(market);
  if (fill === "exhausted" || fill.arrays > mostArrays) throw tooLarge(market);
  const inAmount = ask.mode === "exactIn" ? ask.amount : sending(fill.input, feeIn);
  if (inAmount === undefined) throw tooLarge(market);
  const outAmount = arriving(fill.output, feeOut);
  if (outAmount <= 0n) throw tooSmall();
  assertReserve(market, state.reserves[xToY ? 1 : 0], fill.output);
  const { behind, ahead } = arraysToName(state, xToY, fill.arrays);
  return {
    mode: ask.mode,
    inMint: ask.inMint,
    outMint: ask.outMint,
    inAmount,
    outAmount,
    priceImpact: ask.amountsOnly
      ? 0
      : xToY
        ? priceImpact(fill.netIn, fill.grossOut, state.activePrice, Q64_ONE)
        : priceImpact(fill.netIn, fill.grossOut, Q64_ONE, state.activePrice),
    fill: {
      used: fill.arrays,
      endsIn: fill.endsIn,
      binArrays: behind === undefined ? ahead : [behind, ...ahead],
      computeUnits: unitsOf(state, fill, ahead.length, xToY, ask) + (behind === undefined ? 0 : PASSED_ARRAY_UNITS),
      bins: fill.bins,
      empty: fill.empty,
    },
  };
}

/** By the older instruction, if both mints are of the SPL Token program. */
function older({ mints }: DlmmState, quote: Quote<DlmmQuoteFill>): Quote<DlmmQuoteFill> | undefined {
  if (quote.fill.isOlder === true || mints.some(({ program }) => program !== TOKEN_PROGRAM)) return undefined;
  return { ...quote, fill: { ...quote.fill, isOlder: true } };
}

/** Without the spare arrays that the price does not come near to. */
function lean(state: DlmmState, quote: Quote<DlmmQuoteFill>): Quote<DlmmQuoteFill> | undefined {
  const { fill, inMint } = quote;
  const binArrays = withoutFarArrays(state, inMint === state.market.mints[0], fill);
  return binArrays.length === fill.binArrays.length ? undefined : { ...quote, fill: { ...fill, binArrays } };
}

function uneven({ address }: DlmmMarket): TradewireError {
  return new TradewireError(
    "INSUFFICIENT_LIQUIDITY",
    `meteora_dlmm market ${address} cannot give exactly this much: its rounding across limit orders falls one unit short. Ask for a little more or less, or name the input instead`,
  );
}
