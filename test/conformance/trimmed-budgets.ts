import type { Address } from "../../src/primitives/address.ts";
import { associatedTokenAddress } from "../../src/solana/pda.ts";
import { buyWithBudget, type PumpSide } from "../../src/venues/curves/pump.ts";
import { pumpSwap } from "../../src/venues/pump-swap/venue.ts";
import { pumpFee } from "../../src/venues/shared/pump-fees.ts";
import type { Svm } from "../support/svm.ts";
import { readMarket } from "./trades.ts";

/** What a pool prices with, as said before a purchase and as found after it. */
interface LeftReserves {
  readonly said: Pick<PumpSide, "tokens" | "quote"> | undefined;
  readonly found: Pick<PumpSide, "tokens" | "quote">;
}

/**
 * Buys from a PumpSwap pool for `count` budgets whose fee to the liquidity changes with the units that rounding takes off
 * their net: one unit of the vault rests on which of the two the program charges.
 *
 * @throws Error if a purchase fails, or the pool's rates have no such budgets
 */
export function buyForTrimmedBudgets(svm: Svm, market: Address, wallet: Address, count: number): LeftReserves[] {
  const left: LeftReserves[] = [];
  for (let budget = 10_000n; left.length < count; ) {
    const { state } = readMarket(svm, pumpSwap, market);
    const [coin, quoteMint] = state.market.mints;
    budget = nextTrimmed(budget + 1n, state.side);
    const ask = { mode: "exactIn", inMint: quoteMint, outMint: coin, amount: budget, clock: svm.clock() } as const;
    const quote = pumpSwap.quote(state, ask);
    const [destination, source] = state.mints.map(({ address, program }) =>
      associatedTokenAddress(wallet, address, program),
    );
    const leg = pumpSwap.swap(state, quote, {
      wallet,
      source: source!,
      destination: destination!,
      threshold: quote.outAmount,
      salt: 0,
      exists: (key) => svm.get(key) !== null,
    });
    const done = svm.send(wallet, leg.instructions);
    if (!done.ok) throw new Error(`${done.error}\n${done.logs.slice(-6).join("\n")}`);
    const said = pumpSwap.traded!(state, quote, svm.clock());
    left.push({
      said: said && reservesOf(said.side),
      found: reservesOf(readMarket(svm, pumpSwap, market).state.side),
    });
  }
  return left;
}

const reservesOf = ({ tokens, quote }: PumpSide) => ({ tokens, quote });

/** The least such budget from `budget` on. @throws Error if there is none within the next 20,000 */
function nextTrimmed(budget: bigint, side: PumpSide): bigint {
  for (let next = budget; next < budget + 20_000n; next++) {
    const { net, feeBase, tokens } = buyWithBudget(next, side);
    if (tokens > 0n && pumpFee(net, side.fees.lp) !== pumpFee(feeBase, side.fees.lp)) return next;
  }
  throw new Error(`no budget from ${budget} on has a fee to the liquidity that changes with rounding`);
}
