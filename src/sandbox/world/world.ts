import { Address } from "../../primitives/address.ts";
import { createRandom, type Random } from "../../primitives/random.ts";
import { SOL_MINT, TOKEN_2022_PROGRAM, TOKEN_PROGRAM, USDC_MINT } from "../../solana/programs.ts";
import { CPMM_PROGRAM, type CpmmPoolPlan, type CreatorFeeOn, putCpmmConfigs, putCpmmPool } from "./cpmm.ts";
import { createWorldLedger, type MintPlan, putWallet, type WorldAccount, type WorldLedger } from "./genesis-ledger.ts";
import { type LaunchShape, putLaunch, putLaunchConfigs, putLaunchPlatform } from "./launchlab.ts";
import { putLookupTable } from "./lookup-table.ts";
import { readWorldPrograms, type WorldProgram } from "./programs.ts";
import { putFeeRecipients } from "./pump-fees.ts";
import { type CurvePlan, putCurve, putMigratedCurve, putPumpGlobals } from "./pump-fun.ts";
import { putPumpPool, putPumpSwapGlobals } from "./pump-swap.ts";

/** The dollar token of the world, at the mint venues know by name. */

/** A token at one of its markets. A token with several markets is listed once for each. */
export interface WorldToken {
  readonly mint: Address;
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  /** Its token program. */
  readonly program: Address;
  readonly venue: "pump_fun" | "pump_swap" | "raydium_cpmm" | "raydium_launchlab";
  readonly market: Address;
  /** What it trades against there. */
  readonly quoteMint: Address;
  /** What Token-2022 withholds of every transfer, in hundredths of a percent. */
  readonly transferFeeBps: number;
}

/** Everything an embedded chain starts from. */
export interface World {
  readonly programs: readonly WorldProgram[];
  readonly accounts: readonly WorldAccount[];
  readonly tokens: readonly WorldToken[];
  /** Address lookup tables over the programs, markets and fee recipients: without them some trades do not fit. */
  readonly lookupTables: readonly Address[];
}

interface WorldOptions {
  /** Any whole number; the same one gives the same world. */
  readonly seed: number;
  /** The chain's first moment, in seconds since 1970. */
  readonly unixTimestamp: bigint;
  /** The chain's first slot. */
  readonly slot: bigint;
  /** A folder whose `<name>.so` files take the place of the stand-in programs. */
  readonly programsDir?: string;
}

const SOL = 1_000_000_000n;
const USDC = 1_000_000n;
const ONE_BILLION = 1_000_000_000n;
/** Markets opened this long before the chain's first moment. */
const SECONDS_OPEN = 86_400n;
const SLOTS_PER_EPOCH = 432_000n;

/** A token that trades on constant product pools from the start. */
interface PoolToken {
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  readonly program: Address;
  readonly transferFee?: { readonly bps: number; readonly maximum: bigint };
  readonly pools: readonly {
    readonly config: number;
    readonly quote: Address;
    /** What the pool holds: whole tokens, and base units of the quote. */
    readonly tokens: bigint;
    readonly quoteAmount: bigint;
    readonly creatorFeeOn?: "input" | "quote";
  }[];
}

const POOL_TOKENS: readonly PoolToken[] = [
  {
    symbol: "EMBER",
    name: "Ember",
    decimals: 6,
    program: TOKEN_PROGRAM,
    pools: [
      { config: 0, quote: SOL_MINT, tokens: 42_000_000n, quoteAmount: 1_150n * SOL },
      { config: 1, quote: SOL_MINT, tokens: 180_000_000n, quoteAmount: 4_900n * SOL },
      { config: 0, quote: USDC_MINT, tokens: 20_000_000n, quoteAmount: 82_000n * USDC },
    ],
  },
  {
    symbol: "QRTZ",
    name: "Quartz",
    decimals: 9,
    program: TOKEN_PROGRAM,
    pools: [{ config: 1, quote: SOL_MINT, tokens: 900_000n, quoteAmount: 260n * SOL }],
  },
  {
    symbol: "MINTS",
    name: "Two Decimal Mints",
    decimals: 2,
    program: TOKEN_PROGRAM,
    pools: [{ config: 0, quote: SOL_MINT, tokens: 3_000_000n, quoteAmount: 75n * SOL }],
  },
  {
    symbol: "LUMEN",
    name: "Lumen",
    decimals: 6,
    program: TOKEN_2022_PROGRAM,
    pools: [{ config: 0, quote: SOL_MINT, tokens: 12_000_000n, quoteAmount: 640n * SOL }],
  },
  {
    symbol: "TITHE",
    name: "Tithe",
    decimals: 9,
    program: TOKEN_2022_PROGRAM,
    transferFee: { bps: 150, maximum: 5_000_000_000_000n },
    pools: [{ config: 2, quote: SOL_MINT, tokens: 5_000_000n, quoteAmount: 310n * SOL }],
  },
  {
    symbol: "GUILD",
    name: "Guild",
    decimals: 6,
    program: TOKEN_PROGRAM,
    pools: [{ config: 1, quote: SOL_MINT, tokens: 60_000_000n, quoteAmount: 420n * SOL, creatorFeeOn: "quote" }],
  },
];

