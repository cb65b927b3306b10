import { TradewireError } from "../../errors/tradewire-error.ts";
import type { Address } from "../../primitives/address.ts";
import { U64_MAX } from "../../primitives/integer.ts";
import type { AccountView, ChainClock } from "../../solana/account.ts";
import { decodeOnce } from "../../solana/decode-once.ts";
import type { Mint } from "../../solana/token/mint.ts";
import { TOKEN_ACCOUNT_SIZE } from "../../solana/token/token-account.ts";
import { priceImpact } from "../curves/price-impact.ts";
import { exceedsTrade } from "../shared/raydium-fee.ts";
import { degraded, notTrading, tooSmall } from "../shared/refusals.ts";
import { rejectUnsupported, requireAccount, requireMint, unread } from "../shared/required.ts";
import { assertReserve, type Reserves, requireReserves } from "../shared/reserves.ts";
import { arriving, sending, transferFeeOf } from "../shared/transfer-sides.ts";
import type { Ask, Quote, SwapLeg, Venue } from "../venue.ts";
import { raydiumLaunchlabErrors } from "./errors.ts";
import { launchlabTrade } from "./instruction.ts";
import {
  decodeLaunchlabConfig,
  decodeLaunchlabMarket,
  decodeLaunchlabPlatform,
  decodeLaunchlabPool,
  isLaunchlabPool,
  LAUNCHLAB_PROGRAM,
  type LaunchlabMarket,
  type LaunchlabStatus,
  launchlabPoolAddresses,
} from "./layout.ts";
import {
  buyExactIn,
  buyExactOut,
  hasPrice,
  type LaunchCurve,
  type LaunchFill,
  launchPrice,
  sellExactIn,
  sellExactOut,
} from "./math.ts";
import { launchlabSpot } from "./spot.ts";

const ID = "raydium_launchlab";
/** A pool with its curve and fees, ready to be priced in either direction. */
interface LaunchlabState {
  readonly market: LaunchlabMarket;
  readonly status: LaunchlabStatus;
  readonly curve: LaunchCurve;
  readonly mints: readonly [Mint, Mint];
  readonly reserves: Reserves;
  readonly tokenPrograms: readonly [Address, Address];
  /** Fee vaults that a trade creates at the wallet's expense because they do not exist yet. */
  readonly creates: SwapLeg["creates"];
}

interface LaunchlabQuoteFill {
  readonly buying: boolean;
}

/** Compute units: an estimate with room, since no public build can be measured. */
const TRADE_UNITS = 120_000;
const CREATION_UNITS = 30_000;
const TRANSFER_FEE_UNITS = 10_000;

/**
 * Raydium LaunchLab: bonding curves of three shapes that migrate to an AMM when they are sold out, exact in and exact out.
 * The program is closed and no public build of it was found: accounts, instructions, fees and the formula of the
 * constant-product curve follow Raydium's documentation and the published interface. The embedded chain runs a stand-in
 * written from the same facts but apart from this file; quotes and its results are equal in fees, transfer fees, and the
 * constant-product and fixed-price curves. That shows the two agree on what is known, not that the real program does.
 *
 * Uncertain, until it is executed on the real program:
 * - Linear curves: whether a trade starts at the quote raised (as here) or at the tokens sold. The two differ by what earlier
 *   roundings left in the vault, one unit or so of the quote; the documentation gives the area under the line and no more, the
 *   stand-in was first written the other way and then made to follow. The rounding of the square root (down here) likewise.
 * - The side on which a transfer fee of the sold token counts in exact-out trades.
 * - The number and name of the refusal between the sale's end and the migration (PoolMigrated assumed).
 * - Whether a trade creates both fee vaults when they are missing, and what they are: token accounts of plain size assumed.
 * - Compute units: the bound has room, and the stand-in's use (about a fifth of it) says nothing about the real program's.
 *
 * The program's own bound keeps a wrong reading from costing anything but a failed trade. A buy may take the last token for
 * sale; one that asks for more is refused, where the program would cut it down to what is left.
 */
export const raydiumLaunchlab: Venue<LaunchlabMarket, LaunchlabState, LaunchlabQuoteFill> = {
  id: ID,
  programs: [LAUNCHLAB_PROGRAM],
  supports: { exactOut: true, token2022: true },
  calls: 8,

  search(pair) {
    return [{ kind: "probe", addresses: launchlabPoolAddresses(pair) }];
  },

  /** No filter finds more: each pair's pools are where their addresses say. */
  searchMint: () => [],

  decode: decodeLaunchlabMarket,
  decoded: [
    [0, 8],
    [141, 365],
  ],

  needs(market, have) {
    const { address, config, platform, mints, vaults, platformFeeVault, creatorFeeVault } = market;
    return unread(have, [address, config, platform, ...mints, ...vaults, platformFeeVault, creatorFeeVault]);
  },

  read: readState,
  quote,
  isTimeless: () => true,
  /** Nothing of an exact purchase, for another market: the program would cut it down to what others have left by then. */
  leastArriving: ({ mode, fill }, threshold) => (mode === "exactOut" && fill.buying ? 0n : threshold),
  spot: launchlabSpot,
  traded,

  swap({ market, tokenPrograms, mints, creates }, { mode, inAmount, outAmount, fill }, terms) {
    const amount = mode === "exactIn" ? inAmount : outAmount;
    return {
      instructions: [launchlabTrade({ market, tokenPrograms, buying: fill.buying, mode, amount }, terms)],
      computeUnits:
        TRADE_UNITS + creates.length * CREATION_UNITS + (mints[0].transferFees === undefined ? 0 : TRANSFER_FEE_UNITS),
      creates,
    };
  },

  errors: raydiumLaunchlabErrors,
};

