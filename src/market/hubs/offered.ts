import { setImmediate as nextTurn } from "node:timers/promises";
import type { Address } from "../../primitives/address.ts";
import type { ChainClock } from "../../solana/account.ts";
import type { HotMarket, PairMarkets } from "../port.ts";

/** Markets measured per pair, and the factor between the sizes that each is quoted at. */
const MOST_MEASURED = 16;
const STEP = 4n;
const LARGEST = 1n << 62n;
/** Outputs below this are too coarse to show a price. Base units. */
const FINE = 256n;

/**
 * How much of a mint the markets of a pair sell before their price doubles, by exact quotes. Base units. Only amounts that are really there
 * count: markets filled with a worthless mint on the other side do not raise it.
 */
export async function offeredBy(
  { markets }: PairMarkets,
  inMint: Address,
  outMint: Address,
  clock: ChainClock,
): Promise<bigint> {
  let offered = 0n;
  for (const hot of markets.slice(0, MOST_MEASURED)) {
    offered += offeredOn(hot, inMint, outMint, clock);
    await nextTurn();
  }
  return offered;
}

function offeredOn(hot: HotMarket, inMint: Address, outMint: Address, clock: ChainClock): bigint {
  let most = 0n;
  let first: { readonly input: bigint; readonly output: bigint } | undefined;
  for (let amount = 1n; amount <= LARGEST; amount *= STEP) {
    try {
      const ask = { mode: "exactIn", inMint, outMint, amount, clock } as const;
      const { inAmount: input, outAmount: output } = hot.venue.quote(hot.state, ask);
      if (output < FINE) continue;
      first ??= { input, output };
      // Amounts at more than twice the price of a small part do not count as depth.
      if (output * first.input * 2n < first.output * input) break;
      if (output > most) most = output;
      // A market that takes only a part of an input takes no more of a larger one.
      if (input < amount) break;
    } catch {
      // Too small so far, or too large by now.
      if (first !== undefined) break;
    }
  }
  return most;
}