/** A coin that trades on a bonding curve from the start. */
interface CurveToken extends Pick<CurvePlan, "mayhem" | "cashback" | "holderReward" | "creatorFee" | "creatorVault"> {
  readonly symbol: string;
  readonly name: string;
  readonly program: Address;
  readonly quote: Address;
  /** Quote base units paid into the curve so far; it completes a little above 85 SOL. */
  readonly raised: bigint;
}

const t22 = { program: TOKEN_2022_PROGRAM, quote: SOL_MINT, creatorVault: true };
const CURVE_TOKENS: readonly CurveToken[] = [
  { ...t22, symbol: "SPROUT", name: "Sprout", program: TOKEN_PROGRAM, raised: 8n * SOL, creatorVault: false },
  { ...t22, symbol: "KITE", name: "Kite", raised: 41n * SOL },
  { ...t22, symbol: "BACK", name: "Cashback", raised: 22n * SOL, cashback: true },
  { ...t22, symbol: "RIOT", name: "Riot", raised: 63n * SOL, mayhem: true },
  { ...t22, symbol: "PATRON", name: "Patron", raised: 15n * SOL, creatorFee: 250n },
  { ...t22, symbol: "HARVEST", name: "Harvest", raised: 30n * SOL, holderReward: true },
  { ...t22, symbol: "BRINK", name: "Brink", raised: 80n * SOL },
  { ...t22, symbol: "DIME", name: "Dime", quote: USDC_MINT, raised: 5_000n * USDC },
];

/** A coin whose curve completed and moved to a pool, or a token somebody made a pool for. */
interface PumpPoolToken {
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  readonly program: Address;
  readonly quote: Address;
  readonly tokens: bigint;
  readonly quoteAmount: bigint;
  readonly canonical: boolean;
  readonly creatorEarns: boolean;
  readonly cashback: boolean;
}

const canonical = { decimals: 6, quote: SOL_MINT, canonical: true, creatorEarns: true, cashback: false };
const PUMP_POOL_TOKENS: readonly PumpPoolToken[] = [
  {
    ...canonical,
    symbol: "ORBIT",
    name: "Orbit",
    program: TOKEN_2022_PROGRAM,
    tokens: 160_000_000n,
    quoteAmount: 110n * SOL,
  },
  {
    ...canonical,
    symbol: "COMET",
    name: "Comet",
    program: TOKEN_PROGRAM,
    tokens: 95_000_000n,
    quoteAmount: 190n * SOL,
  },
  {
    ...canonical,
    symbol: "REBATE",
    name: "Rebate",
    program: TOKEN_2022_PROGRAM,
    tokens: 140_000_000n,
    quoteAmount: 130n * SOL,
    cashback: true,
  },
  {
    ...canonical,
    symbol: "NOVA",
    name: "Nova",
    program: TOKEN_2022_PROGRAM,
    quote: USDC_MINT,
    tokens: 120_000_000n,
    quoteAmount: 21_000n * USDC,
  },
  {
    ...canonical,
    symbol: "FREE",
    name: "Freehold",
    decimals: 9,
    program: TOKEN_PROGRAM,
    tokens: 4_000_000n,
    quoteAmount: 85n * SOL,
    canonical: false,
    creatorEarns: false,
  },
];

/** A coin in the middle of its launch. */
interface LaunchToken {
  readonly symbol: string;
  readonly name: string;
  readonly program: Address;
  readonly transferFee?: { readonly bps: number; readonly maximum: bigint };
  readonly quote: Address;
  readonly shape: LaunchShape;
  /** Whole tokens: all there are, those for sale, and about how many are sold. */
  readonly supply: bigint;
  readonly forSale: bigint;
  readonly sold: bigint;
  readonly toRaise: bigint;
  readonly creatorVault: boolean;
}

