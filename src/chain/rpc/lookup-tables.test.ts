import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Address } from "../../primitives/address.ts";
import { LOOKUP_TABLE_PROGRAM } from "../../solana/lookup-table.ts";
import { createLookupTables } from "./lookup-tables.ts";

const TABLE = Address.from(new Uint8Array(32).fill(1));
const at = (byte: number) => Address.from(new Uint8Array(32).fill(byte));

/** What a node has: the entries of the table, none if it has no such account, or no answer. */
type Word = readonly number[] | "none" | "away";

let words: Word[];
let warnings: string[];
let tables: Awaited<ReturnType<typeof createLookupTables>>;
beforeEach(() => {
  vi.useFakeTimers();
  warnings = [];
});
afterEach(() => {
  tables?.close();
  vi.useRealTimers();
});

function accountOf(entries: readonly number[]) {
  const data = Buffer.alloc(56 + 32 * entries.length);
  data.writeUInt32LE(1, 0);
  data.writeBigUInt64LE((1n << 64n) - 1n, 4);
  for (const [i, byte] of entries.entries()) data.set(at(byte).bytes, 56 + 32 * i);
  return { address: TABLE, owner: LOOKUP_TABLE_PROGRAM, data, lamports: 1n, executable: false, slot: 5n };
}

async function start(said: readonly Word[], trusted?: number): Promise<void> {
  words = [...said];
  const nodes = said.map((_, i) => ({
    isTrusted: i === trusted,
    reader: {
      async fetchAccounts() {
        const word = words[i]!;
        if (word === "away") throw new Error("away");
        return { slot: 5n, accounts: [word === "none" ? null : accountOf(word)] };
      },
    },
  }));
  tables = await createLookupTables({ nodes, addresses: [TABLE], warn: (line) => void warnings.push(line) });
}

/** Its entries; undefined if it is left out. */
const entries = () => tables.tables()[0]?.entries.map((entry) => entry.bytes[0]);
async function say(...said: Word[]): Promise<void> {
  words = said;
  await vi.advanceTimersByTimeAsync(60_000);
}

test.each<{ readonly said: readonly Word[]; readonly trusted?: number; readonly used: number[] | undefined }>([
  { said: [[5, 6, 7]], used: [5, 6, 7] },
  {
    said: [
      [5, 6, 7],
      [5, 6, 7],
    ],
    used: [5, 6, 7],
  },
  {
    said: [
      [5, 9, 7],
      [5, 6, 7],
    ],
    used: [5],
  },
  {
    said: [
      [9, 6, 7],
      [5, 6, 7],
    ],
    used: [],
  },
  {
    said: [
      [5, 6],
      [5, 6, 7],
    ],
    used: [5, 6],
  },
  {
    said: [
      [5, 9, 7],
      [5, 6, 7],
      [5, 6, 7],
    ],
    used: [5, 6, 7],
  },
  { said: [[5, 6, 7], "none", [5, 6, 7]], used: [5, 6, 7] },
  { said: [[5, 6, 7], "none", "none"], used: undefined },
  { said: [[5, 6, 7], "none"], used: undefined },
  { said: ["away", [5, 6, 7]], used: [5, 6, 7] },
  {
    said: [
      [5, 9, 7],
      [5, 6, 7],
    ],
    trusted: 1,
    used: [5, 6, 7],
  },
])("nodes that say $said (trusted: $trusted) make $used", async ({ said, trusted, used }) => {
  await start(said, trusted);
  expect(entries()).toEqual(used);
});

test("a node that swaps entries is named and takes none away, and a table is left out if it is gone", async () => {
  await start([
    [5, 6],
    [5, 6],
  ]);
  await say([6, 5], [5, 6]);
  expect(entries()).toEqual([5, 6]);
  expect(warnings).toEqual([expect.stringMatching(/nodes contradict each other about the lookup table/)]);
  await say("none", "none");
  expect(tables.tables()).toEqual([]);
});

test("what one node says while the others are away neither changes nor adds an entry", async () => {
  await start([
    [5, 6],
    [5, 6],
  ]);
  for (const alone of [[6, 5], [5, 6, 7], [5]] as const) {
    await say(alone, "away");
    expect(entries()).toEqual([5, 6]);
  }
  await say([5, 6, 7], [5, 6, 7]);
  expect(entries()).toEqual([5, 6, 7]);
  await say("away", "away");
  expect(entries()).toEqual([5, 6, 7]);
});

test("what two nodes agreed on one of them cannot take away, nor add to it", async () => {
  await start([
    [5, 6],
    [5, 6],
  ]);
  for (const word of [[6, 5], [5, 9, 7], [5], []] as const) {
    await say(word, [5, 6, 7]);
    expect(entries()).toEqual([5, 6]);
  }
  await say([5, 6, 7], [5, 6, 7]);
  expect(entries()).toEqual([5, 6, 7]);
  // A test chain that began anew.
  await say([9, 8], [9, 8]);
  expect(entries()).toEqual([9, 8]);
});

test("what one node said before the other answered proves nothing", async () => {
  await start(["away", [6, 5]]);
  expect(entries()).toEqual([6, 5]);
  await say([5, 6], [6, 5]);
  expect(entries()).toEqual([]);
  await say([5, 6], [5, 6]);
  expect(entries()).toEqual([5, 6]);
});
