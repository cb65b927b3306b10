import { beforeAll, expect, test } from "vitest";
import { planOf, wireOf } from "../../../test/slow/client/mutations.ts";
import { buildSample, expectationOf, type SampleBuild } from "../../../test/slow/client/sample-builds.ts";
import { Address } from "../../primitives/address.ts";
import { readU64, writeU32, writeU64 } from "../../primitives/bytes.ts";
import { createRandom } from "../../primitives/random.ts";
import { type AccountMeta, type Instruction, readonly, writable, writableSigner } from "../../solana/instruction.ts";
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM, USDC_MINT } from "../../solana/programs.ts";
import { tokenAccountAddress } from "./derived-address.ts";
import { findSwapTable } from "./match-swap.ts";
import { readTransaction } from "./read-transaction.ts";
import { expectTrade, type TradeExpectation } from "./trade-expectation.ts";
import { findProblems } from "./verification.ts";

const STRANGER = Address.from(new Uint8Array(32).fill(0x66));
/** Where the instructions of a first purchase stand. */
const [UNITS, PRICE, BYTES, CREATE, OPEN, INITIALIZE, SWAP, CLOSE] = [0, 1, 2, 3, 4, 5, 6, 7];
/** Where a sale of everything closes the emptied account. */
const CLOSE_EMPTIED = 7;

let purchase: SampleBuild;
let sale: SampleBuild;
beforeAll(async () => {
  const random = createRandom(5);
  while (purchase === undefined || sale === undefined) {
    const build = await buildSample(random, "raydium_cpmm");
    if (build?.form === "first buy" && build.order.swapMode === "exactIn") purchase ??= build;
    if (build?.form === "sell everything") sale ??= build;
  }
});

type Parts = readonly Instruction[];

/** What is said of a build after a change: the number of the instruction, and the reason without its figures. */
function problemsAfter(
  build: SampleBuild,
  change: (parts: Parts) => Parts,
  expected: Partial<TradeExpectation> = {},
): string[] {
  const plan = planOf(build.wire);
  const transaction = readTransaction(wireOf({ ...plan, instructions: change(plan.instructions) }));
  const problems = findProblems(transaction, { ...expectationOf(build), ...expected });
  return problems.map(({ instruction, reason }) => {
    const words = reason.replaceAll(/[1-9A-HJ-NP-Za-km-z]{32,44}|\d[\d.]*/g, "…");
    return instruction === undefined ? words : `${instruction}: ${words}`;
  });
}

const withPart = (parts: Parts, at: number, part: Partial<Instruction>): Parts =>
  parts.with(at, { ...parts[at]!, ...part });
const withAccount = (parts: Parts, at: number, place: number, account: Partial<AccountMeta>): Parts =>
  withPart(parts, at, {
    accounts: parts[at]!.accounts.with(place, { ...parts[at]!.accounts[place]!, ...account }),
  });
const withData = (parts: Parts, at: number, write: (data: Uint8Array) => void): Parts => {
  const data = parts[at]!.data.slice();
  write(data);
  return withPart(parts, at, { data });
};
const addedTo = (parts: Parts, at: number, place: number, more: bigint): Parts =>
  withData(parts, at, (data) => writeU64(data, place, readU64(data, place) + more));
const transfer = (from: Address, to: Address, lamports: bigint): Instruction => {
  const data = new Uint8Array(12);
  data[0] = 2;
  writeU64(data, 4, lamports);
  return { program: SYSTEM_PROGRAM, accounts: [writableSigner(from), writable(to)], data };
};

/** A change, and all that is said of it. */
type Change = readonly [name: string, change: (parts: Parts) => Parts, said: readonly string[]];

