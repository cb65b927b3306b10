import { expect, it } from "vitest";
import { associatedTokenAccount } from "../../src/solana/derived-address.ts";
import { SOL_MINT } from "../../src/solana/programs.ts";
import { decodeBondingCurve } from "../../src/venues/pump-fun/layout.ts";
import { pumpFun } from "../../src/venues/pump-fun/venue.ts";
import { worldOnSvm } from "../support/world.ts";
import { readMarket } from "./trades.ts";

it("sells the last token of a curve, refuses one more, and refuses a completed curve with the reason", () => {
  const { world, svm } = worldOnSvm(3);
  const coin = world.tokens.find(({ symbol }) => symbol === "BRINK")!;
  const pair = { a: SOL_MINT, b: coin.mint };
  const buy = { mode: "exactOut", inMint: SOL_MINT, outMint: coin.mint, clock: svm.clock() } as const;
  const { state } = readMarket(svm, pumpFun, coin.market, pair);
  const left = state.curve.realTokens;

  expect(() => pumpFun.quote(state, { ...buy, amount: left + 1n })).toThrow("does not hold enough");
  const quote = pumpFun.quote(state, { ...buy, amount: left });
  expect(() => pumpFun.quote(state, { ...buy, mode: "exactIn", amount: quote.inAmount * 2n })).toThrow(
    "does not hold enough",
  );

  const wallet = svm.newWallet();
  const leg = pumpFun.swap(state, quote, {
    wallet,
    source: associatedTokenAccount(wallet, SOL_MINT, svm.get(SOL_MINT)!.owner).address,
    destination: svm.setTokens(wallet, coin.mint, 0n),
    threshold: quote.inAmount,
    salt: 0,
    exists: () => false,
  });
  expect(svm.send(wallet, leg.instructions).ok).toBe(true);

  const completed = svm.get(coin.market)!;
  expect(decodeBondingCurve(completed)).toMatchObject({ complete: true, realTokens: 0n });
  const after = readMarket(svm, pumpFun, coin.market, pair).state;
  expect(() => pumpFun.quote(after, { ...buy, amount: 1n })).toThrow("waits for its migration to pump_swap");

  const migrated = Uint8Array.from(completed.data);
  migrated.fill(0, 8, 40);
  svm.setAccount({ ...completed, data: migrated });
  const gone = readMarket(svm, pumpFun, coin.market, pair).state;
  expect(() => pumpFun.quote(gone, { ...buy, amount: 1n })).toThrow("migrated to pump_swap");
});
