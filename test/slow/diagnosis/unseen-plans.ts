import { createRandom, type Random } from "../../../src/primitives/random.ts";
import * as faults from "./faults.ts";
import { calmWorld, type Plan } from "./plans.ts";
import { endIn, type Fault, isBad, type World, withoutDelay, worldWith } from "./world.ts";

/*
 * Forms written after the rule was changed for delays that do no harm, and not changed since: prices by leader and in spikes
 * that wear off, networks that pause, leaders that return one by one, delays of every size. One to three faults.
 */

const slots = (random: Random, low: number, high: number) => Number(random.between(BigInt(low), BigInt(high)));

/** Raises prices to those of a function: everywhere, or on the trade's accounts only. */
function priced(price: (slot: number) => bigint, everywhere: boolean): Fault {
  const raised = (known: bigint, slot: number) => (price(slot) > known ? price(slot) : known);
  return {
    cause: everywhere ? "priority_low" : "contention",
    apply: (world) => ({
      ...world,
      accountPrice: (slot) => raised(world.accountPrice(slot), slot),
      chainPrice: (slot) => (everywhere ? raised(world.chainPrice(slot), slot) : world.chainPrice(slot)),
    }),
  };
}

/** Each leader has a price of its own for its four slots: most of them above the bid. */
function priceByLeader(random: Random, seed: number, { bid }: World): Fault {
  const share = 0.8 + slots(random, 0, 19) / 100;
  const dear = bid + 1n + random.magnitude(bid * 4n);
  const isDear = (slot: number) => createRandom(seed * 6_151 + Math.floor(slot / 4)).u32() < share * 2 ** 32;
  return priced((slot) => (isDear(slot) ? dear : 0n), random.chance(0.5));
}

/** A spike that wears off, by half each so many slots. */
function wearingSpike(random: Random, { bid }: World): Fault {
  const begin = slots(random, -60, 4);
  const half = slots(random, 4, 60);
  const factor = slots(random, 2, 40);
  const at = (slot: number) =>
    slot < begin ? 0n : (bid * BigInt(Math.round(100 * factor * 0.5 ** ((slot - begin) / half)))) / 100n;
  return priced(at, random.chance(0.5));
}

/** A network that takes nothing for so many of every so many slots. */
function pausingNetwork(random: Random): Fault {
  const period = slots(random, 20, 120);
  const pause = slots(random, 14, period + 6);
  const phase = slots(random, 0, period);
  return {
    cause: "unknown",
    apply: (world) => ({ ...world, passesOn: (slot) => (slot + 1_000 * period + phase) % period >= pause }),
  };
}

/** Leaders absent at first, of whom one after the other returns. */
function returningLeaders(random: Random, seed: number): Fault {
  const over = slots(random, 20, 140);
  return {
    cause: "slots_skipped",
    apply: (world) => ({
      ...world,
      hasBlock: (slot) =>
        world.hasBlock(slot) &&
        (slot < 1 || createRandom(seed * 12_289 + Math.floor(slot / 4)).u32() < (slot / over) * 2 ** 32),
    }),
  };
}

function drawFault(random: Random, seed: number, world: World): Fault {
  const kinds: readonly (() => Fault)[] = [
    () => priceByLeader(random, seed, world),
    () => wearingSpike(random, world),
    () => pausingNetwork(random),
    () => returningLeaders(random, seed),
    () => faults.slowSigner(slots(random, 12, 260)),
    () => faults.oldBlockhash(slots(random, 31, world.left - 1)),
    () => faults.sendersDown(slots(random, 13, world.left + 60)),
    () => faults.droppedBlock(slots(random, 2, 80)),
  ];
  return random.pick(kinds)();
}

/** A plan of one to three faults that ends badly, drawn from the seed. */
export function drawUnseenPlan(seed: number): Plan {
  const random = createRandom(seed);
  for (;;) {
    const calm = calmWorld(random, seed, random.pick([0, 0.1, 0.25]));
    const drawn = Array.from({ length: slots(random, 1, 3) }, () => drawFault(random, seed, calm));
    const base = withoutDelay(calm, drawn);
    const world = worldWith(base, drawn);
    if (new Set(drawn.map(({ cause }) => cause)).size < drawn.length || !isBad(endIn(world), world)) continue;
    const plan = { nodes: slots(random, 1, 3), lag: slots(random, 0, 3), listsPrices: random.chance(0.9) };
    return { name: `unseen, ${seed}`, base, faults: drawn, ...plan };
  }
}
