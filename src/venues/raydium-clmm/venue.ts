import type { Address } from "../../primitives/address.ts";
import { U64_MAX } from "../../primitives/integer.ts";
import { TOKEN_PROGRAM } from "../../solana/programs.ts";
import { midPrice } from "../curves/concentrated-liquidity.ts";
import { mostWalkUnits, ticksMoved } from "../curves/moved-crossings.ts";
import { priceImpact } from "../curves/price-impact.ts";
import { filterByMint, filterByMints } from "../shared/mint-filter.ts";
import { notTrading, outOfReach, tooSmall } from "../shared/refusals.ts";
import { rejectUnsupported } from "../shared/required.ts";
import { assertReserve } from "../shared/reserves.ts";
import { sortMints } from "../shared/sort-mints.ts";
import { arriving, sending, transferFeeOf } from "../shared/transfer-sides.ts";
import { type Ask, LEAN_MARGIN_BPS, type Quote, type Venue } from "../venue.ts";
import { raydiumClmmErrors } from "./errors.ts";
import { clmmSwap } from "./instruction.ts";
import {
  CLMM_MINT_0_OFFSET,
  CLMM_MINT_1_OFFSET,
  CLMM_POOL_SIZE,
  CLMM_PROGRAM,
  type ClmmMarket,
  clmmArraySpan,
  clmmArrayStart,
  clmmPoolAddresses,
  decodeClmmMarket,
} from "./layout.ts";
import { type ClmmFill, swapClmm } from "./math.ts";
import { clmmSpot } from "./spot.ts";
import { type ClmmState, clmmNeeds, readClmm, tradedClmm } from "./state.ts";
import { bitmapsBetween, isBeyondBitmap } from "./ticks/tick-bitmaps.ts";
import { clmmTickAt } from "./ticks/tick-price.ts";
import {
  ARRAY_UNITS,
  BITMAP_EXTENSION_UNITS,
  BITMAP_UNITS,
  crossingUnits,
  FIRST_ARRAY_UNITS,
  MAX_SWAP_UNITS,
  OLDER_SAVES_UNITS,
  savedUnits,
  tradeUnits,
} from "./units.ts";

const ID = "raydium_clmm";
/** Swaps with up to this many arrays name one more on either side, in case the price moves. */
const ROOM_FOR_NEIGHBOURS = 4;

interface ClmmQuoteFill {
  readonly zeroForOne: boolean;
  /** Where the price ends. */
  readonly sqrtPrice: bigint;
  /** Arrays that the trade itself looks into. */
  readonly used: number;
  readonly trail: readonly Address[];
  readonly computeUnits: number;
  /** Initialised ticks that it crosses, and what it takes less because it begins or ends exactly at one. Compute units. */
  readonly crossed: number;
  readonly savedUnits: number;
  /** True to make the trade by the program's older instruction, which names fewer accounts. */
  readonly isOlder?: boolean;
}

const ACCOUNTS = {
  program: CLMM_PROGRAM,
  dataSize: CLMM_POOL_SIZE,
  mintOffsets: [CLMM_MINT_0_OFFSET, CLMM_MINT_1_OFFSET],
} as const;

/**
 * Raydium CLMM: concentrated liquidity with limit orders and fees that follow volatility, exact in and exact out, Token-2022 with
 * transfer fees. From the program's public source of July 2026. Proven by execution on the mainnet program of November 2024,
 * which does not know limit orders, fees that follow volatility or fees on a fixed side. For those, the maths equals the results
 * of the source of July 2026, run natively on random pools (kept as vectors), and the account places follow its structures. Which
 * build is deployed is uncertain. That older build also refuses trades of tokens with transfer fees that the later ones take:
 * exact out of such a token, and exact in of amounts the token's inverse fee does not give. "Permissioned" pools of other seeds
 * are found by the filter search.
 */
