import { expect, test } from "vitest";
import { memoryPorts } from "../../../test/support/memory-ports.ts";
import { readSampleMarkets } from "../../../test/support/sample-markets.ts";
import { readBaseInstruction } from "../../client/verify/base-instruction.ts";
import { readTransaction } from "../../client/verify/read-transaction.ts";
import { Address } from "../../primitives/address.ts";
import { createRandom } from "../../primitives/random.ts";
import { SOL_MINT } from "../../solana/programs.ts";
import { buildTrade } from "./build-trade.ts";

const { mint, clock, markets } = readSampleMarkets();
const WALLET = Address.from(createRandom(77).bytes(32));

/** A budget that the pool is quoted to leave a lamport of. */
const LEAVES_ONE = 1n;

test("wraps all of a budget of which pump_swap is quoted to leave a lamport", async () => {
  const { hot } = markets.find(({ venue }) => venue.id === "pump_swap")!;
  const quoteOf = (amount: bigint) =>
    hot.venue.quote(hot.state, { mode: "exactIn", inMint: SOL_MINT, outMint: mint, amount, clock });
  let budget = 1_000_000n;
  while (budget - quoteOf(budget).inAmount !== LEAVES_ONE) budget++;
  const ports = memoryPorts({ mint, clock, wallet: WALLET, markets: [hot] });
  const { unsignedTransaction, estimates } = await buildTrade(ports, {
    principal: { accountId: "test", keyId: "test", wallet: WALLET },
    inMint: SOL_MINT,
    outMint: mint,
    mode: "exactIn",
    amount: Number.NaN,
    amountRaw: budget.toString(),
    slippage: 0.01,
    priority: "fast",
    maxPriceImpact: undefined,
    maxPriorityCost: undefined,
  });
  const opened = readTransaction(unsignedTransaction)
    .instructions.map((one) => readBaseInstruction(one))
    .find((base) => base?.kind === "createWithSeed");
  expect(opened).toMatchObject({ lamports: budget + ports.head.rentExemption(165) });
  expect(estimates.inAmount).toBe(budget - LEAVES_ONE);
});
