import { expect, test } from "vitest";
import { buyFor, FAKE_CLOCK, fakeMarket } from "../../../test/support/fake-market.ts";
import { memoryPorts } from "../../../test/support/memory-ports.ts";
import type { HotMarket } from "../../market/port.ts";
import { Address } from "../../primitives/address.ts";
import { createRandom } from "../../primitives/random.ts";
import type { LookupTable } from "../../solana/message.ts";
import type { Venue } from "../../venues/venue.ts";
import type { Route } from "../quote/route.ts";
import { budgetFor } from "./budget.ts";
import { buildTrade } from "./build-trade.ts";
import type { Assembly } from "./parts/assembled.ts";

const random = createRandom(173);
const address = () => Address.from(random.bytes(32));
const [WALLET, MINT] = [address(), address()];
const REQUEST = buyFor(WALLET, MINT);

/** A market that gives `percent` of what goes in; its swap takes the units and names the accounts. */
const market = (percent: bigint, computeUnits: number, accounts: readonly Address[] = []) =>
  fakeMarket({
    ...{ mint: MINT, address: address(), program: address(), id: `venue_${percent}`, computeUnits, accounts },
    give: (amount) => (amount * percent) / 100n,
  });

const build = async (markets: readonly HotMarket[], lookupTables: readonly LookupTable[] = []) =>
  buildTrade(
    { ...memoryPorts({ mint: MINT, clock: FAKE_CLOCK, wallet: WALLET, markets }), lookupTables: () => lookupTables },
    REQUEST,
  );

test("a route that may take more compute units than a transaction has is not built, and the next best is", async () => {
  const { platform } = await build([market(100n, 1_400_000), market(90n, 1_300_000)]);
  expect(platform).toBe("venue_90");
  await expect(build([market(100n, 1_400_000)])).rejects.toMatchObject({
    code: "INSUFFICIENT_LIQUIDITY",
    facts: { field: "amount" },
  });
});

test("a route whose programs may run more instructions than a transaction may is not built, and the next best is", async () => {
  const calling = (percent: bigint, calls: number) => {
    const { venue, ...hot } = market(percent, 10_000);
    return { ...hot, venue: { ...venue, calls } };
  };
  // Beside the calls: three for the budget, the token account's own and the four that make it, and the swap.
  expect((await build([calling(100n, 55), calling(90n, 0)])).platform).toBe("venue_100");
  expect((await build([calling(100n, 56), calling(90n, 0)])).platform).toBe("venue_90");
  await expect(build([calling(100n, 56)])).rejects.toMatchObject({ code: "INSUFFICIENT_LIQUIDITY" });
});

test("instructions that make the wallet's own wrapped-SOL account count too, where the temporary one takes too many bytes", async () => {
  const accounts = Array.from({ length: 21 }, address);
  const wrapping = (calls: number) =>
    build([
      fakeMarket({ mint: MINT, address: address(), program: address(), nativeSol: false, accounts, venue: { calls } }),
    ]);
  // Beside the calls: three for the budget, five for each of both accounts, the transfer, the sync, the swap and the closing.
  await expect(wrapping(47)).resolves.toBeDefined();
  await expect(wrapping(48)).rejects.toMatchObject({ code: "NO_ROUTE" });
});

test("a route too large for a transaction is refused for its size, also if it would take too many units without some accounts", async () => {
  const accounts = Array.from({ length: 40 }, address);
  const large = market(100n, 1_000_000, accounts);
  const lean: Venue["lean"] = (_, quote) => ({ ...quote, fill: "lean" });
  const swap: Venue["swap"] = (state, quote, terms) => {
    const leg = large.venue.swap(state, quote, terms);
    return quote.fill === "lean" ? { ...leg, computeUnits: 1_400_000 } : leg;
  };
  await expect(build([{ ...large, venue: { ...large.venue, lean, swap } }])).rejects.toMatchObject({
    code: "NO_ROUTE",
  });
});

test("a transaction names no more accounts than the network locks, however many a lookup table holds", async () => {
  const entries = Array.from({ length: 80 }, address);
  const table = { address: address(), entries };
  // Beside those of its swap: the wallet, the token account and its mint, three programs, the swap's own and the budget's.
  const most = await build([market(100n, 10_000, entries.slice(0, 56))], [table]);
  expect(most.unsignedTransaction.length).toBeLessThan(1232);
  await expect(build([market(100n, 10_000, entries.slice(0, 57))], [table])).rejects.toMatchObject({
    code: "NO_ROUTE",
  });
});

test("each further venue of a route makes room for its programs", () => {
  const room = (venues: number) => {
    const steps = Array.from({ length: venues }, (_, i) => ({ hot: market(BigInt(100 + i), 0) }));
    const settings = { computeUnitMarginPercent: 10, loadedAccountsBytes: 8 << 20 };
    const fees = { priceMicroLamportsPerCu: () => 0n, expectedSlots: () => 1 };
    const route = { steps } as unknown as Route;
    return budgetFor({ settings, fees }, REQUEST, route, { computeUnits: 0 } as Assembly, 5).loadedBytesLimit + 5;
  };
  // Sizes of the largest programs: two of launchpads with that of their fees, four of pools, and the token programs'.
  const [fees, launchpads, pools, tokens] = [851_112, [1_769_160, 1_138_168], [2_067_376, 1_700_160], 1_600_000];
  const loaded = [...launchpads, ...pools, fees, tokens].reduce((sum, bytes) => sum + bytes, 0);
  expect(room(1)).toBe(8 << 20);
  expect(room(2)).toBe(8 << 20);
  expect(loaded).toBeGreaterThan(room(2));
  expect(loaded).toBeLessThan(room(4));
});
