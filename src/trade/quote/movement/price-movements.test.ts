import { expect, test } from "vitest";
import { TradewireError } from "../../../errors/tradewire-error.ts";
import type { Markets, PairMarkets } from "../../../market/port.ts";
import { Address } from "../../../primitives/address.ts";
import { createRandom } from "../../../primitives/random.ts";
import type { Venue } from "../../../venues/venue.ts";
import type { Intent } from "../../intent.ts";
import { MOST_OBSERVED, MOST_OF_ONE, PriceMovements } from "./price-movements.ts";
import { PRICE_EVERY_MS } from "./price-series.ts";

const random = createRandom(16_4);
const address = () => Address.from(random.bytes(32));
const clock = { slot: 1n, epoch: 1n, unixTimestamp: 1n };
const TRADE = { inAmount: 1_000_000_000n, outAmount: 2_000_000_000n };

/** Movements over markets that give `price.now` of the output for a thousand of the input, on a clock of the test's own. */
function observing() {
  const time = { ms: 0 };
  const price = { now: 2_000n, isKnown: true, quotes: 0, most: 1n << 64n };
  const quote: Venue["quote"] = (_, ask) => {
    price.quotes++;
    if (ask.amount > price.most) throw new TradewireError("INSUFFICIENT_LIQUIDITY", "the market does not hold enough");
    return { ...ask, inAmount: ask.amount, outAmount: (ask.amount * price.now) / 1_000n, priceImpact: 0, fill: null };
  };
  const venue = { id: "raydium_cpmm", quote } as unknown as Venue;
  const pair = (): PairMarkets => {
    if (!price.isKnown) throw new Error("the state is old");
    const market = {
      venue: "raydium_cpmm",
      address: address(),
      mints: [address(), address()],
      nativeSol: false,
    } as const;
    return { markets: [{ venue, market, state: null, slot: 1n }], faults: [], searched: [] };
  };
  const searches = { made: 0 };
  const marketsOf = () => {
    searches.made++;
    return pair();
  };
  const markets = { hubMints: [], marketsOf, knownMarkets: pair, mint: () => null } as unknown as Markets;
  const head = { clock: () => clock, slotMs: () => 400 };
  const networkOf = (address: string) => address.replace(/::.*/, "");
  const movements = new PriceMovements({
    ...{ markets, head, now: () => time.ms, pause: async () => undefined, networkOf },
  });
  const observe = async (times: number, change?: (index: number) => void) => {
    for (let index = 0; index < times; index++) {
      time.ms += PRICE_EVERY_MS;
      change?.(index);
      await movements.observe();
    }
  };
  return { movements, price, searches, time, observe };
}

const intent = (): Intent =>
  ({
    inMint: { address: address() },
    outMint: { address: address() },
    mode: "exactIn",
    amount: 1n,
  }) as unknown as Intent;

test("a quoted pair is observed from then on, over the life of a blockhash", async () => {
  const { movements, price, observe } = observing();
  const asked = intent();
  expect(movements.note(asked, TRADE)).toMatchObject({ samples: 0, movement: undefined, spanMs: 60_000 });
  await observe(100, (index) => {
    price.now = index % 2 === 0 ? 2_000n : 1_980n;
  });
  expect(movements.note(asked, TRADE)).toMatchObject({
    samples: 88,
    movement: expect.closeTo(0.01, 6),
    quantile: 0.95,
  });
});

test("pairs, work and memory are bounded, and pairs without quotes are dropped", async () => {
  const { movements, price, observe } = observing();
  for (let pair = 0; pair < 3 * MOST_OBSERVED; pair++) movements.note(intent(), TRADE);
  expect(movements.size).toBe(MOST_OBSERVED);
  await observe(1);
  expect(price.quotes).toBe(MOST_OBSERVED);
  await observe(120);
  expect(movements.size).toBe(0);
});

test("one network that quotes pair after pair takes no place from what others quote", async () => {
  const { movements, observe } = observing();
  const [own, popular] = [intent(), intent()];
  const victim = { peer: "192.0.2.1" };
  movements.note(popular, TRADE, victim);
  for (let round = 0; round < 60; round++) {
    movements.note(own, TRADE, victim);
    // It quotes the others' pairs too, to have them dropped as its own.
    movements.note(popular, TRADE, { peer: "2001:db8:0:1::1" });
    for (let pair = 0; pair < 2 * MOST_OBSERVED; pair++)
      movements.note(intent(), TRADE, { peer: `2001:db8:0:1::${pair}` });
    await observe(1);
  }
  expect(movements.size).toBe(MOST_OF_ONE + 2);
  for (const quoted of [own, popular]) expect(movements.note(quoted, TRADE, victim).samples).toBeGreaterThan(20);
});

test("for dust, a trade is observed whose price shows; without a state there is no price", async () => {
  const { movements, price, observe } = observing();
  const dust = { inAmount: 10n, outAmount: 20n };
  const asked = intent();
  movements.note(asked, dust);
  await observe(100, (index) => {
    price.now = index % 2 === 0 ? 2_000n : 1_999n;
  });
  expect(movements.note(asked, dust).movement).toBeCloseTo(0.000_5, 6);
  price.now = 2_000n;
  movements.note(asked, TRADE);
  await observe(40);
  expect(movements.note(asked, TRADE).samples).toBe(28);
  price.isKnown = false;
  await observe(10);
  price.isKnown = true;
  await observe(13);
  expect(movements.note(asked, TRADE).samples).toBe(29);
});

test("the first caller to quote a pair, at any size, does not choose the trade by which others see it move", async () => {
  const { movements, price, observe } = observing();
  const asked = intent();
  for (const inAmount of [1n << 60n, 20n, 500_000n]) movements.note(asked, { inAmount, outAmount: 2n * inAmount });
  movements.note(asked, TRADE);
  // The market is left with less than the large trade needs.
  price.most = 10n * TRADE.inAmount;
  await observe(100, (index) => {
    price.now = index % 2 === 0 ? 2_000n : 1_980n;
  });
  expect(movements.note(asked, TRADE)).toMatchObject({ samples: 88, movement: expect.closeTo(0.01, 6) });
});

test("observed prices come from memory: the chain is never searched for them", async () => {
  const { movements, price, searches, observe } = observing();
  movements.note(intent(), TRADE);
  await observe(3);
  expect(price.quotes).toBe(3);
  expect(searches.made).toBe(0);
});
