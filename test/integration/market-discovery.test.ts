import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { discoverMarkets } from "../../src/market/discovery.ts";
import { Address } from "../../src/primitives/address.ts";
import { createRandom } from "../../src/primitives/random.ts";
import { SOL_MINT } from "../../src/solana/programs.ts";
import { venues } from "../../src/venues/registry.ts";

test("a search gives others a turn between venues, whatever addresses it derives", async () => {
  const reader = {
    fetchAccounts: async (addresses: readonly Address[]) => ({ slot: 1n, accounts: addresses.map(() => null) }),
    fetchProgramAccounts: async () => [],
  };
  let searching = true;
  const turns = (async () => {
    let count = 0;
    for (; searching; count++) await nextTurn();
    return count;
  })();
  const pair = { a: SOL_MINT, b: Address.from(createRandom(1).bytes(32)) };
  const { searched, found } = await discoverMarkets(pair, {
    reader,
    venues,
    now: Date.now,
    warn: () => {},
    maxFound: 100,
  });
  searching = false;
  expect(found).toEqual([]);
  expect(searched).toEqual(venues.map(({ id }) => id));
  expect(await turns).toBeGreaterThanOrEqual(venues.length);
});
