import { TradewireError } from "../../errors/tradewire-error.ts";
import type { Address } from "../../primitives/address.ts";
import type { AccountView, ChainClock } from "../../solana/account.ts";
import type { Mint } from "../../solana/token/mint.ts";
import { priceImpact } from "../curves/price-impact.ts";
import { type LaterRoot, laterRoot } from "../curves/scheduled-fee.ts";
import { degraded, notTrading, tooLarge, tooSmall } from "../shared/refusals.ts";
import { rejectUnsupported, requireAccount, requireMint, unread } from "../shared/required.ts";
import { assertReserve, type Reserves, requireReserves } from "../shared/reserves.ts";
import { mayBeTaxed } from "../shared/transfer-sides.ts";
import type { AccountFilter, Ask, MarketSearch, MintPair, Quote, Venue } from "../venue.ts";
import { meteoraDbcErrors } from "./errors.ts";
import { dbcSwap } from "./instruction.ts";
import {
  DBC_BASE_MINT_OFFSET,
  DBC_POOL_SIZE,
  DBC_PROGRAM,
  type DbcConfig,
  type DbcMarket,
  type DbcPool,
  decodeDbcConfig,
  decodeDbcMarket,
  decodeDbcPool,
  isDbcPool,
  isDbcQuoteMint,
} from "./layout.ts";
import { dbcAfter, dbcExactIn, dbcExactOut, dbcMoment, dbcMostIn } from "./math.ts";
import { dbcSpot } from "./spot.ts";
import { laterRootUnits, unitsOf } from "./units.ts";

/** A bonding curve ready to be priced in either direction. */
interface DbcState {
  readonly market: DbcMarket;
  readonly pool: DbcPool;
  readonly config: DbcConfig;
  readonly mints: readonly [Mint, Mint];
  readonly reserves: Reserves;
  /** Extensions each mint carries. */
  readonly extensions: readonly [number, number];
}

interface DbcQuoteFill {
  readonly watched: boolean;
  readonly computeUnits: number;
  /** A root that the fee may take at the price of the landing. */
  readonly laterRoot: LaterRoot | undefined;
}

/**
 * Meteora Dynamic Bonding Curve: stretches of constant liquidity up to a migration price, exact in and exact out, coins of either
 * token program; fee schedules by time, rate limiters, volatility fees. A buy may complete the curve; after that nothing trades
 * here until the coin moves to its DAMM pool, where that venue finds it. From the interface and maths of the MIT SDK 1.5.12; proven
 * by execution on the program's build of March 2026. Uncertain or not offered: coins made with a transfer hook and quote tokens
 * that charge for transfers are refused; a buy beyond the curve's end is refused rather than filled in part; pools have no derived
 * address and are found only by the filter search.
 */
export const meteoraDbc: Venue<DbcMarket, DbcState, DbcQuoteFill> = {
  id: "meteora_dbc",
  programs: [DBC_PROGRAM],
  supports: { exactOut: true, token2022: true },
  calls: 5,
  search,
  searchMint: (mint) => [filterByCoin(mint)],
  decode: decodeDbcMarket,
  decoded: [
    [0, 8],
    [72, 104],
    [136, 232],
  ],

  needs(market, have) {
    return unread(have, [market.address, market.config, ...market.mints, ...market.vaults]);
  },

  read: readState,
  quote,
  spot: dbcSpot,
  traded,

  swap({ market, mints }, { mode, inAmount, outAmount, fill }, terms) {
    const amount = mode === "exactIn" ? inAmount : outAmount;
    return {
      instructions: [dbcSwap({ market, mints, mode, amount, watched: fill.watched }, terms)],
      computeUnits: fill.computeUnits + laterRootUnits(fill.laterRoot, inAmount, terms.threshold),
      creates: [],
    };
  },

  errors: meteoraDbcErrors,
};

/** Pools by their coin: each of the two that is not a quote mint. */
function search({ a, b }: MintPair): MarketSearch[] {
  return [a, b].filter((mint) => !isDbcQuoteMint(mint)).map(filterByCoin);
}

function filterByCoin(mint: Address): AccountFilter {
  return {
    kind: "filter",
    program: DBC_PROGRAM,
    dataSize: DBC_POOL_SIZE,
    memcmp: [{ offset: DBC_BASE_MINT_OFFSET, bytes: mint.bytes }],
  };
}

