import { expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import { hex } from "../../primitives/bytes.ts";
import { SOL_MINT } from "../../solana/programs.ts";
import { type ClaimedTrade, proveTrade } from "./prove-trade.ts";

const LAUNCHLAB = Address.of("LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj");
const [BUY_EXACT_IN, BUY_EXACT_OUT] = ["faea0d7bd59c13ec", "18d3742869039938"];
const mint = Address.from(new Uint8Array(32).fill(3));

/** A purchase on LaunchLab by this instruction, within a limit that proves its price. */
function purchase(discriminator: string, swapMode: "exactIn" | "exactOut"): ClaimedTrade {
  const data = new Uint8Array(32);
  data.set(hex(discriminator));
  return {
    order: { inputMint: "SOL", outputMint: `${mint}`, swapMode, amountRaw: "7", slippage: 0 },
    limits: { minOutputRaw: "1" },
    transaction: { instructions: [{ program: LAUNCHLAB, accounts: [], data }] },
    expected: { wallet: mint, mode: swapMode, legs: [{ inMint: SOL_MINT, outMint: mint }] },
  } as unknown as ClaimedTrade;
}

test("that an exact purchase on a curve arrives whole only a node proves: its program may cut it down to what is left", async () => {
  const prove = async (trade: ClaimedTrade, more: object = {}) => {
    const witnesses = { node: undefined, reference: undefined, tolerance: undefined, requireProof: false, ...more };
    return (await proveTrade(trade, witnesses, new AbortController().signal)).unproven;
  };
  const exactOut = purchase(BUY_EXACT_OUT!, "exactOut");
  expect(await prove(exactOut)).toEqual(["output"]);
  expect(await prove(purchase(BUY_EXACT_IN!, "exactIn"))).toEqual([]);
  await expect(prove(exactOut, { requireProof: true })).rejects.toMatchObject({
    code: "UNPROVEN",
    message: "Only the service's word supports output (give a node). Nothing was signed.",
  });
  const node = { check: () => Promise.resolve({ priceImpact: 0 }) };
  expect(await prove(exactOut, { node, requireProof: true })).toEqual([]);
});
