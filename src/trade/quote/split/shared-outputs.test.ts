import { expect, test } from "vitest";
import type { HotMarket } from "../../../market/port.ts";
import { Address } from "../../../primitives/address.ts";
import { ceilDiv } from "../../../primitives/integer.ts";
import type { Ask, Quote, Venue } from "../../../venues/venue.ts";
import type { Intent } from "../../intent.ts";
import type { Route } from "../route.ts";
import { realizePlan } from "./realize.ts";

const [A, HUB, B] = [1, 2, 3].map((byte) => Address.from(new Uint8Array(32).fill(byte))) as [Address, Address, Address];
const CLOCK = { slot: 1n, epoch: 1n, unixTimestamp: 1n };

/** What a market takes for a thousand units. */
interface Price {
  readonly perThousand: bigint;
}

/** Markets of one vault: each trade raises the price of all others by a thousandth of what it takes. */
const sharing = {
  id: "sharing",
  quote: ({ perThousand }: Price, { mode, inMint, outMint, amount }: Ask) =>
    ({ mode, inMint, outMint, inAmount: ceilDiv(amount * perThousand, 1_000n), outAmount: amount }) as Quote,
  after: (_: Price, { inAmount }: Quote, { perThousand }: Price) => ({ perThousand: perThousand + inAmount / 1_000n }),
} as unknown as Venue;

const hotAt = (byte: number, venue = sharing): HotMarket =>
  ({
    venue,
    market: { address: Address.from(new Uint8Array(32).fill(byte)) },
    state: { perThousand: 1_100n },
    slot: 1n,
  }) as unknown as HotMarket;

/** A purchase of 100,000 units, half of it directly and half through the hub. */
function bought(venue = sharing): Route | HotMarket | "unordered" {
  const mint = (address: Address) => ({ address });
  const intent = { inMint: mint(A), outMint: mint(B), mode: "exactOut", amount: 100_000n, slippagePpb: 0n } as Intent;
  const plan = [
    { hot: hotAt(8, venue), inMint: A, outMint: B, weight: 1 },
    { hot: hotAt(9, venue), inMint: A, outMint: HUB, weight: 1 },
    { hot: hotAt(10, venue), inMint: HUB, outMint: B, weight: 1 },
  ];
  return realizePlan(intent, plan, CLOCK);
}

test("an exact output over parallel paths is quoted on the states that its own trades leave", () => {
  const { steps, outAmount } = bought() as Route;
  expect(outAmount).toBe(100_000n);
  const states = steps.map(({ hot }) => hot.state);
  for (const [index, { quote }] of steps.entries()) {
    const { mode, inMint, outMint, outAmount: amount } = quote;
    expect(sharing.quote(states[index], { mode, inMint, outMint, amount, clock: CLOCK })).toEqual(quote);
    for (let later = index + 1; later < states.length; later++)
      states[later] = sharing.after!(states[index], quote, states[later]);
  }
});

test("markets whose trades do not settle on amounts are not combined", () => {
  let quotes = 0n;
  const restless = {
    ...sharing,
    quote: (state: Price, ask: Ask) => sharing.quote({ perThousand: state.perThousand + quotes++ }, ask),
  } as unknown as Venue;
  expect(bought(restless)).toMatchObject({ venue: restless });
});

test("markets whose state after another's trade is not known are not combined", () => {
  const unknown = {
    ...sharing,
    after: () => {
      throw new RangeError("not known");
    },
  } as unknown as Venue;
  expect(bought(unknown)).toMatchObject({ venue: unknown });
});
