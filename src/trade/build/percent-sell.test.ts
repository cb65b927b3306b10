import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { FAKE_CLOCK, fakeMarket } from "../../../test/support/fake-market.ts";
import { memoryPorts } from "../../../test/support/memory-ports.ts";
import type { PairMarkets } from "../../market/port.ts";
import { Address } from "../../primitives/address.ts";
import { writeU64 } from "../../primitives/bytes.ts";
import { createRandom } from "../../primitives/random.ts";
import { associatedTokenAddress } from "../../solana/pda.ts";
import { SOL_MINT, TOKEN_PROGRAM } from "../../solana/programs.ts";
import { allAtOnce, type LongSearches, type Steps } from "../quote/long-searches.ts";
import type { TradeRequest } from "../trade.ts";
import { type BuildPorts, buildTrade } from "./build-trade.ts";

const random = createRandom(8_200_000);
const address = () => Address.from(random.bytes(32));
const [WALLET, MINT, PROGRAM] = [address(), address(), address()];
const SOURCE = associatedTokenAddress(WALLET, MINT, TOKEN_PROGRAM);
const BEFORE = 1_000_000n;
const AFTER = 1_500_000n;

const sale = (sellPercent: number): TradeRequest => ({
  principal: { accountId: "account", keyId: "key", wallet: WALLET },
  inMint: MINT,
  outMint: SOL_MINT,
  mode: "exactIn",
  amount: Number.NaN,
  sellPercent,
  slippage: 0.01,
  priority: "fast",
  maxPriceImpact: undefined,
  maxPriorityCost: undefined,
});

const market = (give = (amount: bigint) => amount) =>
  fakeMarket({ mint: MINT, address: address(), program: PROGRAM, nativeSol: true, give });

/** A wallet that sells on these markets, and how its balance changes. */
function seller(...markets: ReturnType<typeof market>[]) {
  const tokens = { address: SOURCE, amount: BEFORE };
  const ports = memoryPorts({ mint: MINT, clock: FAKE_CLOCK, wallet: WALLET, markets, tokens });
  const receive = (amount: bigint): void => {
    const account = ports.markets.account(SOURCE)!;
    const data = account.data.slice();
    writeU64(data, 64, amount);
    const now = { ...account, data };
    held = (at) => (at === SOURCE ? now : ports.markets.account(at));
  };
  let held = ports.markets.account;
  return {
    ports: { ...ports, markets: { ...ports.markets, account: (at: Address) => held(at) } } as BuildPorts,
    receive,
  };
}

/** Turns of the loop in which the rest of a trade is read. */
const TURNS = 10;

/** Ports whose pair is read from the chain first, which takes long; `during` runs before it ends. */
function whileReading({ markets, ...ports }: BuildPorts, during: () => void): BuildPorts {
  let read: PairMarkets | Promise<PairMarkets> | undefined;
  const readSlowly = async (pair: Pair): Promise<PairMarkets> => {
    for (let turn = 0; turn < TURNS; turn++) await nextTurn();
    during();
    read = await markets.marketsOf(pair);
    return read;
  };
  const marketsOf = (pair: Pair) => {
    read ??= readSlowly(pair);
    return read;
  };
  return { ...ports, markets: { ...markets, marketsOf } };
}

type Pair = Parameters<BuildPorts["markets"]["marketsOf"]>[0];

describe("a share of a balance", () => {
  test.each([
    [100, AFTER],
    [50, AFTER / 2n],
  ])(
    "of %d % is one of what the wallet has when the trade is made, not of what it had before markets were read",
    async (percent, sold) => {
      const { ports, receive } = seller(market());
      const built = await buildTrade(
        whileReading(ports, () => receive(AFTER)),
        sale(percent),
      );
      expect(built.estimates.inAmount).toBe(sold);
    },
  );

  test("is nothing if the wallet has sold everything meanwhile", async () => {
    const { ports, receive } = seller(market());
    const built = buildTrade(
      whileReading(ports, () => receive(0n)),
      sale(100),
    );
    await expect(built).rejects.toMatchObject({ code: "INSUFFICIENT_TOKEN_BALANCE", facts: { field: "sellPercent" } });
  });
});

test("a sale that waits for a search is one of the balance and the markets when that begins", async () => {
  // Larger parts give less for each unit: dividing a sale may gain.
  const deep = (amount: bigint) => amount - amount ** 2n / (100n * BEFORE);
  const { ports, receive } = seller();
  const better = [market((amount) => 2n * amount)];
  let now: PairMarkets = { markets: [market(deep), market(deep)], faults: [], searched: [] };
  const marketsOf: BuildPorts["markets"]["marketsOf"] = () => now;
  const change = (): void => {
    receive(AFTER);
    now = { ...now, markets: better };
  };
  const built = await buildTrade(
    { ...ports, markets: { ...ports.markets, marketsOf }, searches: searchingAfter(change) },
    sale(100),
  );
  expect(built.estimates).toMatchObject({ inAmount: AFTER, outAmount: 2n * AFTER });
});

/** Searches of which each has to wait; `change` runs meanwhile. */
function searchingAfter(change: () => void): LongSearches {
  const run = async <T>(start: (isAllowed: boolean) => Steps<T>): Promise<T> => {
    start(true).next();
    await nextTurn();
    change();
    return allAtOnce(start(true));
  };
  return { run } as unknown as LongSearches;
}
