import type { Address } from "../../../primitives/address.ts";
import type { Random } from "../../../primitives/random.ts";
import { SOL_MINT, TOKEN_2022_PROGRAM, TOKEN_PROGRAM, USDC_MINT } from "../../../solana/programs.ts";
import { putWallet, type WorldLedger } from "../genesis-ledger.ts";
import { type LaunchShape, putLaunch, putLaunchConfigs, putLaunchPlatform } from "../launchlab.ts";
import { newAddress, SOL, USDC, vary, type WorldToken, worldToken } from "./token.ts";

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
  supply: 1_000_000_000n,
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

/** Puts the coins of running launches into the world. */
export function putLaunchTokens(ledger: WorldLedger, random: Random): WorldToken[] {
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
