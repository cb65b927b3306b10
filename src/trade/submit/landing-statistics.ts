import { PRIORITY_LEVELS, type Priority } from "../../chain/port.ts";
import type { Now } from "../../primitives/clock.ts";
import type { LandingSummary, SenderSummary, TradeEvent } from "../trade.ts";

/** A submission that this process followed to its end. */
interface FollowedSubmission {
  /** OK, the code of its failure, or PENDING if the chain has not decided. */
  readonly code: string;
  readonly events: readonly TradeEvent[];
  /** The level it was built for; undefined in tokens of earlier releases. */
  readonly priority: Priority | undefined;
  /** Newest slot known when it was submitted here. */
  readonly fromSlot: bigint | undefined;
}

/** Submissions kept for each level and sender, and for how long. */
const MAX_SAMPLE = 500;
const KEPT_MS = 24 * 3_600_000;
/** Ends of submissions that never got into a block. */
const NEVER_LANDED = new Set(["TX_EXPIRED", "OUTCOME_UNKNOWN"]);

interface Sample {
  readonly atMs: number;
  readonly landed: boolean;
  readonly slots: number | undefined;
}

/** How submissions of the last day landed, by priority level and by sender, as this process saw it. */
export class LandingStatistics {
  readonly #monotonicMs: Now;
  readonly #byLevel = new Map<Priority, Sample[]>(PRIORITY_LEVELS.map((level) => [level, []]));
  readonly #bySender = new Map<string, Sample[]>();
  readonly #refused = new Map<string, Sample[]>();

  constructor(monotonicMs: Now) {
    this.#monotonicMs = monotonicMs;
  }

  /** Counts a submission; one whose end is unknown is ignored. */
  record({ code, events, priority, fromSlot }: FollowedSubmission): void {
    const atMs = this.#monotonicMs();
    const landed = !NEVER_LANDED.has(code);
    const slot = events.findLast((event) => event.slot !== undefined)?.slot;
    const slots = landed && slot !== undefined && fromSlot !== undefined ? Number(slot - fromSlot) : undefined;
    const sample = { atMs, landed, slots: slots === undefined ? undefined : Math.max(0, slots) };
    for (const sender of sendersOf(events, "refused")) add(this.#refused, sender, sample);
    if (code === "PENDING") return;
    const accepted = sendersOf(events, "sent");
    for (const sender of accepted) add(this.#bySender, sender, sample);
    // Without a broadcast from here, another process landed it.
    if (priority !== undefined && accepted.length > 0) add(this.#byLevel, priority, sample);
  }

  /** How the submissions of a level ended. */
  ofLevel(level: Priority): LandingSummary {
    const samples = this.#recent(this.#byLevel.get(level));
    const slots = samples.flatMap((sample) => sample.slots ?? []).sort((a, b) => a - b);
    const landed = samples.filter((sample) => sample.landed).length;
    return {
      sample: samples.length,
      landedShare: samples.length === 0 ? undefined : landed / samples.length,
      slots: slots[Math.ceil(slots.length / 2) - 1],
      slotsP90: slots[Math.ceil(slots.length * 0.9) - 1],
    };
  }

  /** How the submissions that a sender accepted ended; undefined if nothing was sent to it. */
  ofSender(name: string): SenderSummary | undefined {
    const samples = this.#recent(this.#bySender.get(name));
    const refused = this.#recent(this.#refused.get(name)).length;
    if (samples.length + refused === 0) return undefined;
    const landed = samples.filter((sample) => sample.landed).length;
    return { sample: samples.length, landedShare: samples.length === 0 ? 0 : landed / samples.length, refused };
  }

  #recent(samples: readonly Sample[] = []): readonly Sample[] {
    const sinceMs = this.#monotonicMs() - KEPT_MS;
    return samples.filter(({ atMs }) => atMs > sinceMs);
  }
}

/** The senders that events of the kind name, each once. */
function sendersOf(events: readonly TradeEvent[], kind: TradeEvent["kind"]): readonly string[] {
  const senders: string[] = [];
  for (const event of events)
    if (event.kind === kind && event.sender !== undefined && !senders.includes(event.sender))
      senders.push(event.sender);
  return senders;
}

function add<K>(all: Map<K, Sample[]>, key: K, sample: Sample): void {
  const samples = all.get(key) ?? [];
  samples.push(sample);
  if (samples.length > MAX_SAMPLE) samples.shift();
  all.set(key, samples);
}
