import { expect, test } from "vitest";
import { memoryPorts } from "../../../test/support/memory-ports.ts";
import { TradewireError } from "../../errors/tradewire-error.ts";
import type { HotMarket } from "../../market/port.ts";
import { Address } from "../../primitives/address.ts";
import { createRandom } from "../../primitives/random.ts";
import { SOL_MINT } from "../../solana/programs.ts";
import type { Ask, Quote, Venue } from "../../venues/venue.ts";
import { quoteTrade } from "../quote/quote-trade.ts";
import type { TradeRequest } from "../trade.ts";
import { buildTrade } from "./build-trade.ts";
import { measureRoutes } from "./route-fit.ts";

const random = createRandom(174);
const address = () => Address.from(random.bytes(32));
const [WALLET, MINT, PROGRAM] = [address(), address(), address()];
const clock = { slot: 1_000n, epoch: 2n, unixTimestamp: 1_795_000_000n };
const REQUEST: TradeRequest = {
  principal: { accountId: "account", keyId: "key", wallet: WALLET },
  inMint: SOL_MINT,
  outMint: MINT,
  mode: "exactIn",
  amount: 0.5,
  slippage: 0.01,
  priority: "fast",
  maxPriceImpact: undefined,
  maxPriorityCost: undefined,
};

/** A market that gives `percent` of what goes in; `after` and `swap` may be broken. */
function market(percent: bigint, broken: Partial<Venue>, failures: unknown[] = []): HotMarket {
  const venue = {
    id: `venue_${percent}`,
    supports: { exactOut: true, token2022: true },
    quote: (_state: unknown, ask: Ask): Quote => ({
      ...ask,
      inAmount: ask.amount,
      outAmount: (ask.amount * percent) / 100n,
      priceImpact: 0,
      fill: undefined,
    }),
    swap: () => ({
      instructions: [{ program: PROGRAM, accounts: [], data: new Uint8Array(8) }],
      computeUnits: 20_000,
      creates: [],
    }),
    ...broken,
  } as unknown as Venue;
  return {
    venue,
    market: { venue: venue.id, address: address(), mints: [SOL_MINT, MINT], nativeSol: true },
    state: undefined,
    slot: 999n,
    failed: (error) => failures.push(error),
  };
}

const broken = {
  swap: () => {
    throw new TypeError("undefined is not an account");
  },
};

test("a market whose instructions cannot be made costs the trade nothing: the next best makes it", async () => {
  const failures: unknown[] = [];
  const ports = memoryPorts({
    mint: MINT,
    clock,
    wallet: WALLET,
    markets: [market(100n, broken, failures), market(90n, {})],
  });
  const { platform } = await buildTrade(ports, REQUEST);
  expect(platform).toBe("venue_90");
  expect(failures).toEqual([new TypeError("undefined is not an account")]);
  const quoted = await quoteTrade({ ...ports, measureRoutes: (...asked) => measureRoutes(ports, ...asked) }, {
    ...REQUEST,
    caller: undefined,
  } as never);
  expect(quoted.platform).toBe("venue_90");
  expect(quoted.faults).toMatchObject([{ venue: "venue_100", reason: "our code cannot make its instructions" }]);
});

test("alone it is withheld, and nothing of its failure is shown", async () => {
  const ports = memoryPorts({ mint: MINT, clock, wallet: WALLET, markets: [market(100n, broken)] });
  await expect(async () => buildTrade(ports, REQUEST)).rejects.toMatchObject({
    code: "VENUE_DEGRADED",
    message: expect.not.stringContaining("undefined"),
  });
});

test("a refusal at that point is the market's own word, and no failure of ours", async () => {
  const failures: unknown[] = [];
  const refusing = {
    swap: () => {
      throw new TradewireError("VENUE_DEGRADED", "its fee account is gone");
    },
  };
  const ports = memoryPorts({ mint: MINT, clock, wallet: WALLET, markets: [market(100n, refusing, failures)] });
  await expect(async () => buildTrade(ports, REQUEST)).rejects.toThrow("its fee account is gone");
  expect(failures).toEqual([]);
});

test("a market that cannot be priced is reported, whether it is priced or only bounded", async () => {
  const unpriced = {
    quote: () => {
      throw new RangeError("Division by zero");
    },
  };
  for (const others of [1, 6]) {
    const failures: unknown[] = [];
    const markets = [market(100n, unpriced, failures), ...Array.from({ length: others }, () => market(90n, {}))];
    const { platform } = await buildTrade(memoryPorts({ mint: MINT, clock, wallet: WALLET, markets }), REQUEST);
    expect(platform).toBe("venue_90");
    expect(failures.length).toBeGreaterThan(0);
  }
});
