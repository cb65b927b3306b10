import type { Address } from "../../../primitives/address.ts";
import type { Random } from "../../../primitives/random.ts";
import { SOL_MINT, TOKEN_2022_PROGRAM, TOKEN_PROGRAM, USDC_MINT } from "../../../solana/programs.ts";
import { type CpmmPoolPlan, type CreatorFeeOn, putCpmmConfigs, putCpmmPool } from "../cpmm.ts";
import { type MintPlan, putWallet, type WorldLedger } from "../genesis-ledger.ts";
import { newAddress, SOL, USDC, vary, type WorldToken, worldToken } from "./token.ts";

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

/** Puts the tokens of constant product pools into the world, and USDC with its own. */
export function putPoolTokens(
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
