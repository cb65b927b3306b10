import { expect, it } from "vitest";
import type { Address } from "../../src/primitives/address.ts";
import { viewOf, writeU64 } from "../../src/primitives/bytes.ts";
import { createRandom } from "../../src/primitives/random.ts";
import { decodeBondingCurve, PUMP_FEE_CONFIG, pumpCreatorVaultOf } from "../../src/venues/pump-fun/layout.ts";
import { pumpFun } from "../../src/venues/pump-fun/venue.ts";
import { PUMP_SWAP_FEE_CONFIG } from "../../src/venues/pump-swap/layout.ts";
import { pumpSwap } from "../../src/venues/pump-swap/venue.ts";
import type { Venue } from "../../src/venues/venue.ts";
import { alwaysLean } from "../support/lean-venue.ts";
import type { Svm } from "../support/svm.ts";
import { worldOnSvm } from "../support/world.ts";
import { judge, runTrades } from "./trades.ts";

const TRADES = 12;
const LIMIT = 10n ** 9n;

// To the programs, a creator whose rate is zero is none: no accounts of theirs are named, none is made for them.
it.each<[string, Venue, Venue]>([
  ["pump_fun", pumpFun, pumpFun],
  ["pump_fun by older instructions", pumpFun, alwaysLean(pumpFun)],
  ["pump_swap", pumpSwap, pumpSwap],
])("is exact where the schedule gives the creator nothing: %s", (_, { id }, venue) => {
  const { world, svm } = worldOnSvm(11);
  for (const config of [PUMP_FEE_CONFIG, PUMP_SWAP_FEE_CONFIG]) giveCreatorsNothing(svm, config);
  const coins = world.tokens.filter((token) => token.venue === id);
  for (const [seed, { mint, quoteMint, market }] of coins.entries()) {
    const curve = decodeBondingCurve(svm.get(market)!);
    if (curve !== undefined) removeAccount(svm, pumpCreatorVaultOf(curve.creator).address);
    const wallet = svm.newWallet();
    const outcomes = runTrades({
      svm,
      venue,
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

const removeAccount = (svm: Svm, address: Address): void => {
  const account = svm.get(address);
  if (account !== null) svm.setAccount({ ...account, lamports: 0n });
};
