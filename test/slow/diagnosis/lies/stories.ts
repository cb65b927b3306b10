import type { Random } from "../../../../src/primitives/random.ts";
import { CONFIRMED_AFTER, type Fate, FINAL_AFTER, type Told } from "./told-node.ts";

/** What a node says from each slot on. */
export type Story = readonly { readonly from: number; readonly told: Told }[];

/** The slots that stories are drawn around. */
export interface Moments {
  readonly submitted: number;
  /** The last slot that the message can land in. */
  readonly last: number;
}

const NEVER: Fate = { slot: undefined, error: null, form: 0, moreFee: 0, moreOutput: 0 };
const ERRORS = [{ InstructionError: [0, { Custom: 1 }] }, { InstructionError: [0, { Custom: 6005 }] }, "AccountInUse"];
/** Methods that nodes refuse, or answer with an error. */
export const METHODS = [
  "getTransaction",
  "getSignatureStatuses",
  "getEpochInfo",
  "isBlockhashValid",
  "getSignaturesForAddress",
];
const BEFORE = Number.NEGATIVE_INFINITY;

const int = (random: Random, low: number, high: number) => Number(random.between(BigInt(low), BigInt(high)));

/** How the trade truly ends. */
export function drawTruth(random: Random, { submitted, last }: Moments): Fate {
  if (random.chance(0.35)) return NEVER;
  const soon = Math.min(last, submitted + int(random, 1, 12));
  const slot = random.chance(0.6) ? soon : int(random, random.chance(0.3) ? last - 8 : 1, last);
  return {
    ...NEVER,
    slot,
    error: random.chance(0.25) ? random.pick(ERRORS) : null,
    form: random.chance(0.12) ? 1 : 0,
  };
}

const trueWord = (fate: Fate): Told => ({
  fate,
  lag: 0,
  moreHeight: 0,
  earlyFinality: 0,
  confirmedAfter: CONFIRMED_AFTER,
  finalAfter: FINAL_AFTER,
  historyFrom: BEFORE,
  hasStatus: true,
  hasRecord: true,
  isAccepted: undefined,
  listing: "true",
  latencyMs: 20,
  isSilent: false,
  refused: undefined,
  failing: undefined,
});

/** An honest node, which lags, is slow, starts again with a short history, or fails in one method for up to three seconds. */
export function drawHonest(random: Random, truth: Fate, { last }: Moments): Story {
  const told = { ...trueWord(truth), lag: int(random, 0, 3), latencyMs: random.pick([5, 20, 80, 300, 600]) };
  const story = [{ from: BEFORE, told }];
  const then = (from: number, change: Partial<Told>) => {
    const before = story.findLast((one) => one.from <= from)!.told;
    story.push({ from, told: { ...before, ...change } });
    story.sort((a, b) => a.from - b.from);
  };
  if (random.chance(0.25)) then(int(random, 1, last + 90), { lag: int(random, 0, random.pick([5, 12, 40])) });
  if (random.chance(0.1)) then(int(random, 1, last + 40), { historyFrom: int(random, 1, last + 40) });
  if (random.chance(0.4)) {
    const from = story.at(-1)!.from === BEFORE ? int(random, 1, last + 60) : story.at(-1)!.from + 9;
    then(from, { failing: random.pick(METHODS) });
    then(from + int(random, 1, 7), { failing: undefined });
  }
  return story;
}

/** The node, which gives no answer for a while. */
export function withSilence(random: Random, story: Story, { submitted, last }: Moments): Story {
  const from = int(random, submitted - 5, Math.max(submitted, last) + 40);
  const until = from + int(random, 8, 80);
  const change = (one: Story[number], isSilent: boolean) => ({ from: one.from, told: { ...one.told, isSilent } });
  const at = (slot: number) => ({ from: slot, told: story.findLast((one) => one.from <= slot)!.told });
  return [
    ...story.filter((one) => one.from < from),
    change(at(from), true),
    ...story.filter((one) => one.from > from && one.from < until).map((one) => change(one, true)),
    at(until),
    ...story.filter((one) => one.from > until),
  ];
}

/** A node that tells false stories, each the same in all methods, and turns to another at a moment that matters, or at any. */
export function drawLiar(random: Random, truth: Fate, { submitted, last }: Moments): Story {
  const landed = truth.slot ?? last;
  const turning = [submitted, landed, landed + FINAL_AFTER, last, last + FINAL_AFTER, int(random, 0, last + 90)];
  const turns = Array.from({ length: int(random, 0, 4) }, () => random.pick(turning) + int(random, -3, 5));
  const latencyMs = random.pick([1, 5, 20, 80, 300, 600]);
  return [BEFORE, ...turns.sort((a, b) => a - b)].map((from) => ({
    from,
    told: {
      fate: drawLie(random, truth, { last, from: Math.max(0, from) }),
      lag: random.chance(0.6) ? int(random, 0, 2) : random.pick([-60, -38, -12, -5, 5, 20, 60, 400]),
      moreHeight: random.chance(0.75) ? 0 : random.pick([-2_000, -200, -48, -8, 8, 48, 151, 200, 2_000]),
      earlyFinality: random.chance(0.6) ? 0 : random.pick([FINAL_AFTER, 20, 200, -50]),
      confirmedAfter: random.pick([0, CONFIRMED_AFTER, CONFIRMED_AFTER, 1_000]),
      finalAfter: random.pick([0, FINAL_AFTER, FINAL_AFTER, 1_000]),
      historyFrom: random.chance(0.9) ? BEFORE : int(random, 0, 200),
      hasStatus: random.chance(0.85),
      hasRecord: random.chance(0.85),
      isAccepted: random.pick([undefined, undefined, true, false]),
      listing: random.pick(["true", "true", "empty", "old alone", "a foreign signature"] as const),
      latencyMs,
      isSilent: random.chance(0.1),
      refused: random.chance(0.3) ? random.pick(METHODS) : undefined,
      failing: random.chance(0.15) ? random.pick(METHODS) : undefined,
    },
  }));
}

function drawLie(random: Random, truth: Fate, { last, from }: { readonly last: number; readonly from: number }): Fate {
  const slot = truth.slot ?? int(random, 1, last);
  const error = random.chance(0.5) ? random.pick(ERRORS) : null;
  return random.pick<Fate>([
    truth,
    NEVER,
    { ...truth, slot, error: truth.error === null ? random.pick(ERRORS) : null },
    { ...truth, slot, moreFee: random.pick([1, -77, 1_000]) },
    { ...truth, slot, moreOutput: random.pick([1, -1, 42, -42]) },
    { ...truth, slot: Math.max(0, slot + random.pick([-40, -3, -1, 1, 2, 5, 30, 60])), error },
    { ...NEVER, slot: int(random, 0, last + 40), error },
    { ...NEVER, slot: from + int(random, 0, 20), error },
    { ...truth, slot, form: truth.form === 0 ? 1 : 0 },
  ]);
}
