import { expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import { createRandom } from "../../primitives/random.ts";
import type { Instruction } from "../../solana/instruction.ts";
import type { Mint } from "../../solana/mint.ts";
import { SOL_MINT, TOKEN_PROGRAM } from "../../solana/programs.ts";
import { closeTokenAccount } from "../../solana/token-instructions.ts";
import type { Quote, SwapTerms, Venue } from "../../venues/venue.ts";
import type { Intent } from "../intent.ts";
import type { Route } from "../quote/route.ts";
import { assemble } from "./assembly.ts";
import { walletAccounts } from "./wallet-accounts.ts";

const random = createRandom(53);
const [WALLET, COIN, POOL] = [random.bytes(32), random.bytes(32), random.bytes(32)].map((bytes) =>
  Address.from(bytes),
) as [Address, Address, Address];
const mint = (address: Address) => ({ address, program: TOKEN_PROGRAM, decimals: 6, transferFees: undefined }) as Mint;
const SWAP: Instruction = { program: POOL, accounts: [], data: new Uint8Array(1) };

/** A sale of the wallet's whole balance of a coin; the market takes `inAmount` of it. */
function sale(held: bigint, inAmount: bigint) {
  const asked: SwapTerms[] = [];
  const venue = {
    id: "pump_fun",
    swap(_state: unknown, _quote: Quote, terms: SwapTerms) {
      asked.push(terms);
      return { instructions: [SWAP], computeUnits: 1_000, creates: [] };
    },
  } as unknown as Venue;
  const accounts = walletAccounts({ wallet: WALLET }, mint(COIN), mint(SOL_MINT));
  const emptied = { address: accounts.source!.address, lamports: 2_039_280n };
  const intent = { inMint: mint(COIN), outMint: mint(SOL_MINT), mode: "exactIn", amount: held, emptied } as Intent;
  const quote = { mode: "exactIn", inMint: COIN, outMint: SOL_MINT, inAmount, outAmount: 5n } as Quote;
  const market = { venue: "pump_fun", address: POOL, mints: [COIN, SOL_MINT], nativeSol: true } as const;
  const steps = [{ hot: { venue, market, state: undefined, slot: 1n }, quote, threshold: 4n }];
  const assembly = assemble(intent, { steps, inAmount } as unknown as Route, accounts, {
    markets: { account: () => null },
    head: { rentExemption: () => 2_039_280n },
    nonce: 7,
    seed: "AbCdEfGhIjK",
    wrapping: "seeded",
  });
  return { assembly, emptied, terms: asked[0]! };
}

test("closes the account that a sale empties, after the swap, and returns its lamports", () => {
  const { assembly, emptied, terms } = sale(1_000n, 1_000n);
  expect(assembly.instructions).toEqual([SWAP, closeTokenAccount(emptied.address, WALLET, TOKEN_PROGRAM)]);
  expect(assembly.closes).toEqual(emptied);
  expect(terms).toMatchObject({ wallet: WALLET, source: emptied.address, threshold: 4n, salt: 7 });
});

test("does not close an account that the market leaves tokens in: the whole transaction would fail", () => {
  const { assembly } = sale(1_000n, 999n);
  expect(assembly.instructions).toEqual([SWAP]);
  expect(assembly.closes).toBeUndefined();
});
