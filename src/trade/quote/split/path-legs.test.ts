import { expect, test } from "vitest";
import { Address } from "../../../primitives/address.ts";
import { createRandom, type Random } from "../../../primitives/random.ts";
import type { SwapMode } from "../../../venues/venue.ts";
import type { RouteStep } from "../route.ts";
import { pathsOfSteps } from "./path-legs.ts";

const NETWORKS = 3_000;
const addressOf = (place: number) => Address.from(new Uint8Array(32).fill(place));
const [INPUT, HUB, FAR_HUB, OUTPUT] = [1, 2, 3, 4].map(addressOf) as [Address, Address, Address, Address];

function stepOf(place: number, from: Address, to: Address, inAmount: bigint, outAmount: bigint, threshold: bigint) {
  const hot = { venue: { id: `venue_${place}` }, market: { address: addressOf(place) } };
  return { hot, quote: { inMint: from, outMint: to, inAmount, outAmount }, threshold } as unknown as RouteStep;
}

/** What each market of a route trades, by the legs that name it. */
function tradedBy(mode: SwapMode, steps: readonly RouteStep[]): readonly (readonly [bigint, bigint])[] {
  const legs = pathsOfSteps(mode, steps, INPUT, OUTPUT);
  return steps.map(({ hot }) => {
    const own = legs.filter(({ market }) => market === hot.market.address);
    return [own.reduce((sum, leg) => sum + leg.inAmount, 0n), own.reduce((sum, leg) => sum + leg.outAmount, 0n)];
  });
}

test.each(["exactIn", "exactOut"] as const)(
  "two units of input that two paths share leave none of them out, %s",
  (mode) => {
    const steps = [
      stepOf(11, INPUT, HUB, 2n, 2_393_069n, mode === "exactIn" ? 2_393_069n : 2n),
      stepOf(12, HUB, OUTPUT, 2_300_000n, 44_009_449n, mode === "exactIn" ? 44_009_449n : 2_300_000n),
      stepOf(13, HUB, OUTPUT, 93_069n, 972_102_303n, mode === "exactIn" ? 972_102_303n : 93_069n),
    ];
    expect(tradedBy(mode, steps)).toEqual(steps.map(({ quote }) => [quote.inAmount, quote.outAmount]));
    const shares = pathsOfSteps(mode, steps, INPUT, OUTPUT).map(({ path, sharePpb }) => [path, sharePpb]);
    expect(new Set(shares.map(([path]) => path))).toEqual(new Set([0, 1]));
    expect(shares.every(([, share]) => share! > 0)).toBe(true);
  },
);

type StepTerms = readonly [from: Address, to: Address, inAmount: bigint, outAmount: bigint, threshold: bigint];
const dust: Record<SwapMode, readonly StepTerms[]> = {
  exactIn: [
    [INPUT, HUB, 3n, 15n, 15n],
    [INPUT, HUB, 1n, 4n, 3n],
    [HUB, FAR_HUB, 4n, 396n, 396n],
    [HUB, FAR_HUB, 3n, 6n, 6n],
    [HUB, FAR_HUB, 11n, 14n, 13n],
    [FAR_HUB, OUTPUT, 407n, 18_145_124n, 18_145_124n],
    [FAR_HUB, OUTPUT, 8n, 498_145_123_214n, 498_145_123_213n],
  ],
  exactOut: [
    [INPUT, HUB, 180n, 167n, 181n],
    [HUB, FAR_HUB, 163n, 874n, 164n],
    [HUB, FAR_HUB, 1n, 415_727_334n, 1n],
    [HUB, FAR_HUB, 1n, 7n, 2n],
    [FAR_HUB, OUTPUT, 17_369_873n, 16_350n, 17_369_874n],
    [FAR_HUB, OUTPUT, 143_643_260n, 201_842n, 143_643_260n],
    [FAR_HUB, OUTPUT, 254_715_081n, 463n, 254_715_081n],
  ],
};

test.each(["exactIn", "exactOut"] as const)(
  "a market that a path of next to nothing would go before is on a path too, %s",
  (mode) => {
    const steps = dust[mode].map((terms, place) => stepOf(11 + place, ...terms));
    expect(tradedBy(mode, steps)).toEqual(steps.map(({ quote }) => [quote.inAmount, quote.outAmount]));
  },
);

test("an exact output of which every path carries less than a unit has shares all the same", () => {
  const steps = [
    stepOf(11, INPUT, HUB, 3n, 14_682n, 4n),
    stepOf(12, INPUT, HUB, 4n, 5_493_312n, 4n),
    stepOf(13, HUB, FAR_HUB, 4_603_807n, 12n, 4_603_808n),
    stepOf(14, HUB, FAR_HUB, 904_186n, 30_023_347_387n, 904_186n),
    stepOf(15, FAR_HUB, OUTPUT, 30_023_347_399n, 46n, 30_023_347_399n),
  ];
  expect(tradedBy("exactOut", steps)).toEqual(steps.map(({ quote }) => [quote.inAmount, quote.outAmount]));
  const legs = pathsOfSteps("exactOut", steps, INPUT, OUTPUT);
  const shares = new Map(legs.map(({ path, sharePpb }) => [path, sharePpb!]));
  expect(Math.abs([...shares.values()].reduce((sum, share) => sum + share, 0) - 1e9)).toBeLessThan(10);
});

test(`the legs of ${NETWORKS} routes add up to what each market trades`, () => {
  const random = createRandom(71);
  for (let drawn = 0; drawn < NETWORKS; drawn++) {
    const mode = random.pick(["exactIn", "exactOut"] as const);
    const steps = drawSteps(mode, random);
    const what = `network ${drawn}, ${mode}`;
    expect(tradedBy(mode, steps), what).toEqual(steps.map(({ quote }) => [quote.inAmount, quote.outAmount]));
    const legs = pathsOfSteps(mode, steps, INPUT, OUTPUT);
    expect([...new Set(legs.map(({ path }) => path))], what).toEqual(
      Array.from({ length: legs.at(-1)!.path! + 1 }, (_, path) => path),
    );
  }
});

/** Markets from the input over one or two hubs to the output: of what arrives at each mint all is taken, or nearly. */
function drawSteps(mode: SwapMode, random: Random): readonly RouteStep[] {
  const mints = random.chance(0.5) ? [INPUT, HUB, OUTPUT] : [INPUT, HUB, FAR_HUB, OUTPUT];
  const steps: RouteStep[] = [];
  let arriving = random.magnitude(10n ** 12n) + 1n;
  for (let leg = 0; leg + 1 < mints.length; leg++) {
    const parts = partsOf(arriving, random);
    let left = 0n;
    for (const part of parts) {
      const out = random.magnitude(10n ** 12n) + 3n;
      const slack = random.below(2n);
      const threshold = mode === "exactIn" ? out - slack : part;
      const inAmount = mode === "exactIn" || part === 1n ? part : part - slack;
      steps.push(stepOf(11 + steps.length, mints[leg]!, mints[leg + 1]!, inAmount, out, threshold));
      left += mode === "exactIn" ? threshold : out;
    }
    arriving = left;
  }
  return steps;
}

function partsOf(amount: bigint, random: Random): readonly bigint[] {
  const count = Number(random.between(1n, 3n));
  const parts: bigint[] = [];
  let left = amount;
  for (let place = 1; place < count && left > 1n; place++) {
    const part = random.between(1n, left - 1n);
    parts.push(part);
    left -= part;
  }
  return [...parts, left];
}
