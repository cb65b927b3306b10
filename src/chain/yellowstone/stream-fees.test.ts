import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { startYellowstoneServer, type YellowstoneServer } from "../../../test/support/yellowstone-server.ts";
import { Address } from "../../primitives/address.ts";
import { createStreamFees, type StreamFees } from "./stream-fees.ts";
import { SLOT_STATUS } from "./yellowstone-wire.ts";

const [hot, other, cold] = [1, 2, 3].map((fill) => Address.from(new Uint8Array(32).fill(fill))) as [
  Address,
  Address,
  Address,
];
const NO_TRIMS = { economy: 0, fast: 0, faster: 0, fastest: 0 };
let server: YellowstoneServer;
let fees: StreamFees;
let nowMs: number;
let warnings: string[];

beforeEach(async () => {
  server = await startYellowstoneServer();
  nowMs = 1_795_000_000_000;
  warnings = [];
  fees = createStreamFees({
    url: server.url,
    token: "secret",
    now: () => nowMs,
    warn: (message) => void warnings.push(message),
    trims: NO_TRIMS,
  });
});
afterEach(async () => {
  fees.close();
  await server.close();
});

const slot = (number: number) => server.emit({ kind: "slot", slot: number, status: SLOT_STATUS.processed });
const settled = (check: () => unknown) => eventually(check);

/** Asks for the accounts until the stream has listened to them for long enough. */
async function listen(...accounts: readonly Address[]): Promise<void> {
  for (const account of accounts) expect(await fees.read([account])).toBeUndefined();
  await settled(() => {
    const included = server.requests.at(-1)?.transactions.fees?.accountInclude ?? [];
    expect(included.toSorted()).toEqual(accounts.map(String).toSorted());
  });
  await settled(() => expect(server.streams()).toBe(1));
  nowMs += 10_001;
}

test("every price paid for writing to an account counts", async () => {
  await listen(hot, other);
  for (let i = 1; i <= 100; i++) server.emit({ kind: "transaction", slot: 1_000, price: i, writes: [hot] });
  server.emit({ kind: "transaction", slot: 1_000, price: 9_000_000, writes: [cold], reads: [hot] });
  server.emit({ kind: "transaction", slot: 1_001, price: 700, writes: [cold], loaded: [other] });
  server.emit({ kind: "transaction", slot: 1_001, writes: [other] });
  await settled(async () =>
    expect((await fees.read([hot]))?.prices).toEqual({ economy: 25n, fast: 50n, faster: 75n, fastest: 95n }),
  );
  await settled(async () => expect((await fees.read([other]))?.samples).toEqual([700n, 0n]));
  expect(server.tokens).toEqual(["secret"]);
});

test("old payments do not count, and without recent ones the price is zero", async () => {
  await listen(hot);
  server.emit({ kind: "transaction", slot: 1_000, price: 5_000, writes: [hot] });
  slot(1_151);
  await settled(async () => expect((await fees.read([hot]))?.samples).toEqual([]));
});

test("one message from a far slot does not make everything after it look old", async () => {
  await listen(hot);
  slot(1_000);
  server.emit({ kind: "transaction", slot: 9_000_000, price: 1_000_000, writes: [hot] });
  await settled(async () => expect((await fees.read([hot]))?.samples).toEqual([1_000_000n]));
  nowMs += 1_001;
  slot(1_001);
  server.emit({ kind: "transaction", slot: 1_001, price: 700, writes: [hot] });
  await settled(async () => expect((await fees.read([hot]))?.samples).toEqual([700n]));
});

test("it reports nothing for the whole chain, for accounts not yet followed, and while it is silent", async () => {
  await listen(hot);
  slot(1_000);
  await settled(async () => expect(await fees.read([hot])).toBeDefined());
  expect(await fees.read([])).toBeUndefined();
  expect(await fees.read([cold])).toBeUndefined();
  nowMs += 5_001;
  expect(await fees.read([hot])).toBeUndefined();
});

test("a cut stream is reopened with one warning, and follows its accounts again", async () => {
  await listen(hot);
  slot(1_000);
  await settled(async () => expect(await fees.read([hot])).toBeDefined());
  server.cut();
  await settled(() => expect(warnings).toHaveLength(1));
  expect(await fees.read([hot])).toBeUndefined();
  await settled(() => expect(server.streams()).toBe(1));
  nowMs += 10_001;
  slot(1_001);
  await settled(async () => expect(await fees.read([hot])).toBeDefined());
  expect(warnings).toHaveLength(1);
});