const CHANGES: readonly Change[] = [
  [
    "no limit on units",
    (parts) => parts.toSpliced(UNITS, 1),
    ["it pays a priority fee without a compute unit limit", "priority costs … SOL, but the service announced … SOL"],
  ],
  [
    "two limits on units",
    (parts) => parts.toSpliced(UNITS, 0, parts[UNITS]!),
    ["2: it repeats an instruction that may appear only once"],
  ],
  [
    "a limit on units that is too low",
    (parts) => withData(parts, UNITS, (data) => writeU32(data, 1, 9_999)),
    ["priority costs … SOL, but the service announced … SOL", "its limit of … compute units is too low for … swap"],
  ],
  [
    "two prices",
    (parts) => parts.toSpliced(PRICE, 0, parts[PRICE]!),
    ["3: it repeats an instruction that may appear only once"],
  ],
  [
    "two limits on bytes",
    (parts) => parts.toSpliced(BYTES, 0, parts[BYTES]!),
    ["4: it repeats an instruction that may appear only once"],
  ],
  [
    "a limit on bytes that is too low",
    (parts) => withData(parts, BYTES, (data) => writeU32(data, 1, 524_287)),
    ["its limit of … bytes of accounts is too low for any trade"],
  ],
  [
    "an account that a stranger pays for",
    (parts) => withAccount(parts, CREATE, 0, { address: STRANGER }),
    ["it requires … signatures; only this wallet may sign", "4: another account pays for a token account"],
  ],
  [
    "an account for a stranger",
    (parts) => withAccount(parts, CREATE, 2, { address: STRANGER }),
    [
      "it requires … signatures; only this wallet may sign",
      "4: it creates a token account for another owner",
      "it makes an account writable that the trade only reads",
    ],
  ],
  [
    "an account of another mint",
    (parts) => withAccount(parts, CREATE, 3, { address: USDC_MINT }),
    [
      "4: it creates a token account for a mint that this trade does not receive",
      "4: the token account it creates is not derived from the wallet",
      "the service announced … SOL of rent, more than that of the accounts it creates",
    ],
  ],
  [
    "an account of another token program",
    (parts) => withAccount(parts, CREATE, 5, { address: TOKEN_2022_PROGRAM }),
    ["4: the token account it creates is not derived from the wallet"],
  ],
  [
    "an account of no token program",
    (parts) => withAccount(parts, CREATE, 5, { address: STRANGER }),
    ["4: it creates a token account with a program that is not a token program"],
  ],
  [
    "an account that is created twice",
    (parts) => parts.toSpliced(CREATE, 0, parts[CREATE]!),
    ["5: it repeats an instruction that may appear only once"],
  ],
  [
    "a lamport more in the temporary account",
    (parts) => addedTo(parts, OPEN, parts[OPEN]!.data.length - 48, 1n),
    ["the temporary wrapped-SOL account receives … SOL, but needs … SOL and its rent"],
  ],
  [
    "a temporary account of another size",
    (parts) => addedTo(parts, OPEN, parts[OPEN]!.data.length - 40, 1n),
    ["5: the account it opens is not a token account"],
  ],
  [
    "a temporary account of another program",
    (parts) => withData(parts, OPEN, (data) => data.set(STRANGER.bytes, data.length - 32)),
    ["5: the account it opens is not a token account"],
  ],
  [
    "a temporary account derived from a stranger",
    (parts) => withData(parts, OPEN, (data) => data.set(STRANGER.bytes, 4)),
    ["5: the account it opens is not paid by, or not derived from, the wallet"],
  ],
  [
    "a temporary account that a stranger pays for",
    (parts) => withAccount(parts, OPEN, 0, { address: STRANGER }),
    [
      "it requires … signatures; only this wallet may sign",
      "5: the account it opens is not paid by, or not derived from, the wallet",
    ],
  ],
  [
    "a temporary account that is opened twice",
    (parts) => parts.toSpliced(OPEN, 0, parts[OPEN]!),
    ["6: it repeats an instruction that may appear only once", "6: it opens a second wrapped-SOL account"],
  ],
  [
    "no temporary account opened",
    (parts) => parts.toSpliced(OPEN, 1),
    [
      "5: it initializes a token account that this trade does not open",
      "6: account … (the paying account) is not the wallet's account of the input mint",
      "7: it closes an account that this trade does not open",
    ],
  ],
  [
    "a temporary account of another mint",
    (parts) => withAccount(parts, INITIALIZE, 1, { address: USDC_MINT }),
    ["6: it initializes the temporary wrapped-SOL account for another mint"],
  ],
  [
    "a temporary account for a stranger",
    (parts) => withData(parts, INITIALIZE, (data) => data.set(STRANGER.bytes, 1)),
    ["6: it initializes the temporary wrapped-SOL account for another owner"],
  ],
  [
    "a stranger's account initialized",
    (parts) => withAccount(parts, INITIALIZE, 0, { address: STRANGER }),
    [
      "6: it initializes a token account that this trade does not open",
      "7: the temporary wrapped-SOL account is not open when the swap runs",
    ],
  ],
  [
    "no temporary account initialized",
    (parts) => parts.toSpliced(INITIALIZE, 1),
    ["6: the temporary wrapped-SOL account is not open when the swap runs"],
  ],
  [
    "a temporary account synced",
    (parts) =>
      parts.toSpliced(SWAP, 0, {
        program: TOKEN_PROGRAM,
        accounts: parts[INITIALIZE]!.accounts.slice(0, 1),
        data: Uint8Array.of(17),
      }),
    ["7: it syncs a wrapped-SOL account that this trade does not open"],
  ],
  [
    "no swap",
    (parts) => parts.toSpliced(SWAP, 1),
    [
      "7: it closes an account before the swap",
      "it contains … swaps, but the route has …",
      "no swap uses the temporary wrapped-SOL account",
    ],
  ],
  [
    "two swaps",
    (parts) => parts.toSpliced(SWAP, 0, parts[SWAP]!),
    ["8: it contains more swaps than the route", "it contains … swaps, but the route has …"],
  ],
  [
    "a unit less arrives",
    (parts) => addedTo(parts, SWAP, 16, -1n),
    ["7: its minimum output is … base units, but slippage requires …"],
  ],
  [
    "a unit more leaves",
    (parts) => addedTo(parts, SWAP, 8, 1n),
    [
      "7: its input is up to … base units, but the order is for …",
      "the temporary wrapped-SOL account receives … SOL, but needs … SOL and its rent",
    ],
  ],
  [
    "another market",
    (parts) => withAccount(parts, SWAP, 3, { address: STRANGER }),
    [
      "7: it does not trade on the announced market",
      "7: account … (the market) is not the announced market …",
      "7: account … (the vault of what goes in) is not derived from this trade",
      "7: account … (the vault of what comes out) is not derived from this trade",
      "7: account … (the price record) is not derived from this trade",
    ],
  ],
  [
    "an output to a stranger",
    (parts) => withAccount(parts, SWAP, 5, { address: STRANGER }),
    ["7: account … (the receiving account) is not the wallet's account of the output mint"],
  ],
  [
    "a configuration that may be written",
    (parts) => withAccount(parts, SWAP, 2, { writable: true }),
    ["it makes an account writable that the trade only reads"],
  ],
  [
    "a mint that may be written",
    (parts) => withAccount(parts, SWAP, 11, { writable: true }),
    ["it makes an account writable that the trade only reads"],
  ],
  [
    "a token program that may be written",
    (parts) => withAccount(parts, SWAP, 8, { writable: true }),
    ["it makes an account writable that the trade only reads", "it makes a program writable"],
  ],
  [
    "an instruction of the venue that is not known",
    (parts) => withData(parts, SWAP, (data) => data.fill(0, 0, 8)),
    [
      "7: it calls a venue's program with an instruction unknown to this library",
      "8: it closes an account before the swap",
      "it contains … swaps, but the route has …",
      "no swap uses the temporary wrapped-SOL account",
      "it makes an account writable that the trade only reads",
      "it makes an account writable that the trade only reads",
      "it makes an account writable that the trade only reads",
      "it makes an account writable that the trade only reads",
    ],
  ],
  [
    "another program",
    (parts) => withPart(parts, SWAP, { program: STRANGER }),
    [
      "7: calls the unknown program …",
      "8: it closes an account before the swap",
      "it contains … swaps, but the route has …",
      "no swap uses the temporary wrapped-SOL account",
      "it makes an account writable that the trade only reads",
      "it makes an account writable that the trade only reads",
      "it makes an account writable that the trade only reads",
      "it makes an account writable that the trade only reads",
    ],
  ],
  [
    "a temporary account that stays open",
    (parts) => parts.toSpliced(CLOSE, 1),
    ["it leaves the temporary wrapped-SOL account open"],
  ],
  [
    "a temporary account that is closed twice",
    (parts) => [...parts, parts[CLOSE]!],
    ["9: it repeats an instruction that may appear only once"],
  ],
  [
    "a temporary account closed before the swap",
    (parts) => parts.toSpliced(CLOSE, 1).toSpliced(SWAP, 0, parts[CLOSE]!),
    ["7: it closes an account before the swap", "8: the temporary wrapped-SOL account is not open when the swap runs"],
  ],
  [
    "a temporary account closed by another program",
    (parts) => withPart(parts, CLOSE, { program: TOKEN_2022_PROGRAM }),
    ["8: another program closes the temporary account"],
  ],
  [
    "lamports of the temporary account to a stranger",
    (parts) => withAccount(parts, CLOSE, 1, { address: STRANGER }),
    [
      "it requires … signatures; only this wallet may sign",
      "8: it closes an account and sends its SOL to another account",
    ],
  ],
  [
    "a temporary account closed under a stranger",
    (parts) => withAccount(parts, CLOSE, 2, { address: STRANGER }),
    [
      "it requires … signatures; only this wallet may sign",
      "8: it closes an account under another authority",
      "it makes an account writable that the trade only reads",
    ],
  ],
  [
    "a stranger's account closed",
    (parts) => [...parts, { ...parts[CLOSE]!, accounts: parts[CLOSE]!.accounts.with(0, writable(STRANGER)) }],
    ["9: it closes an account that this trade does not open"],
  ],
  [
    "SOL to a stranger",
    (parts) => [...parts, transfer(parts[CREATE]!.accounts[0]!.address, STRANGER, 1n)],
    [
      "9: it transfers … SOL to an account outside this trade",
      "it tips … SOL, but the service announced … SOL",
      "priority costs … SOL, but the service announced … SOL",
    ],
  ],
  [
    "SOL to the temporary account",
    (parts) =>
      parts.toSpliced(SWAP, 0, transfer(parts[CREATE]!.accounts[0]!.address, parts[OPEN]!.accounts[1]!.address, 1n)),
    [
      "7: it adds SOL to the temporary wrapped-SOL account",
      "7: it transfers … SOL to an account outside this trade",
      "it tips … SOL, but the service announced … SOL",
      "priority costs … SOL, but the service announced … SOL",
    ],
  ],
  [
    "SOL of a stranger",
    (parts) => [...parts, transfer(STRANGER, parts[CREATE]!.accounts[0]!.address, 1n)],
    [
      "it requires … signatures; only this wallet may sign",
      "9: it transfers SOL from another account",
      "9: it transfers … SOL to an account outside this trade",
      "it tips … SOL, but the service announced … SOL",
      "priority costs … SOL, but the service announced … SOL",
    ],
  ],
];