const LAUNCH_DECIMALS = 6;
const launch = {
  quote: SOL_MINT,
  shape: "constantProduct",
  supply: ONE_BILLION,
  forSale: 793_100_000n,
  toRaise: 85n * SOL,
  creatorVault: true,
} as const;
const LAUNCH_TOKENS: readonly LaunchToken[] = [
  { ...launch, symbol: "DEBUT", name: "Debut", program: TOKEN_PROGRAM, sold: 210_000_000n, creatorVault: false },
  {
    ...launch,
    symbol: "TOLL",
    name: "Toll",
    program: TOKEN_2022_PROGRAM,
    transferFee: { bps: 150, maximum: 5_000_000_000_000n },
    sold: 430_000_000n,
  },
  {
    ...launch,
    symbol: "SLOPE",
    name: "Slope",
    program: TOKEN_PROGRAM,
    shape: "linearPrice",
    supply: 10_000_000n,
    forSale: 7_500_000n,
    sold: 3_600_000n,
  },
  {
    ...launch,
    symbol: "LEVEL",
    name: "Level",
    program: TOKEN_2022_PROGRAM,
    shape: "fixedPrice",
    quote: USDC_MINT,
    sold: 300_000_000n,
    toRaise: 12_000n * USDC,
  },
];

/**
 * Makes the world of an embedded chain out of a number: programs, every account they need, and the tokens that trade.
 * Supplies equal the sum of balances, and every account holds its rent.
 *
 * With `programsDir` the real Raydium program may replace its stand-in. The public builds of it know no creator fees, so
 * then no pool has any.
 *
 * @throws Error when a program's binary cannot be read
 */
export function createWorld(options: WorldOptions): World {
  const ledger = createWorldLedger();
  const age = { openTime: options.unixTimestamp - SECONDS_OPEN, epoch: options.slot / SLOTS_PER_EPOCH };
  const random = createRandom(options.seed);
  const programs = readWorldPrograms(options.programsDir);
  const hasCreatorFees = programs.some(({ id, isStandIn }) => id === CPMM_PROGRAM && isStandIn);
  const tokens = [
    ...putPoolTokens(ledger, random, { ...age, hasCreatorFees }),
    ...putCurveTokens(ledger, random),
    ...putPumpPoolTokens(ledger, random),
    ...putLaunchTokens(ledger, random),
  ];
  const lookupTables = [
    putLookupTable(
      ledger,
      programs.map(({ id }) => id),
      newAddress(random),
    ),
  ];
  return { programs, accounts: ledger.accounts(), tokens, lookupTables };
}

function putPoolTokens(
  ledger: WorldLedger,
  random: Random,
  { hasCreatorFees, ...age }: Pick<CpmmPoolPlan, "openTime" | "epoch"> & { readonly hasCreatorFees: boolean },
): WorldToken[] {
  const [creator, reserve, protocolOwner, fundOwner] = [0, 1, 2, 3].map(() => newAddress(random)) as [
    Address,
    Address,
    Address,
    Address,
  ];
  for (const wallet of [creator, reserve, protocolOwner, fundOwner]) putWallet(ledger, wallet, SOL);
  putCpmmConfigs(ledger, protocolOwner, fundOwner);

  const usdc: MintPlan = { mint: USDC_MINT, program: TOKEN_PROGRAM, decimals: 6, name: "USD Coin", symbol: "USDC" };
  ledger.mint(usdc);
  ledger.holdAssociated(reserve, USDC_MINT, 10_000_000_000n * USDC);
  const market = putCpmmPool(ledger, {
    config: 0,
    creator,
    ...age,
    sides: [
      { mint: SOL_MINT, decimals: 9, amount: vary(random, 48_000n * SOL) },
      { mint: USDC_MINT, decimals: 6, amount: vary(random, 7_200_000n * USDC) },
    ],
  });
  const tokens: WorldToken[] = [worldToken(usdc, "raydium_cpmm", market, SOL_MINT)];

  for (const plan of POOL_TOKENS) {
    const { pools, ...rest } = plan;
    const mintPlan: MintPlan = { ...rest, mint: newAddress(random), metadata: rest.program === TOKEN_2022_PROGRAM };
    const unit = 10n ** BigInt(plan.decimals);
    ledger.mint(mintPlan);
    ledger.holdAssociated(reserve, mintPlan.mint, 500_000_000n * unit);
    for (const pool of pools) {
      const quoteSide = { mint: pool.quote, decimals: pool.quote === SOL_MINT ? 9 : 6 };
      const tokenFirst = Buffer.compare(mintPlan.mint.bytes, pool.quote.bytes) < 0;
      const creatorFeeOn: CreatorFeeOn | undefined =
        pool.creatorFeeOn === "quote" ? (tokenFirst ? "token1" : "token0") : pool.creatorFeeOn;
      const address = putCpmmPool(ledger, {
        config: pool.config,
        creator,
        ...age,
        sides: [
          { mint: mintPlan.mint, decimals: plan.decimals, amount: vary(random, pool.tokens * unit) },
          { ...quoteSide, amount: vary(random, pool.quoteAmount) },
        ],
        ...(creatorFeeOn === undefined || !hasCreatorFees ? {} : { creatorFeeOn }),
      });
      tokens.push(worldToken(mintPlan, "raydium_cpmm", address, pool.quote));
    }
  }
  return tokens;
}

