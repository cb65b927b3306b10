import { expect, test } from "vitest";
import type { Markets, PairMarkets } from "../../../market/port.ts";
import { Address } from "../../../primitives/address.ts";
import { createRandom } from "../../../primitives/random.ts";
import type { Venue } from "../../../venues/venue.ts";
import type { Intent } from "../../intent.ts";
import { MOST_OBSERVED, PriceMovements } from "./price-movements.ts";
import { PRICE_EVERY_MS } from "./price-series.ts";

const random = createRandom(16_4);
const address = () => Address.from(random.bytes(32));
const clock = { slot: 1n, epoch: 1n, unixTimestamp: 1n };
const TRADE = { inAmount: 1_000_000_000n, outAmount: 2_000_000_000n };

/** Movements over markets that give `price.now` of the output for a thousand of the input, on a clock of the test's own. */
function observing() {
  const time = { ms: 0 };
  const price = { now: 2_000n, isKnown: true, quotes: 0 };
  const quote: Venue["quote"] = (_, ask) => {
    price.quotes++;
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
  const markets = { hubMints: [], marketsOf: pair, knownMarkets: pair, mint: () => null } as unknown as Markets;
  const head = { clock: () => clock, slotMs: () => 400 };
  const movements = new PriceMovements({ markets, head, now: () => time.ms, pause: async () => undefined });
  const observe = async (times: number, change?: (index: number) => void) => {
    for (let index = 0; index < times; index++) {
      time.ms += PRICE_EVERY_MS;
      change?.(index);
      await movements.observe();
    }
  };
  return { movements, price, time, observe };
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
  expect(movements.note(asked, TRADE)).toMatchObject({ samples: 88, movement: 0.01, quantile: 0.95 });
});

test("pairs, work and memory are bounded, and what nobody quotes is dropped", async () => {
  const { movements, price, observe } = observing();
  for (let pair = 0; pair < 3 * MOST_OBSERVED; pair++) movements.note(intent(), TRADE);
  expect(movements.size).toBe(MOST_OBSERVED);
  await observe(1);
  expect(price.quotes).toBe(MOST_OBSERVED);
  await observe(120);
  expect(movements.size).toBe(0);
});

test("dust is not observed, and gives way to a trade whose price shows; without a state there is no price", async () => {
  const { movements, price, observe } = observing();
  const asked = intent();
  movements.note(asked, { inAmount: 10n, outAmount: 20n });
  await observe(40);
  expect(price.quotes).toBe(0);
  movements.note(asked, TRADE);
  await observe(40);
  expect(movements.note(asked, TRADE).samples).toBe(28);
  price.isKnown = false;
  await observe(10);
  price.isKnown = true;
  await observe(13);
  expect(movements.note(asked, TRADE).samples).toBe(29);
});
