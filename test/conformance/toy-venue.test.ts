import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readVenueFolders } from "../../scripts/venue-folders.ts";
import { SOL_MINT } from "../../src/solana/programs.ts";
import { buildTrade } from "../../src/trade/build/build-trade.ts";
import { venues } from "../../src/venues/registry.ts";
import { putToyPool } from "../fixtures/venues/toy-swap/world.ts";
import { discoverCold } from "../support/discover.ts";
import { memoryPorts } from "../support/memory-ports.ts";
import { Svm } from "../support/svm.ts";
import { WORLD_CLOCK } from "../support/world.ts";
import { testProgramErrors } from "./program-error-checks.ts";
import { testTrades } from "./trade-checks.ts";
import { readMarket } from "./trades.ts";

const DEPTH = 9_876_543_210_123n;

const [folder, ...more] = await readVenueFolders(new URL("../fixtures/venues/", import.meta.url));
const toy = folder!.venue;
const svm = new Svm(WORLD_CLOCK);
const mint = svm.newMint({ decimals: 9 });
const market = putToyPool(svm, [mint, SOL_MINT], DEPTH);
const wallet = svm.newWallet(1n << 60n);

describe("a venue that is nothing but a folder", () => {
  it("is found by the convention of folders", () => {
    expect(more).toEqual([]);
    expect(folder).toMatchObject({ name: "toy-swap", venue: { id: "toy_swap" } });
  });

  it("is searched, decoded and read by the market layer", async () => {
    const reader = {
      fetchAccounts: async (addresses: readonly (typeof mint)[]) => ({
        slot: WORLD_CLOCK.slot,
        accounts: addresses.map((address) => svm.get(address)),
      }),
      fetchProgramAccounts: async () => [],
    };
    const { found, searched } = await discoverCold({ a: SOL_MINT, b: mint }, { reader, venues: [...venues, toy] });
    expect(searched).toHaveLength(venues.length + 1);
    expect(found.map((one) => [one.venue.id, one.market.address])).toEqual([["toy_swap", market]]);
  });

  it("is built on like any other", () => {
    const read = readMarket(svm, toy, market);
    const hot = { venue: toy, market: read.market, state: read.state, slot: WORLD_CLOCK.slot };
    const ports = memoryPorts({ mint, clock: WORLD_CLOCK, wallet, markets: [hot] });
    const built = buildTrade(ports, {
      principal: { accountId: "toy", keyId: "toy", wallet },
      inMint: SOL_MINT,
      outMint: mint,
      mode: "exactIn",
      amount: 1,
      slippage: 0.01,
      priority: "fast",
      maxPriceImpact: undefined,
      maxPriorityCost: undefined,
    });
    if (built instanceof Promise) throw new Error("a warm build waited");
    expect(built.route.map(({ venue }) => venue)).toEqual(["toy_swap"]);
  });

  describe("trades exactly", () => {
    testTrades(svm, wallet, toy, [{ symbol: "TOY", market, mint, quoteMint: SOL_MINT, seed: 11 }]);
  });

  describe("maps its program's errors", () => {
    testProgramErrors([...venues, toy], toy);
  });
});

describe("each registered venue", async () => {
  const folders = await readVenueFolders();

  it("has a folder, and each folder is registered", () => {
    expect(new Set(folders.map(({ venue }) => venue))).toEqual(new Set(venues));
  });

  it.each(folders.map(({ name }) => name))("%s has a verifier of its own in the client", (name) => {
    expect(existsSync(new URL(`../../src/client/verify/venues/${name}.ts`, import.meta.url))).toBe(true);
  });
});
