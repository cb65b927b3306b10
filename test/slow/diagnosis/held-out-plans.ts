import { createRandom, type Random } from "../../../src/primitives/random.ts";
import * as faults from "./faults.ts";
import { calmWorld, type Plan } from "./plans.ts";
import { endIn, type Fault, isBad, type World, withoutDelay, worldWith } from "./world.ts";

/*
 * Forms of trouble that no bound of the rule was chosen on: prices that rise, fall and swing, senders that take every so many
 * slots, leaders that are absent four slots at a time, whole outages within a life. The rule was changed later, on misses of
 * the other kinds: `unseen-plans.ts` has what was written after that. When it is changed again, hold out new ones.
 */

type PriceAt = (slot: number) => bigint;

/** Raises prices to those of a function: everywhere, or on the trade's accounts only. */
function priced(price: PriceAt, everywhere: boolean): Fault {
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

const slots = (random: Random, low: number, high: number) => Number(random.between(BigInt(low), BigInt(high)));

/** A price that falls, or rises, through the bid in the trade's life. */
function slopingPrice(random: Random, { bid }: World): Fault {
  const crossing = slots(random, 16, 200);
  const perSlot = random.between(1n, 20n) * (random.chance(0.7) ? -1n : 1n);
  const at: PriceAt = (slot) => bid + 1n + (bid * perSlot * BigInt(slot - crossing)) / 1_000n;
  return priced(at, random.chance(0.5));
}

/** A price that swings around one above the bid. */
function swingingPrice(random: Random, { bid }: World): Fault {
  const period = slots(random, 30, 400);
  const phase = slots(random, 0, period);
  const at: PriceAt = (slot) => {
    const percent = 120 + 60 * Math.sin((2 * Math.PI * (slot + phase)) / period);
    return (bid * BigInt(Math.round(percent))) / 100n;
  };
  return priced(at, random.chance(0.5));
}

/** Leaders absent four slots at a time: this many of every ten turns. */
function absentTurns(random: Random): Fault {
  const absent = slots(random, 6, 9);
  const first = slots(random, 0, 9);
  const until = slots(random, 20, 120);
  return {
    cause: "slots_skipped",
    apply: (world) => ({
      ...world,
      hasBlock: (slot) =>
        world.hasBlock(slot) && (slot < 1 || slot > until || (Math.floor(slot / 4) * 7 + first) % 10 >= absent),
    }),
  };
}

/** A network that takes nothing for a while, though senders accept. */
function blackHole(random: Random, { left }: World): Fault {
  const from = slots(random, -20, 2);
  const to = slots(random, 13, left + 40);
  return {
    cause: "unknown",
    apply: (world) => ({ ...world, passesOn: (slot) => (slot < from || slot >= to) && world.passesOn(slot) }),
  };
}

function drawFault(random: Random, world: World): Fault {
  const kinds: readonly (() => Fault)[] = [
    () => slopingPrice(random, world),
    () => swingingPrice(random, world),
    () => absentTurns(random),
    () => blackHole(random, world),
    () => faults.slowSigner(slots(random, 60, 300)),
    () => faults.oldBlockhash(slots(random, 60, world.left - 1)),
    () => faults.sendersDown(slots(random, 13, 2 * world.left)),
    () => faults.droppedBlock(slots(random, 6, 100)),
  ];
  return random.pick(kinds)();
}

/** A plan of one or two faults that ends badly, drawn from the seed. */
export function drawHeldOutPlan(seed: number): Plan {
  const random = createRandom(seed);
  for (;;) {
    const calm = calmWorld(random, seed, random.pick([0, 0.15, 0.35]));
    const drawn = Array.from({ length: slots(random, 1, 2) }, () => drawFault(random, calm));
    const base = withoutDelay(calm, drawn);
    const world = worldWith(base, drawn);
    if (new Set(drawn.map(({ cause }) => cause)).size < drawn.length || !isBad(endIn(world), world)) continue;
    const plan = { nodes: slots(random, 1, 3), lag: slots(random, 0, 3), listsPrices: random.chance(0.9) };
    return { name: `held out, ${seed}`, base, faults: drawn, ...plan };
  }
}
