import { createRandom, type Random } from "../../../src/primitives/random.ts";
import * as faults from "./faults.ts";
import { endIn, type Fault, isBad, LIFE, type World, withoutDelay, worldWith } from "./world.ts";

/** A trade, what goes wrong with it, and what the nodes show. */
export interface Plan {
  readonly name: string;
  readonly base: World;
  readonly faults: readonly Fault[];
  /** Nodes configured. */
  readonly nodes: number;
  /** False: no node lists prices. */
  readonly listsPrices: boolean;
  /** Slots by which the service's view of the chain is behind. */
  readonly lag: number;
}

/** A trade that lands at once, but for a leader that now and then loses what it is sent. */
export function calmWorld(random: Random, seed: number, loss: number): World {
  const bid = random.between(1_000n, 100_000n);
  const signed = Number(random.between(0n, 6n));
  const leftAtBuild = LIFE - Number(random.between(1n, 8n));
  const at = (slot: number, salt: number) => createRandom(seed * 1_000_003 + slot * 31 + salt).u32() / 2 ** 32;
  return {
    bid,
    leftAtBuild,
    left: leftAtBuild - signed,
    submitted: 0,
    droppedFor: undefined,
    hasBlock: () => true,
    chainPrice: (slot) => (bid * BigInt(Math.floor(at(slot, 1) * 30))) / 100n,
    accountPrice: (slot) => (bid * BigInt(30 + Math.floor(at(slot, 2) * 65))) / 100n,
    accepts: () => true,
    passesOn: () => true,
    loses: (slot) => at(slot, 3) < loss,
    holds: () => 1_000_000_000n,
  };
}

/** One of the faults, with parameters drawn at random. */
export function drawFault(random: Random, { left, bid }: World): Fault {
  const slots = (low: number, high: number) => Number(random.between(BigInt(low), BigInt(high)));
  const kinds: readonly (() => Fault)[] = [
    () => faults.slowSigner(slots(left - 6, left + 60)),
    () => faults.oldBlockhash(slots(left - 8, left - 1)),
    () => faults.sendersDown(random.chance(0.4) ? Number.POSITIVE_INFINITY : slots(14, left - 2)),
    () => faults.sendersSwallow(random.chance(0.5) ? Number.POSITIVE_INFINITY : slots(14, left - 2)),
    () => faults.highPrice(-200, random.chance(0.6) ? 400 : slots(14, left), dearer(random, bid), true),
    () => faults.highPrice(-200, random.chance(0.6) ? 400 : slots(14, left), dearer(random, bid), false),
    () => faults.absentLeaders(0, slots(16, 80), slots(6, 20)),
    () => faults.droppedBlock(slots(12, 40)),
  ];
  return random.pick(kinds)();
}

/** A price above the bid: by a thousandth, or many times as much. */
const dearer = (random: Random, bid: bigint): bigint => bid + 1n + random.magnitude(bid * 50n);

/** A plan with this many faults that ends badly, drawn from the seed. */
export function drawPlan(seed: number, count: number): Plan {
  const random = createRandom(seed);
  for (;;) {
    const calm = calmWorld(random, seed, random.pick([0, 0, 0.2, 0.4]));
    const drawn = Array.from({ length: count }, () => drawFault(random, calm));
    const causes = new Set(drawn.map(({ cause }) => cause));
    const base = withoutDelay(calm, drawn);
    const world = worldWith(base, drawn);
    if (causes.size < count || !isBad(endIn(world), world)) continue;
    const nodes = random.chance(0.75) ? 2 : 1;
    const listsPrices = random.chance(0.9);
    const lag = Number(random.between(0n, 2n));
    return { name: `${count} drawn from ${seed}`, base, faults: drawn, nodes, listsPrices, lag };
  }
}
