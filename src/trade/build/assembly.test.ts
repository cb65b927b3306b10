import { expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import { createRandom } from "../../primitives/random.ts";
import type { Account } from "../../solana/account.ts";
import type { Instruction } from "../../solana/instruction.ts";
import { SOL_MINT, TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import { closeTokenAccount } from "../../solana/token/token-instructions.ts";
import type { Quote, SwapLeg, SwapTerms, Venue } from "../../venues/venue.ts";
import type { Intent } from "../intent.ts";
import type { Route } from "../quote/route.ts";
import { assemble } from "./assembly.ts";
import { BUDGET_INSTRUCTIONS } from "./budget.ts";
import { walletAccounts, wrappedSolAccount } from "./wallet-accounts.ts";

const random = createRandom(53);
const [WALLET, COIN, POOL] = [random.bytes(32), random.bytes(32), random.bytes(32)].map((bytes) =>
  Address.from(bytes),
) as [Address, Address, Address];
const mint = (address: Address) => ({ address, program: TOKEN_PROGRAM, decimals: 6, transferFees: undefined }) as Mint;
const OPEN = { data: new Uint8Array(165) } as unknown as Account;
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
  const assembly = assemble(
    { markets: { account: () => null }, head: { rentExemption: () => 2_039_280n } },
    { intent, nonce: 7, seed: "AbCdEfGhIjK" },
    { steps, inAmount } as unknown as Route,
    accounts,
    "seeded",
  );
  return { assembly, emptied, terms: asked[0]! };
}

test("closes the account that a sale empties, after the swap, and returns its lamports", () => {
  const { assembly, emptied, terms } = sale(1_000n, 1_000n);
  expect(assembly.instructions).toEqual([
    ...BUDGET_INSTRUCTIONS,
    SWAP,
    closeTokenAccount(emptied.address, WALLET, TOKEN_PROGRAM),
  ]);
  expect(assembly.closes).toEqual(emptied);
  expect(terms).toMatchObject({ wallet: WALLET, source: emptied.address, threshold: 4n, salt: 7 });
});

test("does not close an account that the market leaves tokens in: the whole transaction would fail", () => {
  const { assembly } = sale(1_000n, 999n);
  expect(assembly.instructions).toEqual([...BUDGET_INSTRUCTIONS, SWAP]);
  expect(assembly.closes).toBeUndefined();
});

/** A trade over two markets of a venue whose swaps create and enlarge the given accounts. */
function twoLegs(legs: readonly Pick<SwapLeg, "creates" | "grows">[], address = SOL_MINT, nativeSol = true) {
  const steps = legs.map((leg, index) => {
    const venue = { swap: () => ({ instructions: [SWAP], computeUnits: 1_000, ...leg }) } as unknown as Venue;
    const [inMint, outMint] = index === 0 ? [COIN, SOL_MINT] : [SOL_MINT, POOL];
    const quote = { mode: "exactIn", inMint, outMint, inAmount: 5n, outAmount: 5n } as Quote;
    return { hot: { venue, market: { address, nativeSol }, state: undefined, slot: 1n }, quote, threshold: 4n };
  });
  const intent = { inMint: mint(COIN), outMint: mint(POOL), mode: "exactIn", amount: 5n } as Intent;
  const accounts = walletAccounts({ wallet: WALLET }, mint(COIN), mint(POOL));
  return assemble(
    {
      markets: { account: (address) => (address === accounts.destination?.address ? OPEN : null) },
      head: { rentExemption: (space) => BigInt(space) * 10n },
    },
    { intent, nonce: 7, seed: "tw7" },
    { steps, inAmount: 5n } as unknown as Route,
    accounts,
    "seeded",
  ).creates;
}

test("an account that both legs of a trade need is created, and paid for, once", () => {
  const [volume, vault] = [random.bytes(32), random.bytes(32)].map((bytes) => Address.from(bytes)) as [
    Address,
    Address,
  ];
  const shared = { address: volume, space: 137 };
  expect(twoLegs([{ creates: [shared] }, { creates: [shared, { address: vault, space: 165 }] }])).toEqual([
    { ...shared, rent: 1_370n, grows: false },
    { address: vault, space: 165, rent: 1_650n, grows: false },
  ]);
});

test("an account that a leg enlarges costs the rent of the added bytes", () => {
  const [first] = twoLegs([{ creates: [], grows: [{ address: POOL, from: 211, to: 301 }] }, { creates: [] }]);
  expect(first).toEqual({ address: POOL, space: 301, rent: 900n, grows: true });
});

test("a market's own account that grows while lamports are traded there is told apart", () => {
  const grows = [{ address: COIN, from: 49, to: 141 }];
  const created = { address: COIN, space: 141, rent: 920n, grows: true };
  expect(twoLegs([{ creates: [], grows }, { creates: [] }], COIN)).toEqual([{ ...created, isTraded: true }]);
  expect(twoLegs([{ creates: [], grows }, { creates: [] }], COIN, false)).toEqual([created]);
});

test("a market that pays lamports is never given the temporary account that others pay wrapped SOL into", () => {
  const asked: SwapTerms[] = [];
  const steps = [false, true].map((nativeSol) => {
    const venue = {
      swap(_state: unknown, _quote: Quote, terms: SwapTerms) {
        asked.push(terms);
        return { instructions: [SWAP], computeUnits: 1_000, creates: [] };
      },
    } as unknown as Venue;
    const quote = { mode: "exactIn", inMint: COIN, outMint: SOL_MINT, inAmount: 5n, outAmount: 5n } as Quote;
    return { hot: { venue, market: { nativeSol }, state: undefined, slot: 1n }, quote, threshold: 4n };
  });
  const intent = { inMint: mint(COIN), outMint: mint(SOL_MINT), mode: "exactIn", amount: 10n } as Intent;
  const accounts = walletAccounts({ wallet: WALLET }, mint(COIN), mint(SOL_MINT));
  assemble(
    { markets: { account: () => OPEN }, head: { rentExemption: () => 2_039_280n } },
    { intent, nonce: 7, seed: "AbCdEfGhIjK" },
    { steps, inAmount: 10n } as unknown as Route,
    accounts,
    "seeded",
  );
  const own = wrappedSolAccount(WALLET).address;
  expect(asked.map(({ destination }) => destination === own)).toEqual([false, true]);
});
