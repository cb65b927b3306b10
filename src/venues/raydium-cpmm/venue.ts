import { U64_MAX } from "../../primitives/integer.ts";
import type { AccountView, ChainClock } from "../../solana/account.ts";
import { decodeOnce } from "../../solana/decode-once.ts";
import { TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import { priceImpact } from "../curves/price-impact.ts";
import { filterByMint, filterByMints } from "../shared/mint-filter.ts";
import { exceedsTrade } from "../shared/raydium-fee.ts";
import { degraded, notTrading, tooLarge, tooSmall } from "../shared/refusals.ts";
import { rejectUnsupported, requireAccount, requireMint, unread } from "../shared/required.ts";
import { requireReserve } from "../shared/reserves.ts";
import { sortMints } from "../shared/sort-mints.ts";
import { arriving, sending, transferFeeOf } from "../shared/transfer-sides.ts";
import type { Ask, Quote, Venue } from "../venue.ts";
import { raydiumCpmmErrors } from "./errors.ts";
import { cpmmSwap } from "./instruction.ts";
import {
  CPMM_MINT_0_OFFSET,
  CPMM_MINT_1_OFFSET,
  CPMM_POOL_SIZE,
  CPMM_PROGRAM,
  type CpmmConfig,
  type CpmmMarket,
  type CpmmPool,
  cpmmPoolAddresses,
  decodeCpmmConfig,
  decodeCpmmMarket,
  decodeCpmmPool,
  isCpmmPool,
} from "./layout.ts";
import {
  type CpmmDirection,
  type CpmmFill,
  cpmmExactIn,
  cpmmExactOut,
  cpmmLeftInCurve,
  cpmmRoundsToNothing,
} from "./math.ts";
import { cpmmSpot } from "./spot.ts";

/** A pool with its reserves and fee rates, ready to be priced in either direction. */
interface CpmmState {
  readonly market: CpmmMarket;
  readonly pool: CpmmPool;
  readonly config: CpmmConfig;
  readonly mints: readonly [Mint, Mint];
  /** The pool for mint 0 in, and for mint 1 in. */
  readonly sides: readonly [CpmmDirection, CpmmDirection];
  readonly computeUnits: number;
}

interface CpmmQuoteFill {
  readonly zeroForOne: boolean;
}

const ACCOUNTS = {
  program: CPMM_PROGRAM,
  dataSize: CPMM_POOL_SIZE,
  mintOffsets: [CPMM_MINT_0_OFFSET, CPMM_MINT_1_OFFSET],
} as const;

/**
 * Raydium CPMM: constant product, exact in and exact out, Token-2022 with transfer fees.
 * From the program's public source of December 2025. Proven by execution on a build of February 2025, which is the same for
 * pools without a creator fee; creator-fee pools follow the source and are proven on this project's stand-in.
 * A source of September 2026 shares the creator fee when it is collected. Trades are the same; what the protocol keeps is booked with
 * its own fees or, on one branch, beside them, and is no part of the reserves either way.
 * Uncertain: fee configurations beyond the listed indices are found only by the filter search.
 */
export const raydiumCpmm: Venue<CpmmMarket, CpmmState, CpmmQuoteFill> = {
  id: "raydium_cpmm",
  programs: [CPMM_PROGRAM],
  supports: { exactOut: true, token2022: true },
  calls: 2,

  /** Derived pools by probe. A pool may also stand at an address chosen by its creator: those by filter, mints in byte order. */
  search(pair) {
    return [{ kind: "guess", addresses: () => cpmmPoolAddresses(pair) }, filterByMints(ACCOUNTS, sortMints(pair))];
  },

  searchMint: (mint) => filterByMint(ACCOUNTS, mint),

  decode: decodeCpmmMarket,
  decoded: [[0, 328]],

  needs(market, have) {
    return unread(have, [market.address, market.config, ...market.vaults, ...market.mints]);
  },

  read: readState,
  quote,
  isTimeless: () => true,
  spot: cpmmSpot,
  traded,

  swap(state, { mode, inAmount, outAmount, fill }, terms) {
    const amount = mode === "exactIn" ? inAmount : outAmount;
    return {
      instructions: [cpmmSwap({ market: state.market, zeroForOne: fill.zeroForOne, mode, amount }, terms)],
      computeUnits: state.computeUnits,
      creates: [],
    };
  },

  errors: raydiumCpmmErrors,
};

const configIn = decodeOnce(decodeCpmmConfig);

function readState(market: CpmmMarket, have: AccountView): CpmmState {
  const account = requireAccount(have, market.address, "raydium_cpmm", "pool");
  if (!isCpmmPool(account)) {
    throw degraded("raydium_cpmm", `${market.address} is no longer a pool`);
  }
  const pool = decodeCpmmPool(account);
  if (pool.creatorFeeOn > 2) {
    throw degraded("raydium_cpmm", `${market.address} takes its creator fee in a way not known here`);
  }
  const config = configIn(requireAccount(have, market.config, "raydium_cpmm", "fee configuration"));
  if (config === undefined) {
    throw degraded("raydium_cpmm", `${market.config} is not a fee configuration`);
  }
  const creatorFeeRate = pool.creatorFeeEnabled ? config.creatorFeeRate : 0n;
  if (exceedsTrade(config.tradeFeeRate + creatorFeeRate)) {
    throw degraded("raydium_cpmm", `the fees of ${market.address} are more than a trade`);
  }
  const reserve = (index: 0 | 1): bigint =>
    requireReserve(have, market.vaults[index], market.mints[index], "raydium_cpmm") - pool.owedFees[index];
  const reserves = [reserve(0), reserve(1)] as const;
  const mints = [
    requireMint(have, market.mints[0], "raydium_cpmm"),
    requireMint(have, market.mints[1], "raydium_cpmm"),
  ] as const;
  const side = (from: 0 | 1): CpmmDirection => ({
    reserveIn: reserves[from],
    reserveOut: reserves[from === 0 ? 1 : 0],
    tradeFeeRate: config.tradeFeeRate,
    creatorFeeRate,
    creatorFeeOnInput: pool.creatorFeeOn === 0 || pool.creatorFeeOn === from + 1,
  });
  return {
    market,
    pool,
    config,
    mints,
    sides: [side(0), side(1)],
    computeUnits: SWAP_UNITS + mintUnits(mints[0], mints[0].extensions) + mintUnits(mints[1], mints[1].extensions),
  };
}

function quote(state: CpmmState, ask: Ask): Quote<CpmmQuoteFill> {
  const { market, pool, mints } = state;
  if (pool.swapDisabled) throw notTrading(market, "is paused");
  if (ask.clock.unixTimestamp < pool.openTime) {
    throw notTrading(market, `opens at ${pool.openTime} (Unix seconds)`);
  }
  rejectUnsupported(mints[0]);
  rejectUnsupported(mints[1]);
  const zeroForOne = ask.inMint === market.mints[0];
  const side = state.sides[zeroForOne ? 0 : 1];
  if (side.reserveIn <= 0n || side.reserveOut <= 0n) throw tooLarge(market);
  const feeIn = transferFeeOf(mints[zeroForOne ? 0 : 1], ask.clock.epoch);
  const feeOut = transferFeeOf(mints[zeroForOne ? 1 : 0], ask.clock.epoch);

  let inAmount: bigint;
  let outAmount: bigint;
  let fill: CpmmFill | undefined;
  if (ask.mode === "exactIn") {
    inAmount = ask.amount;
    const swapped = arriving(inAmount, feeIn);
    if (swapped <= 0n) throw tooSmall();
    if (swapped > U64_MAX - side.reserveIn) throw tooLarge(market);
    fill = cpmmExactIn(swapped, side);
    outAmount = arriving(fill.output, feeOut);
  } else {
    outAmount = ask.amount;
    const leaving = sending(outAmount, feeOut);
    fill = leaving === undefined ? undefined : cpmmExactOut(leaving, side);
    const sent = fill === undefined ? undefined : sending(fill.input, feeIn);
    if (fill === undefined || sent === undefined || sent > U64_MAX - side.reserveIn) throw tooLarge(market);
    if (cpmmRoundsToNothing(fill.grossOut, side)) throw tooSmall();
    inAmount = sent;
  }
  if (inAmount <= 0n || outAmount <= 0n || fill.netIn <= 0n) throw tooSmall();
  return {
    mode: ask.mode,
    inMint: ask.inMint,
    outMint: ask.outMint,
    inAmount,
    outAmount,
    priceImpact: ask.amountsOnly ? 0 : priceImpact(fill.netIn, fill.grossOut, side.reserveOut, side.reserveIn),
    fill: { zeroForOne },
  };
}

/** The pool with its reserves moved: fees that are owed to others lie in the vaults, outside the curve. */
function traded(state: CpmmState, made: Quote<CpmmQuoteFill>, { epoch }: ChainClock): CpmmState | undefined {
  const { mints, sides, config } = state;
  const from = made.fill.zeroForOne ? 0 : 1;
  const to = made.fill.zeroForOne ? 1 : 0;
  const side = sides[from];
  const feeOut = transferFeeOf(mints[to], epoch);
  const leaving = made.mode === "exactIn" ? undefined : sending(made.outAmount, feeOut);
  const fill =
    leaving === undefined
      ? cpmmExactIn(arriving(made.inAmount, transferFeeOf(mints[from], epoch)), side)
      : cpmmExactOut(leaving, side);
  if (fill === undefined) return undefined;
  const reserveIn = side.reserveIn + cpmmLeftInCurve(fill, side, config);
  const reserveOut = side.reserveOut - fill.grossOut;
  const there = { ...side, reserveIn, reserveOut };
  const back = { ...sides[to], reserveIn: reserveOut, reserveOut: reserveIn };
  return { ...state, sides: from === 0 ? [there, back] : [back, there] };
}

/**
 * Compute units, measured on builds of 2024 and 2025: the swap itself, 36,748 at most, then what each mint's transfer adds. A swap takes most
 * if 15 seconds have passed since the pool's last observation: it records one more.
 */
const SWAP_UNITS = 36_900;

/** For each of a mint's extensions: programs scan them all. */
const EXTENSION_UNITS = 220;

/** For having extensions at all, without a transfer fee: on the builds of autumn 2024, more than the base has to spare. */
const EXTENDED_UNITS = 850;

function mintUnits(mint: Mint, extensions: number): number {
  if (mint.program === TOKEN_PROGRAM) return 0;
  if (mint.transferFees !== undefined) return 6_200 + EXTENSION_UNITS * extensions;
  return 3_400 + (extensions === 0 ? 0 : EXTENDED_UNITS) + EXTENSION_UNITS * extensions;
}