export const raydiumClmm: Venue<ClmmMarket, ClmmState, ClmmQuoteFill> = {
  id: ID,
  programs: [CLMM_PROGRAM],
  supports: { exactOut: true, token2022: true },
  calls: 2,

  search(pair) {
    return [{ kind: "guess", addresses: () => clmmPoolAddresses(pair) }, filterByMints(ACCOUNTS, sortMints(pair))];
  },

  searchMint: (mint) => filterByMint(ACCOUNTS, mint),

  decode: decodeClmmMarket,
  decoded: [[0, 237]],

  needs: clmmNeeds,
  read: readClmm,
  quote: (state, ask) => quote(state, ask),
  isTimeless: ({ curve }) => curve.volatility === undefined,
  spot: clmmSpot,
  traded: tradedClmm,

  /** The signed accounts are all the arrays there are for it. */
  replay(state, { fill }, ask) {
    const made = quote(state, ask, fill.trail);
    return { made, left: () => tradedClmm(state, made, ask.clock) };
  },

  older,
  lean,

  swap(state, quote, terms) {
    const { market } = state;
    const { mode, inAmount, outAmount, fill } = quote;
    const amount = mode === "exactIn" ? inAmount : outAmount;
    const { trail, zeroForOne, isOlder = false } = fill;
    return {
      instructions: [clmmSwap({ market, trail, zeroForOne, mode, amount, isOlder }, terms)],
      computeUnits: fill.computeUnits - (isOlder ? OLDER_SAVES_UNITS : 0),
      movedUnits: movedUnits(state, quote, terms.threshold),
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

/** @param named the arrays that a signed swap names; absent: those it needs */
function quote(state: ClmmState, ask: Ask, named?: readonly Address[]): Quote<ClmmQuoteFill> {
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
  if (named !== undefined && !isWithin(state, named, fill.searchedTo, zeroForOne)) throw outOfReach(market);
  const inAmount = exactIn ? ask.amount : sending(fill.input, feeIn);
  if (inAmount === undefined || inAmount > U64_MAX) throw outOfReach(market);
  const outAmount = exactIn ? arriving(fill.output, feeOut) : ask.amount;
  if (inAmount <= 0n || outAmount <= 0n) throw tooSmall();
  assertReserve(market, state.reserves[zeroForOne ? 1 : 0], fill.output);
  const planned = plan(state, fill, zeroForOne, exactIn);
  if (planned.computeUnits > MAX_SWAP_UNITS) throw outOfReach(market);
  return {
    mode: ask.mode,
    inMint: ask.inMint,
    outMint: ask.outMint,
    inAmount,
    outAmount,
    priceImpact: ask.amountsOnly ? 0 : priceImpact(fill.netIn, fill.grossOut, ...midPrice(curve.sqrtPrice, zeroForOne)),
    fill: planned,
  };
}

/** True if `named` has every array that a swap looks into: its own and those up to the last tick it searches for. */
function isWithin(state: ClmmState, named: readonly Address[], searchedTo: number, zeroForOne: boolean): boolean {
  const { starts, addresses } = state.paths[zeroForOne ? 0 : 1];
  const last = starts.indexOf(clmmArrayStart(searchedTo, state.market.tickSpacing));
  return last >= 0 && addresses.slice(0, last + 1).every((address) => named.includes(address));
}

/** What the swap may take more if the price first moves: for more ticks in its way, or for another array. */
function movedUnits(state: ClmmState, quote: Quote<ClmmQuoteFill>, threshold: bigint): number {
  const { mode, inAmount, outAmount, fill } = quote;
  const { zeroForOne, sqrtPrice, crossed } = fill;
  const crossing = crossingUnits(state, sqrtPrice, zeroForOne);
  const swap = { zeroForOne, mode, inAmount, outAmount, threshold };
  const walked = mostWalkUnits(state.curve, swap, { crossing, searched: 0 });
  if (walked === 0) return 0;
  const { curve } = state;
  const moved = ticksMoved(swap);
  const [low, high] = [curve.tick - moved, curve.tick + moved].map((tick) => clmmArrayStart(tick, curve.tickSpacing));
  const array = low === high ? 0 : ARRAY_UNITS + FIRST_ARRAY_UNITS;
  return fill.savedUnits + Math.max(0, walked - crossed * crossing) + array;
}

/** By the older instruction, if both mints are of the SPL Token program. */
function older({ mints }: ClmmState, quote: Quote<ClmmQuoteFill>): Quote<ClmmQuoteFill> | undefined {
  if (quote.fill.isOlder === true || mints.some(({ program }) => program !== TOKEN_PROGRAM)) return undefined;
  return { ...quote, fill: { ...quote.fill, isOlder: true } };
}

/** Without the neighbours that the price does not come near to. */
function lean(state: ClmmState, quote: Quote<ClmmQuoteFill>): Quote<ClmmQuoteFill> | undefined {
  const { fill } = quote;
  const { curve, paths } = state;
  const span = clmmArraySpan(curve.tickSpacing);
  const { starts, addresses, behind, behindStart } = paths[fill.zeroForOne ? 0 : 1];
  const spare = new Set<Address>();
  if (behind !== undefined && behindStart !== undefined) {
    const away = fill.zeroForOne ? behindStart - curve.tick : curve.tick - (behindStart + span);
    if (away > LEAN_MARGIN_BPS) spare.add(behind);
  }
  const last = starts[fill.used - 1];
  const ahead = addresses[fill.used];
  if (last !== undefined && ahead !== undefined) {
    // The program looks into the next array once it has passed the last tick of this one.
    const isHere = (tick: number) => tick >= last && tick < last + span;
    const border = fill.zeroForOne ? curve.ticks.find(isHere) : curve.ticks.findLast(isHere);
    const end = clmmTickAt(fill.sqrtPrice);
    if (border !== undefined && (fill.zeroForOne ? end - border : border - end) > LEAN_MARGIN_BPS) spare.add(ahead);
  }
  const trail = fill.trail.filter((address) => !spare.has(address));
  return trail.length === fill.trail.length ? undefined : { ...quote, fill: { ...fill, trail } };
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
  const { sqrtPrice, crossed } = fill;
  return { zeroForOne, sqrtPrice, used, trail, computeUnits: units, crossed, savedUnits: savedUnits(fill) };
}
