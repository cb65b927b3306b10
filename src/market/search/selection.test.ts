import { describe, expect, test } from "vitest";
import { TradewireError } from "../../errors/tradewire-error.ts";
import { Address } from "../../primitives/address.ts";
import { createRandom } from "../../primitives/random.ts";
import { SOL_MINT } from "../../solana/programs.ts";
import type { Ask, Market, Venue } from "../../venues/venue.ts";
import { chooseBest } from "./selection.ts";

const random = createRandom(70);
const [COIN, USD] = [random.bytes(32), random.bytes(32)].map((bytes) => Address.from(bytes)) as [Address, Address];
const CLOCK = { slot: 1n, epoch: 1n, unixTimestamp: 1n };
type Reserves = ReadonlyMap<Address, bigint>;

/** Constant products without a fee. */
const venue = {
  id: "products",
  quote(reserves: Reserves, { inMint, outMint, amount }: Ask) {
    const [held, paid] = [reserves.get(inMint)!, reserves.get(outMint)!];
    const outAmount = (paid * amount) / (held + amount);
    if (outAmount === 0n) throw new TradewireError("VALIDATION_ERROR", "too small");
    return { inAmount: amount, outAmount, priceImpact: Number(amount) / Number(held + amount) };
  },
} as unknown as Venue;

const pool = (name: string, reserves: readonly (readonly [Address, bigint])[]) => ({
  name,
  venue,
  market: {} as Market,
  state: new Map(reserves),
});

/** Whole units, of six decimals. */
const ONE = 1_000_000n;

describe.each([
  { mint: "a dollar coin", quote: USD, unit: ONE },
  { mint: "SOL", quote: SOL_MINT, unit: 10_000_000n },
])("among pools of $mint", ({ quote, unit }) => {
  // The coin is worth a hundred-thousandth of the quote: 10,000 of it buy almost nothing.
  const pair = (name: string, worth: bigint, premium = 1_000n) =>
    pool(name, [
      [COIN, (worth * 100_000n * ONE * premium) / 1_000n],
      [quote, worth * unit],
    ]);
  const small = Array.from({ length: 70 }, (_, index) => pair(`small ${index}`, 3n, 1_000n + BigInt(index)));
  const deep = pair("deep", 100_000n);

  test.each([
    { a: COIN, b: quote },
    { a: quote, b: COIN },
  ])("the deepest is kept, however many small ones have a better price", async (mints) => {
    const chosen = await chooseBest([...small, deep], { pair: mints, limit: 8, clock: CLOCK });
    expect([...chosen].map(({ name }) => name)).toContain("deep");
    expect(chosen.size).toBe(8);
  });

  test("small pools with the best price keep their places too", async () => {
    const chosen = await chooseBest([...small, deep], { pair: { a: COIN, b: quote }, limit: 8, clock: CLOCK });
    const names = [...chosen].map(({ name }) => name);
    expect(names.filter((name) => name.startsWith("small")).length).toBeGreaterThan(0);
  });
});
