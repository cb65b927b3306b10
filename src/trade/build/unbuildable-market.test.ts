import { expect, test } from "vitest";
import { buyFor, FAKE_CLOCK, fakeMarket } from "../../../test/support/fake-market.ts";
import { memoryPorts } from "../../../test/support/memory-ports.ts";
import { TradewireError } from "../../errors/tradewire-error.ts";
import type { HotMarket } from "../../market/port.ts";
import { Address } from "../../primitives/address.ts";
import { createRandom } from "../../primitives/random.ts";
import type { Venue } from "../../venues/venue.ts";
import { quoteTrade } from "../quote/quote-trade.ts";
import { buildTrade } from "./build-trade.ts";
import { measureRoutes } from "./route-fit.ts";

const random = createRandom(174);
const address = () => Address.from(random.bytes(32));
const [WALLET, MINT, PROGRAM] = [address(), address(), address()];
const REQUEST = buyFor(WALLET, MINT);

/** A market that gives `percent` of what goes in; `after` and `swap` may be broken. */
function market(percent: bigint, broken: Partial<Venue>, failures: unknown[] = []): HotMarket {
  const give = (amount: bigint) => (amount * percent) / 100n;
  const fake = { mint: MINT, address: address(), program: PROGRAM, id: `venue_${percent}`, computeUnits: 20_000 };
  return { ...fakeMarket({ ...fake, give, venue: broken }), failed: (error) => failures.push(error) };
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
    clock: FAKE_CLOCK,
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

test("nor does one that takes too many accounts, and fails when it is asked for fewer", async () => {
  const failures: unknown[] = [];
  const broken = {
    lean: () => {
      throw new RangeError("no such array");
    },
  };
  const accounts = Array.from({ length: 40 }, address);
  const large = fakeMarket({ mint: MINT, address: address(), program: PROGRAM, id: "large", accounts, venue: broken });
  const markets = [{ ...large, failed: (error: unknown) => failures.push(error) }, market(90n, {})];
  const { platform } = await buildTrade(
    memoryPorts({ mint: MINT, clock: FAKE_CLOCK, wallet: WALLET, markets }),
    REQUEST,
  );
  expect(platform).toBe("venue_90");
  expect(failures).toEqual([new RangeError("no such array")]);
});

test("alone it is withheld, and nothing of its failure is shown", async () => {
  const ports = memoryPorts({ mint: MINT, clock: FAKE_CLOCK, wallet: WALLET, markets: [market(100n, broken)] });
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
  const ports = memoryPorts({
    mint: MINT,
    clock: FAKE_CLOCK,
    wallet: WALLET,
    markets: [market(100n, refusing, failures)],
  });
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
    const { platform } = await buildTrade(
      memoryPorts({ mint: MINT, clock: FAKE_CLOCK, wallet: WALLET, markets }),
      REQUEST,
    );
    expect(platform).toBe("venue_90");
    expect(failures.length).toBeGreaterThan(0);
  }
});
