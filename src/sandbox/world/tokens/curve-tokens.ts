import type { Address } from "../../../primitives/address.ts";
import type { Random } from "../../../primitives/random.ts";
import { SOL_MINT, TOKEN_2022_PROGRAM, TOKEN_PROGRAM, USDC_MINT } from "../../../solana/programs.ts";
import { putWallet, type WorldLedger } from "../genesis-ledger.ts";
import { putFeeRecipients } from "../pump-fees.ts";
import { type CurvePlan, putCurve, putPumpGlobals } from "../pump-fun.ts";
import { newAddress, SOL, USDC, vary, type WorldToken, worldToken } from "./token.ts";

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

/** Puts the coins on bonding curves into the world. */
export function putCurveTokens(ledger: WorldLedger, random: Random): WorldToken[] {
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
