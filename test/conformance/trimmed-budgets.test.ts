import { expect, it } from "vitest";
import { worldOnSvm } from "../support/world.ts";
import { buyForTrimmedBudgets } from "./trimmed-budgets.ts";

it("states to the unit what a pump_swap purchase leaves where rounding takes units off its budget", () => {
  const { world, svm } = worldOnSvm(5);
  const wallet = svm.newWallet();
  const pools = world.tokens.filter(({ venue }) => venue === "pump_swap");
  for (const { mint, quoteMint, market } of pools) {
    svm.setTokens(wallet, mint, 0n);
    svm.setTokens(wallet, quoteMint, 1n << 60n);
    for (const { said, found } of buyForTrimmedBudgets(svm, market, wallet, 8)) expect(said).toEqual(found);
  }
  expect(pools.length).toBeGreaterThan(0);
});
