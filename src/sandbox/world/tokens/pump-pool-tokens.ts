import type { Address } from "../../../primitives/address.ts";
import type { Random } from "../../../primitives/random.ts";
import { SOL_MINT, TOKEN_2022_PROGRAM, TOKEN_PROGRAM, USDC_MINT } from "../../../solana/programs.ts";
import { putWallet, type WorldLedger } from "../genesis-ledger.ts";
import { putMigratedCurve } from "../pump-fun.ts";
import { putPumpPool, putPumpSwapGlobals } from "../pump-swap.ts";
import { newAddress, SOL, USDC, vary, type WorldToken, worldToken } from "./token.ts";

/** Whole tokens of a coin. */
const SUPPLY = 1_000_000_000n;

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

/** Puts the coins that left their curve, and other tokens of PumpSwap pools, into the world. */
export function putPumpPoolTokens(ledger: WorldLedger, random: Random): WorldToken[] {
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
    ledger.holdAssociated(holder, mint.mint, SUPPLY * unit - baseAmount);
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
