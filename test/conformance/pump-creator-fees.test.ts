import { expect, it } from "vitest";
import type { Address } from "../../src/primitives/address.ts";
import { viewOf, writeU64 } from "../../src/primitives/bytes.ts";
import { createRandom } from "../../src/primitives/random.ts";
import { PUMP_SWAP_FEE_CONFIG } from "../../src/venues/pump-swap/layout.ts";
import { pumpSwap } from "../../src/venues/pump-swap/venue.ts";
import type { Svm } from "../support/svm.ts";
import { worldOnSvm } from "../support/world.ts";
import { judge, runTrades } from "./trades.ts";

const TRADES = 12;
const LIMIT = 10n ** 9n;

// To the programs, a creator whose rate is zero is none: no accounts of theirs are named, none is made for them.
it("is exact where the schedule gives the creator nothing: pump_swap", () => {
  const { world, svm } = worldOnSvm(11);
  giveCreatorsNothing(svm, PUMP_SWAP_FEE_CONFIG);
  const coins = world.tokens.filter((token) => token.venue === pumpSwap.id);
  for (const [seed, { mint, quoteMint, market }] of coins.entries()) {
    const wallet = svm.newWallet();
    const outcomes = runTrades({
      svm,
      venue: pumpSwap,
      market,
      pair: { a: mint, b: quoteMint },
      wallet,
      random: createRandom(seed),
      count: TRADES,
      limit: () => LIMIT,
      before: () => {
        for (const side of [mint, quoteMint]) svm.setTokens(wallet, side, 1n << 50n);
      },
      shadow: false,
    });
    const { faults, trades } = judge(outcomes);
    expect(faults).toEqual([]);
    expect(trades).toBeGreaterThan(TRADES / 2);
  }
  expect(coins.length).toBeGreaterThan(2);
});

/** Where the tiers for SOL, then for USDC, begin in a fee configuration, and what a tier is: its threshold and three rates. */
const TIERS_OFFSET = 65;
const [TIER_SIZE, CREATOR_RATE] = [40, 32];

function giveCreatorsNothing(svm: Svm, config: Address): void {
  const account = svm.get(config)!;
  let at = TIERS_OFFSET;
  for (let list = 0; list < 2; list++) {
    let left = viewOf(account.data).getUint32(at, true);
    for (at += 4; left > 0; left--, at += TIER_SIZE) writeU64(account.data, at + CREATOR_RATE, 0n);
  }
  svm.setAccount(account);
}