function putCurveTokens(ledger: WorldLedger, random: Random): WorldToken[] {
  const [admin, holder] = [newAddress(random), newAddress(random)];
  putWallet(ledger, admin, SOL);
  putWallet(ledger, holder, SOL);
  putFeeRecipients(ledger, [SOL_MINT, USDC_MINT]);
  putPumpGlobals(ledger, admin, USDC_MINT);
  return CURVE_TOKENS.map(({ symbol, name, program, raised, ...plan }) => {
    const metadata = program === TOKEN_2022_PROGRAM;
    const mint = { mint: newAddress(random), symbol, name, program, decimals: 6, metadata };
    const creator = newAddress(random);
    putWallet(ledger, creator, SOL);
    const curve = putCurve(ledger, { ...plan, mint, creator, holder, raised: vary(random, raised) });
    return worldToken(mint, "pump_fun", curve, plan.quote);
  });
}

function putPumpPoolTokens(ledger: WorldLedger, random: Random): WorldToken[] {
  const [admin, holder] = [newAddress(random), newAddress(random)];
  putWallet(ledger, admin, SOL);
  putWallet(ledger, holder, SOL);
  putPumpSwapGlobals(ledger, admin);
  return PUMP_POOL_TOKENS.map((plan) => {
    const { symbol, name, decimals, program, quote, cashback } = plan;
    const mint = {
      mint: newAddress(random),
      symbol,
      name,
      decimals,
      program,
      metadata: program === TOKEN_2022_PROGRAM,
    };
    const creator = newAddress(random);
    putWallet(ledger, creator, SOL);
    const unit = 10n ** BigInt(decimals);
    const baseAmount = vary(random, plan.tokens * unit);
    ledger.mint(mint);
    ledger.holdAssociated(holder, mint.mint, ONE_BILLION * unit - baseAmount);
    if (plan.canonical) putMigratedCurve(ledger, mint.mint, creator, cashback);
    const pool = putPumpPool(ledger, {
      base: mint.mint,
      quote,
      baseAmount,
      quoteAmount: vary(random, plan.quoteAmount),
      holder,
      cashback,
      ...(plan.canonical ? {} : { creator }),
      ...(plan.creatorEarns ? { coinCreator: creator } : {}),
    });
    return worldToken(mint, "pump_swap", pool, quote);
  });
}

function putLaunchTokens(ledger: WorldLedger, random: Random): WorldToken[] {
  const [owner, holder, platform] = [newAddress(random), newAddress(random), newAddress(random)];
  putWallet(ledger, owner, SOL);
  putWallet(ledger, holder, SOL);
  for (const quote of [SOL_MINT, USDC_MINT]) putLaunchConfigs(ledger, quote, owner);
  putLaunchPlatform(ledger, platform, owner, [SOL_MINT, USDC_MINT]);
  const unit = 10n ** BigInt(LAUNCH_DECIMALS);
  return LAUNCH_TOKENS.map(({ symbol, name, program, transferFee, quote, supply, forSale, sold, ...plan }) => {
    const metadata = program === TOKEN_2022_PROGRAM;
    const mint = {
      mint: newAddress(random),
      symbol,
      name,
      program,
      decimals: LAUNCH_DECIMALS,
      metadata,
      ...(transferFee === undefined ? {} : { transferFee }),
    };
    const creator = newAddress(random);
    putWallet(ledger, creator, SOL);
    const pool = putLaunch(ledger, {
      ...plan,
      mint,
      quote: { mint: quote, decimals: quote === SOL_MINT ? 9 : 6 },
      supply: supply * unit,
      forSale: forSale * unit,
      sold: vary(random, sold * unit),
      platform,
      creator,
      holder,
    });
    return worldToken(mint, "raydium_launchlab", pool, quote);
  });
}

/** An address that nobody holds the key of. */
function newAddress(random: Random): Address {
  return Address.from(random.bytes(32));
}

/** The amount, up to a twentieth more or less: no round numbers in a world that is to find rounding errors. */
function vary(random: Random, amount: bigint): bigint {
  return random.between((amount * 19n) / 20n, (amount * 21n) / 20n);
}

function worldToken(plan: MintPlan, venue: WorldToken["venue"], market: Address, quoteMint: Address): WorldToken {
  return {
    mint: plan.mint,
    symbol: plan.symbol,
    name: plan.name,
    decimals: plan.decimals,
    program: plan.program,
    venue,
    market,
    quoteMint,
    transferFeeBps: plan.transferFee?.bps ?? 0,
  };
}