const configIn = decodeOnce(decodeLaunchlabConfig);
const platformIn = decodeOnce(decodeLaunchlabPlatform);

function readState(market: LaunchlabMarket, have: AccountView): LaunchlabState {
  const account = requireAccount(have, market.address, ID, "pool");
  if (!isLaunchlabPool(account)) {
    throw degraded(ID, `${market.address} is no longer a pool`);
  }
  const config = configIn(requireAccount(have, market.config, ID, "configuration"));
  const platform = platformIn(requireAccount(have, market.platform, ID, "platform"));
  if (config === undefined || platform === undefined) {
    throw degraded(ID, `${market.address} names accounts that are not its configurations`);
  }
  const { curveType: type } = config;
  if (type !== 0 && type !== 1 && type !== 2) {
    throw degraded(ID, `${market.address} follows a curve of unknown shape ${type}`);
  }
  const { status, totalBaseSell, virtualBase, virtualQuote, realBase, realQuote } = decodeLaunchlabPool(account);
  const feeRate = config.tradeFeeRate + platform.feeRate + platform.creatorFeeRate;
  if (exceedsTrade(feeRate)) throw degraded(ID, `the fees of ${market.address} are more than a trade`);
  const curve: LaunchCurve = { totalBaseSell, virtualBase, virtualQuote, realBase, realQuote, type, feeRate };
  if (!hasPrice(curve)) throw degraded(ID, `the curve of ${market.address} has no price`);
  const mints = [requireMint(have, market.mints[0], ID), requireMint(have, market.mints[1], ID)] as const;
  return {
    market,
    status,
    curve,
    mints,
    // After migration the vaults are empty, or gone.
    reserves: status === 0 ? requireReserves(have, market, market.vaults) : [0n, 0n],
    tokenPrograms: [mints[0].program, mints[1].program],
    creates: [market.platformFeeVault, market.creatorFeeVault]
      .filter((address) => !have.get(address))
      .map((address) => ({ address, space: TOKEN_ACCOUNT_SIZE })),
  };
}

function quote({ market, status, curve, mints, reserves }: LaunchlabState, ask: Ask): Quote<LaunchlabQuoteFill> {
  if (status === 1) {
    throw notTrading(market, "is sold out and waits to migrate to an AMM");
  }
  if (status === 2) throw notTrading(market, "has migrated to an AMM");
  rejectUnsupported(mints[0]);
  rejectUnsupported(mints[1]);
  const buying = ask.inMint === market.mints[1];
  const feeIn = transferFeeOf(mints[buying ? 1 : 0], ask.clock.epoch);
  const feeOut = transferFeeOf(mints[buying ? 0 : 1], ask.clock.epoch);
  const exactIn = ask.mode === "exactIn";
  const amount = exactIn ? arriving(ask.amount, feeIn) : sending(ask.amount, feeOut);
  if (amount === undefined) throw tooLittle(market, buying);
  if (amount <= 0n) throw tooSmall();
  const fill = price(amount, curve, buying, exactIn);
  if (fill === undefined || fill.input > U64_MAX) throw tooLittle(market, buying);
  const inAmount = exactIn ? ask.amount : sending(fill.input, feeIn);
  if (inAmount === undefined) throw tooLittle(market, buying);
  const outAmount = exactIn ? arriving(fill.output, feeOut) : ask.amount;
  if (inAmount <= 0n || outAmount <= 0n) throw tooSmall();
  assertReserve(market, reserves[buying ? 0 : 1], fill.output);
  const [numerator, denominator] = launchPrice(curve);
  return {
    mode: ask.mode,
    inMint: ask.inMint,
    outMint: ask.outMint,
    inAmount,
    outAmount,
    priceImpact: ask.amountsOnly
      ? 0
      : buying
        ? priceImpact(fill.netIn, fill.grossOut, denominator, numerator)
        : priceImpact(fill.netIn, fill.grossOut, numerator, denominator),
    fill: { buying },
  };
}

/** The pool with what it has sold and raised moved; one that is sold out waits for its migration. */
function traded(
  state: LaunchlabState,
  { mode, inAmount, outAmount, fill: { buying } }: Quote<LaunchlabQuoteFill>,
  { epoch }: ChainClock,
): LaunchlabState | undefined {
  const { curve, mints, reserves } = state;
  const exactIn = mode === "exactIn";
  const amount = exactIn
    ? arriving(inAmount, transferFeeOf(mints[buying ? 1 : 0], epoch))
    : sending(outAmount, transferFeeOf(mints[buying ? 0 : 1], epoch));
  const fill = amount === undefined ? undefined : price(amount, curve, buying, exactIn);
  if (fill === undefined) return undefined;
  const sold = buying ? fill.output : -fill.input;
  const raised = buying ? fill.netIn : -fill.grossOut;
  const realBase = curve.realBase + sold;
  return {
    ...state,
    status: realBase === curve.totalBaseSell ? 1 : state.status,
    curve: { ...curve, realBase, realQuote: curve.realQuote + raised },
    reserves: [reserves[0] - sold, reserves[1] + raised],
  };
}

function price(amount: bigint, curve: LaunchCurve, buying: boolean, exactIn: boolean): LaunchFill | undefined {
  if (buying) return exactIn ? buyExactIn(amount, curve) : buyExactOut(amount, curve);
  return exactIn ? sellExactIn(amount, curve) : sellExactOut(amount, curve);
}

const tooLittle = (market: LaunchlabMarket, buying: boolean): TradewireError =>
  new TradewireError(
    "INSUFFICIENT_LIQUIDITY",
    `${ID} pool ${market.address} ${buying ? "has less than that left for sale" : "has raised less than that"}`,
  );