const CHANGES_OF_A_SALE: readonly Change[] = [
  [
    "an emptied account that stays open",
    (parts) => parts.toSpliced(CLOSE_EMPTIED, 1),
    ["it leaves the emptied token account open, but its rent should be returned"],
  ],
  [
    "an emptied account closed twice",
    (parts) => [...parts, parts[CLOSE_EMPTIED]!],
    ["9: it repeats an instruction that may appear only once"],
  ],
  [
    "an emptied account closed by another program",
    (parts) => withPart(parts, CLOSE_EMPTIED, { program: TOKEN_2022_PROGRAM }),
    ["8: another program closes the emptied account"],
  ],
  [
    "an emptied account closed before the sale",
    (parts) => parts.toSpliced(CLOSE_EMPTIED, 1).toSpliced(0, 0, parts[CLOSE_EMPTIED]!),
    ["1: it closes an account before the swap"],
  ],
];

test("each check names what is wrong with a purchase, by itself", () => {
  expect(problemsAfter(purchase, (parts) => parts)).toEqual([]);
  for (const [name, change, said] of CHANGES) expect(problemsAfter(purchase, change), name).toEqual(said);
});

test("each check names what is wrong with a sale that closes the emptied account", () => {
  expect(problemsAfter(sale, (parts) => parts)).toEqual([]);
  for (const [name, change, said] of CHANGES_OF_A_SALE) expect(problemsAfter(sale, change), name).toEqual(said);
});

