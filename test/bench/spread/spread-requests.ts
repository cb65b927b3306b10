import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../../../src/primitives/random.ts";
import { SOL_MINT } from "../../../src/solana/programs.ts";
import { buildTrade } from "../../../src/trade/build/build-trade.ts";
import type { TradeRequest } from "../../../src/trade/trade.ts";
import { LEAST_LAMPORTS, MOST_LAMPORTS, type SpreadWorld, type TradedPair } from "./spread-world.ts";

/** Slippages that callers ask for, as fractions. */
const SLIPPAGES = [0.005, 0.01, 0.02, 0.03, 0.05, 0.1] as const;

/** What a buy spends. Lamports. */
export function randomLamports(random: Random): bigint {
  return random.between(LEAST_LAMPORTS, MOST_LAMPORTS);
}

export function randomSlippage(random: Random): number {
  return SLIPPAGES[random.u32() % SLIPPAGES.length]!;
}

/** A buy of a pair, of random amount and slippage. */
export function randomBuy({ wallet, mint, walletIndex }: TradedPair, random: Random): TradeRequest {
  const id = `bench${walletIndex}`;
  return {
    principal: { accountId: id, keyId: id, wallet },
    inMint: SOL_MINT,
    outMint: mint,
    mode: "exactIn",
    amount: Number(randomLamports(random)) / 1e9,
    slippage: randomSlippage(random),
    priority: "fast",
    maxPriceImpact: undefined,
    maxPriorityCost: undefined,
  };
}

/** `count` buys of random pairs. */
export function randomBuys({ pairs, random }: Pick<SpreadWorld, "pairs" | "random">, count: number): TradeRequest[] {
  return Array.from({ length: count }, () => randomBuy(random.pick(pairs), random));
}

/** Builds made before the loop has a turn. */
const BUILT_AT_ONCE = 50;

/** Builds each pair once, as its first caller does. */
export async function buildEach({ chain, pairs, ports, random }: SpreadWorld): Promise<void> {
  await sleep(1_000);
  for (const [index, pair] of pairs.entries()) {
    if (index % BUILT_AT_ONCE === 0) {
      await nextTurn();
      // However busy the machine, the state is fresh.
      chain.beginSlot();
    }
    await buildTrade(ports, randomBuy(pair, random));
  }
}
