import type { Random } from "../../../../src/primitives/random.ts";
import type { Moments } from "../lies/stories.ts";
import { CONFIRMED_AFTER, type Fate, FINAL_AFTER, type Told } from "../lies/told-node.ts";

/** What one node says otherwise than its story, from a slot until another. */
export interface Deviation {
  readonly node: number;
  readonly from: number;
  readonly until: number;
  readonly change: Partial<Told>;
}

/** Slots after the last in which the message can land, after which no node deviates. */
const DEVIATES_UNTIL = 120;

/**
 * How nodes deviate from the chain. One of several does so in what it says: it names slots ahead, shows the trade in a block of a branch that
 * is dropped as confirmed, lacks what has landed, or errs about the blockhash. A single one lacks either the status or the record. Any may go
 * back by hundreds of slots, and catch up.
 */
export function drawDeviations(random: Random, nodes: number, truth: Fate, moments: Moments): readonly Deviation[] {
  const deviating = random.u32() % nodes;
  const deviations: Deviation[] = [];
  for (let times = 1 + (random.u32() % 3); times > 0; times--) {
    const change = nodes === 1 ? drawLack(random, 1) : drawChange(random, truth, moments);
    deviations.push({ node: deviating, ...drawSpan(random, truth, moments), change });
  }
  for (let node = 0; node < nodes; node++) {
    if (random.chance(0.7)) continue;
    const lag = random.pick([20, 60, 150, 400]) + (random.u32() % 20);
    deviations.push({ node, ...drawSpan(random, truth, moments), change: { lag } });
  }
  return deviations;
}

/** Around a moment that matters, or anywhere. */
function drawSpan(random: Random, { slot }: Fate, { submitted, last }: Moments): { from: number; until: number } {
  const landed = slot ?? submitted + 5;
  const moments = [
    submitted,
    landed,
    landed + FINAL_AFTER,
    last,
    last + FINAL_AFTER,
    submitted + (random.u32() % last),
  ];
  const from = random.pick(moments) - 12 + (random.u32() % 18);
  const until = from + random.pick([4, 20, 60, 200]) + (random.u32() % 10);
  return { from, until: Math.min(until, last + DEVIATES_UNTIL) };
}

function drawChange(random: Random, truth: Fate, { submitted, last }: Moments): Partial<Told> {
  switch (random.pick(["ahead", "branch", "lacking", "blockhash", "heights"] as const)) {
    case "ahead":
      return { lag: -random.pick([2, 12, 38, 60, 200, 600]) - (random.u32() % 5) };
    case "branch": {
      const slot = submitted + 1 + (random.u32() % Math.max(1, last - submitted));
      const error = random.pick([null, null, "AccountInUse", { InstructionError: [0, { Custom: 1 }] }]);
      const finalAfter = random.chance(0.3) ? FINAL_AFTER : 1_000;
      const form = random.chance(0.3) ? 1 : 0;
      return {
        fate: { ...truth, slot: random.chance(0.8) ? slot : undefined, error, form },
        confirmedAfter: CONFIRMED_AFTER,
        finalAfter,
      };
    }
    case "lacking":
      return drawLack(random, 3);
    case "blockhash":
      return { isAccepted: random.chance(0.5) };
    case "heights":
      return { moreHeight: random.pick([-150, -40, 40, 151, 400]), earlyFinality: random.pick([0, FINAL_AFTER]) };
  }
}

/** @param most kinds of what it lacks */
function drawLack(random: Random, most: number): Partial<Told> {
  const lacks: Partial<Told>[] = [{ hasStatus: false }, { hasRecord: false }];
  if (most > 1) lacks.push({ listing: random.chance(0.5) ? "old alone" : "empty" });
  const isOf = lacks.map(() => random.chance(0.6));
  const lacking = lacks.filter((_, i) => isOf[i]).slice(0, most);
  return Object.assign({}, ...(lacking.length === 0 ? [lacks[0]] : lacking));
}