test("priority may cost the limit, and rent what the most expensive accounts may cost", () => {
  const fee = BigInt(purchase.answer.costs!.priorityFee!);
  expect(problemsAfter(purchase, (parts) => parts, { maxPriorityLamports: fee })).toEqual([]);
  expect(problemsAfter(purchase, (parts) => parts, { maxPriorityLamports: fee - 1n })).toEqual([
    "priority costs … SOL, more than the limit of … SOL",
  ]);
  const announced = expectationOf(purchase).announced;
  const most = 384n * 6_960n;
  expect(problemsAfter(purchase, (parts) => parts, { announced: { ...announced, rentPaid: most } })).toEqual([]);
  expect(problemsAfter(purchase, (parts) => parts, { announced: { ...announced, rentPaid: most + 1n } })).toEqual([
    "the service announced … SOL of rent, more than that of the accounts it creates",
  ]);
});

/** The purchase with markets that nobody asked for before its own, and an account for each mint between them. */
function problemsOver(middles: number, expected: Partial<TradeExpectation> = {}): readonly string[] {
  const { legs, wallet, inMint } = expectationOf(purchase);
  const mints = Array.from({ length: middles }, (_, index) => Address.from(new Uint8Array(32).fill(0x70 + index)));
  const row = [inMint, ...mints];
  const before = mints.map((outMint, index) => ({ ...legs[0]!, inMint: row[index]!, outMint }));
  const opened = (parts: Parts) =>
    mints.map((mint): Instruction => {
      const accounts = parts[CREATE]!.accounts.with(1, writable(tokenAccountAddress(wallet, mint, TOKEN_PROGRAM))).with(
        3,
        readonly(mint),
      );
      return { ...parts[CREATE]!, accounts };
    });
  return problemsAfter(purchase, (parts) => parts.toSpliced(CREATE, 0, ...opened(parts)), {
    legs: [...before, { ...legs[0]!, inMint: row.at(-1)! }],
    ...expected,
  }).filter((reason) => reason.includes("between markets"));
}

