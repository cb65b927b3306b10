import { readTransaction } from "../../src/client/verify/read-transaction.ts";
import { TradewireError } from "../../src/errors/tradewire-error.ts";
import { writeU64 } from "../../src/primitives/bytes.ts";
import type { Random } from "../../src/primitives/random.ts";
import { setComputeUnitLimit } from "../../src/solana/compute-budget.ts";
import type { Instruction } from "../../src/solana/instruction.ts";
import { derive } from "../../src/solana/pda.ts";
import { SOL_MINT, TOKEN_PROGRAM } from "../../src/solana/programs.ts";
import { tokenBalance } from "../../src/solana/token/token-account.ts";
import { buildTrade } from "../../src/trade/build/build-trade.ts";
import type { BuiltTrade, TradeRequest } from "../../src/trade/trade.ts";
import { CPMM_PROGRAM } from "../../src/venues/raydium-cpmm/layout.ts";
import { drawSplitWorld, type SplitWorld } from "./split-world.ts";
import type { Executed } from "./svm.ts";

/** A divided sale for SOL, built with the guard of the total and without, on the same state. */
export interface GuardedSale {
  readonly world: SplitWorld;
  readonly request: TradeRequest;
  readonly guarded: BuiltTrade;
  readonly plain: BuiltTrade;
}

/** Sales asked for in one world. */
const ASKS_OF_A_WORLD = 6;

/** Draws worlds and sales in them without end; yields those that are divided and guarded. */
export async function* guardedSales(random: Random, slippage: number): AsyncGenerator<GuardedSale, never, void> {
  for (;;) {
    const world = drawSplitWorld(random);
    for (let ask = 0; ask < ASKS_OF_A_WORLD; ask++) {
      const amountRaw = random.between(10n ** 9n, 10n ** 12n).toString();
      const sale = await guardedSale(world, { amountRaw, slippage });
      if (sale !== undefined) yield sale;
    }
  }
}

async function guardedSale(
  world: SplitWorld,
  asked: { readonly amountRaw: string; readonly slippage: number },
): Promise<GuardedSale | undefined> {
  const request: TradeRequest = {
    principal: { accountId: "test", keyId: "test", wallet: world.wallet },
    inMint: world.mints[0]!,
    outMint: SOL_MINT,
    mode: "exactIn",
    amount: Number.NaN,
    ...asked,
    priority: "fast",
    maxTransactionVersion: 1,
    maxPriceImpact: undefined,
    maxPriorityCost: undefined,
  };
  try {
    const plain = await buildTrade(world.ports(), request);
    const guarded = await buildTrade(world.ports(), { ...request, totalGuard: true });
    return guardAt(guarded) < 0 ? undefined : { world, request, guarded, plain };
  } catch (error) {
    // No route, or none that fits.
    if (error instanceof TradewireError) return undefined;
    throw error;
  }
}

/** The first so many of them. */
export async function someGuardedSales(random: Random, slippage: number, count: number): Promise<GuardedSale[]> {
  const sales: GuardedSale[] = [];
  for await (const sale of guardedSales(random, slippage)) if (sales.push(sale) === count) break;
  return sales;
}

/** The place of the guard among the instructions of a build; −1 without one. */
export function guardAt({ unsignedTransaction }: Pick<BuiltTrade, "unsignedTransaction">): number {
  const { instructions } = readTransaction(unsignedTransaction);
  return instructions.findIndex(({ program, data }) => program === TOKEN_PROGRAM && data[0] === 12);
}

/** Instructions of a build that can be changed and run. Those of version 1 begin with its limit of compute units. */
export function instructionsOf({ unsignedTransaction }: BuiltTrade, { wallet }: SplitWorld): Instruction[] {
  const { instructions, config } = readTransaction(unsignedTransaction);
  const units = config?.computeUnitLimit;
  return [
    ...(units === undefined ? [] : [setComputeUnitLimit(units)]),
    ...instructions.map(({ program, accounts, data }) => ({
      program,
      accounts: accounts.map(({ address, writable }) => ({ address, writable, signer: address === wallet })),
      data: data.slice(),
    })),
  ];
}

/** Runs instructions on the chain as it is, and forgets what they did. */
export const tryOut = ({ svm, wallet }: SplitWorld, instructions: readonly Instruction[]): Executed =>
  svm.simulate(wallet, instructions);

/** The instructions with the swaps' own minimums taken away, and another amount for the guard; without one if undefined. */
export function rebound(instructions: readonly Instruction[], amount: bigint | undefined): Instruction[] {
  return instructions.flatMap((instruction) => {
    const data = instruction.data.slice();
    if (instruction.program === CPMM_PROGRAM) {
      if (instruction.accounts.some(({ address }) => address === SOL_MINT)) writeU64(data, 16, 0n);
    } else if (instruction.program === TOKEN_PROGRAM && data[0] === 12) {
      if (amount === undefined) return [];
      writeU64(data, 1, amount);
    }
    return [{ ...instruction, data }];
  });
}

/** Moves the price of a market in SOL by a fraction, as trades of others would. */
export function moveMarket({ svm }: SplitWorld, market: BuiltTrade["route"][number]["market"], by: number): void {
  const vault = svm.get(derive(CPMM_PROGRAM, "pool_vault", market, SOL_MINT))!;
  const held = tokenBalance(vault);
  const change = BigInt(Math.round(Number(held) * by));
  const data = vault.data.slice();
  writeU64(data, 64, held + change);
  svm.setAccount({ ...vault, data, lamports: vault.lamports + change });
}

/** Of sales whose markets moved: good as a whole, and how many of these land without and with a guard; bad ones, and those that land. */
export interface MovedSales {
  good: number;
  plain: number;
  guarded: number;
  bad: number;
  loose: number;
}

/** Moves every market of a sale by up to twice its slippage, in either direction, and tries both of its builds. */
export function judgeMoved(sale: GuardedSale, random: Random, seen: MovedSales): void {
  const { world, request, guarded, plain } = sale;
  const paying = guarded.route.filter(({ outMint }) => outMint === SOL_MINT).map(({ market }) => market);
  for (const market of new Set(paying))
    moveMarket(world, market, (Number(random.between(0n, 4_000n)) / 2_000 - 1) * 2 * request.slippage);
  const instructions = instructionsOf(guarded, world);
  const isGood = tryOut(world, rebound(instructions, guarded.estimates.threshold)).ok;
  const [lands, landsPlain] = [tryOut(world, instructions).ok, tryOut(world, instructionsOf(plain, world)).ok];
  seen[isGood ? "good" : "bad"]++;
  if (lands) seen[isGood ? "guarded" : "loose"]++;
  if (landsPlain && isGood) seen.plain++;
}
