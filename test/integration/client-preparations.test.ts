import { expect, test } from "vitest";
import type { MessageInstruction, ReadTransaction } from "../../src/client/verify/read-transaction.ts";
import type { TradeExpectation } from "../../src/client/verify/trade-expectation.ts";
import { pumpSwapExtension } from "../../src/client/verify/venues/pump-swap.ts";
import { findProblems } from "../../src/client/verify/verification.ts";
import { Address } from "../../src/primitives/address.ts";
import { createRandom } from "../../src/primitives/random.ts";
import { SOL_MINT, SYSTEM_PROGRAM } from "../../src/solana/programs.ts";

/** Of the program of `pump_swap`, as it is on the chain. */
const EVENT_AUTHORITY = Address.of("GS4CU59F31iL7aR2Q8zVS8DRrcRnXX1yjQ66TqNVQnaR");
const random = createRandom(81);
const address = () => Address.from(random.bytes(32));
const [wallet, coin, first, second, stranger] = Array.from({ length: 5 }, address) as [
  Address,
  Address,
  Address,
  Address,
  Address,
];

/** A message that prepares these markets and does nothing else. */
function preparing(...markets: readonly Address[]): ReadTransaction {
  const { program, discriminator, accounts } = pumpSwapExtension;
  const instructions = markets.map((market): MessageInstruction => {
    const at = accounts.map(({ rule }) =>
      rule.kind === "market"
        ? market
        : rule.kind === "wallet"
          ? wallet
          : rule.kind === "fixed"
            ? rule.address
            : EVENT_AUTHORITY,
    );
    expect(at).toContain(SYSTEM_PROGRAM);
    return {
      program,
      accounts: at.map((one, index) => ({ index, address: one, signer: one === wallet, writable: index < 2 })),
      data: discriminator,
    };
  });
  return {
    version: 0,
    signatures: [],
    message: new Uint8Array(0),
    requiredSignatures: 1,
    accounts: [],
    instructions,
    config: undefined,
    lookupTables: [],
  };
}

/** Problems of the instructions of a message, for a trade over two pools in parallel. */
function problemsOf(transaction: ReadTransaction): readonly string[] {
  const leg = { venue: "pump_swap", inMint: SOL_MINT, outMint: coin, inAmount: 5n, outAmount: 5n };
  const trade: TradeExpectation = {
    wallet,
    inMint: SOL_MINT,
    outMint: coin,
    mode: "exactIn",
    amount: 10n,
    threshold: 9n,
    legs: [
      { ...leg, market: first },
      { ...leg, market: second },
    ],
    platform: "pump_swap+pump_swap",
    slippagePpb: 0n,
    maxPriorityLamports: 0n,
    tipLamports: 0n,
    tipAccounts: new Set(),
    closesSource: false,
  };
  return findProblems(transaction, trade)
    .filter(({ instruction }) => instruction !== undefined)
    .map(({ reason }) => reason);
}

test("each pool of a split may be prepared, once, and no other", () => {
  expect(problemsOf(preparing(first, second))).toEqual([]);
  expect(problemsOf(preparing(first, first))).not.toEqual([]);
  expect(problemsOf(preparing(stranger))).not.toEqual([]);
});