test("accounts for mints between markets bind the rent of four of them, or what the caller allows", () => {
  const said = ["rent between markets costs … SOL, more than the limit of … SOL"];
  expect([0, 1, 4].map((middles) => problemsOver(middles))).toEqual([[], [], []]);
  expect(problemsOver(5)).toEqual(said);
  const none = limited(0);
  expect(problemsOver(0, none)).toEqual([]);
  expect(problemsOver(1, none)).toEqual(said);
  expect(problemsOver(2, limited(0.00407856))).toEqual([]);
  expect(problemsOver(2, limited(0.00407855))).toEqual(said);
  expect(problemsOver(8, limited(1))).toEqual([]);
});

/** What a limit of the caller's makes of the expectation. */
function limited(maxMiddleRent: number): Partial<TradeExpectation> {
  const { order, answer, wallet, decimals } = purchase;
  const { maxMiddleRentLamports } = expectTrade(wallet, order, answer, { decimals, maxMiddleRent });
  return { maxMiddleRentLamports };
}

test("a swap of staked SOL names the account that prices it, which can be no account of the wallet and receives nothing", async () => {
  const random = createRandom(7);
  let staked: SampleBuild | undefined;
  while (staked?.form !== "plain") staked = await buildSample(random, "meteora_damm_v1");
  const build = staked;
  const withPrice = (...prices: readonly AccountMeta[]) =>
    problemsAfter(build, (parts) => {
      const at = parts.findIndex((part) => findSwapTable({ ...part, accounts: [] }) !== undefined);
      return withPart(parts, at, { accounts: [...parts[at]!.accounts, ...prices] });
    }).map((problem) => problem.replace(/^\d+: /, ""));
  expect(withPrice(readonly(STRANGER))).toEqual([]);
  expect(withPrice(writable(STRANGER))).toEqual(["it makes an account writable that the trade only reads"]);
  expect(withPrice(readonly(build.wallet))).toEqual([
    "account … (the account that prices staked SOL) is an account of the wallet instead of the venue",
  ]);
  expect(withPrice(readonly(STRANGER), readonly(USDC_MINT))).toContain("swap has … accounts instead of …");
});
