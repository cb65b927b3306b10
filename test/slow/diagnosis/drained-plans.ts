import { createRandom } from "../../../src/primitives/random.ts";
import { emptyWallet } from "./faults.ts";
import { calmWorld, drawFault, type Plan } from "./plans.ts";
import { endIn, FEE, isBad, LEAST, withoutDelay, worldWith } from "./world.ts";

/** A trade whose wallet is emptied before it is submitted or soon after, drawn from the seed; half of them have a fault besides. */
export function drawDrainedPlan(seed: number): Plan {
  const random = createRandom(seed);
  for (;;) {
    const calm = calmWorld(random, seed, random.pick([0, 0, 0.2, 0.4]));
    const left = random.pick([0n, random.between(1n, FEE - 1n), FEE + random.between(1n, LEAST - 1n)]);
    const from = random.chance(0.7) ? -400 : Number(random.between(0n, 3n));
    const drawn = [emptyWallet(from, left), ...(random.chance(0.5) ? [drawFault(random, calm)] : [])];
    const base = withoutDelay(calm, drawn);
    const world = worldWith(base, drawn);
    if (!isBad(endIn(world), world)) continue;
    const nodes = random.chance(0.75) ? 2 : 1;
    const lag = Number(random.between(0n, 2n));
    return { name: `drained from ${seed}`, base, faults: drawn, nodes, listsPrices: random.chance(0.9), lag };
  }
}