function readState(market: DbcMarket, have: AccountView): DbcState {
  const account = requireAccount(have, market.address, "meteora_dbc", "pool");
  if (!isDbcPool(account)) {
    throw degraded("meteora_dbc", `${market.address} is no longer a pool`);
  }
  const config = decodeDbcConfig(requireAccount(have, market.config, "meteora_dbc", "configuration"), market.hooked);
  if (config === undefined || config.quoteMint !== market.mints[1] || config.segments.length === 0) {
    throw degraded("meteora_dbc", `${market.config} is not a configuration of a kind known here`);
  }
  const mints = [
    requireMint(have, market.mints[0], "meteora_dbc"),
    requireMint(have, market.mints[1], "meteora_dbc"),
  ] as const;
  const extensions = [mints[0].extensions, mints[1].extensions] as const;
  const pool = decodeDbcPool(account);
  if (!isPriceable(pool, config)) throw degraded("meteora_dbc", `the price of ${market.address} is not on its curve`);
  // After migration the vaults are empty, or gone.
  const reserves: Reserves = pool.migrated ? [0n, 0n] : requireReserves(have, market, market.vaults);
  return {
    market,
    pool,
    config,
    mints,
    reserves,
    extensions,
  };
}

/** False for a price that the program never leaves a pool at: zero, or below the start of the curve. */
function isPriceable({ sqrtPrice }: DbcPool, { segments }: DbcConfig): boolean {
  const { lower } = segments[0]!;
  return lower > 0n && sqrtPrice >= lower;
}

function quote(state: DbcState, ask: Ask): Quote<DbcQuoteFill> {
  const { market, pool, config } = state;
  const point = config.countsSeconds ? ask.clock.unixTimestamp : ask.clock.slot;
  rejectUntradable(state, ask);
  const selling = ask.inMint === market.mints[0];
  const moment = dbcMoment(pool, selling, point);
  const exactIn = ask.mode === "exactIn";
  const fill = exactIn
    ? dbcExactIn(config, pool, selling, ask.amount, moment)
    : dbcExactOut(config, pool, selling, ask.amount, moment);
  if (fill === undefined) {
    if (selling || !exactIn) throw tooLarge(market);
    const mostIn = dbcMostIn(config, pool, moment).toString();
    throw new TradewireError(
      "INSUFFICIENT_LIQUIDITY",
      `meteora_dbc curve ${market.address} is nearly complete and takes ${mostIn} base units at most`,
      { details: { mostIn } },
    );
  }
  if (fill.input <= 0n || fill.output <= 0n) throw tooSmall();
  assertReserve(market, state.reserves[selling ? 1 : 0], fill.output);
  const mid = pool.sqrtPrice * pool.sqrtPrice;
  const one = 1n << 128n;
  return {
    mode: ask.mode,
    inMint: ask.inMint,
    outMint: ask.outMint,
    inAmount: fill.input,
    outAmount: fill.output,
    priceImpact: ask.amountsOnly
      ? 0
      : selling
        ? priceImpact(fill.netIn, fill.grossOut, mid, one)
        : priceImpact(fill.netIn, fill.grossOut, one, mid),
    fill: {
      watched: config.eagerFirstSwap || (config.baseFee.kind === "rateLimiter" && !selling),
      computeUnits: unitsOf(state, selling, exactIn, fill, moment),
      laterRoot: exactIn ? undefined : laterRoot(config.baseFee, fill.netIn, moment),
    },
  };
}

/** The curve that the trade leaves. */
function traded(state: DbcState, made: Quote<DbcQuoteFill>, clock: ChainClock): DbcState | undefined {
  const { market, pool, config, reserves } = state;
  const selling = made.inMint === market.mints[0];
  const moment = dbcMoment(pool, selling, config.countsSeconds ? clock.unixTimestamp : clock.slot);
  const fill =
    made.mode === "exactIn"
      ? dbcExactIn(config, pool, selling, made.inAmount, moment)
      : dbcExactOut(config, pool, selling, made.outAmount, moment);
  if (fill === undefined) return undefined;
  const [coins, quotes] = selling ? [fill.input, -fill.output] : [-fill.output, fill.input];
  return {
    ...state,
    pool: dbcAfter(config, pool, selling, fill, clock.unixTimestamp),
    reserves: [reserves[0] + coins, reserves[1] + quotes],
  };
}

function rejectUntradable({ market, pool, config, mints }: DbcState, ask: Ask): void {
  if (pool.migrated) throw notTrading(market, "has migrated to its DAMM pool: trade it there");
  if (pool.quoteReserve >= config.migrationThreshold) {
    throw notTrading(market, "is complete and waits to migrate to its DAMM pool: try again shortly");
  }
  rejectUnsupported(mints[0]);
  rejectUnsupported(mints[1]);
  for (const mint of mints) {
    if (market.hooked || mayBeTaxed(mint, ask.clock.epoch)) {
      throw new TradewireError(
        "UNSUPPORTED_TOKEN_EXTENSION",
        `token ${mint.address} has a transfer ${market.hooked ? "hook" : "fee"}, which meteora_dbc trades are not built for`,
      );
    }
  }
}
