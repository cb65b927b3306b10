import type { DiagnosisCause } from "../../../src/trade/submit/diagnosis/diagnosis.ts";

/** Blocks in which a message can land. */
export const LIFE = 151;
/** Slots after submit in which a trade that lands is not late. */
export const IN_TIME = 12;
/** Slots for which a leader keeps what it was sent. */
const KEPT_SLOTS = 2;

/** The conditions of one trade, by slot; it is submitted in slot 0. Prices in micro-lamports per compute unit. */
export interface World {
  readonly bid: bigint;
  /** Blocks of its life left when it was built and when it was submitted. */
  readonly leftAtBuild: number;
  readonly left: number;
  /** Slot of the submit; below 0 if a delay is thought away. */
  readonly submitted: number;
  /** True if the slot has a block. */
  hasBlock(slot: number): boolean;
  /** The lowest prices that land in the slot, on the chain and on the trade's accounts. */
  chainPrice(slot: number): bigint;
  accountPrice(slot: number): bigint;
  /** True if the senders accept transactions in the slot, and pass what they accept on. */
  accepts(slot: number): boolean;
  passesOn(slot: number): boolean;
  /** True if the leader of the slot loses what it is sent. */
  loses(slot: number): boolean;
  /** What the wallet holds in the slot. Lamports. */
  holds(slot: number): bigint;
  /** Slots for which the chain is without the trade after a block with it is dropped; undefined if none is dropped. */
  readonly droppedFor: number | undefined;
}

/** Something that goes wrong: the cause that the service should name, unknown if it cannot observe it. */
export interface Fault {
  readonly cause: DiagnosisCause;
  /** Slots by which the trade would have been submitted earlier without it. */
  readonly delay?: number;
  apply(world: World): World;
}

/** How a trade ends, by the rules of this model. */
export interface End {
  /** The slot it lands in for good; undefined if it expires. */
  readonly landed: number | undefined;
  /** The slot of a block with it that was dropped. */
  readonly dropped: number | undefined;
}

/** How the trade ends if it is sent again in every slot. */
export function endIn(world: World): End {
  let dropped: number | undefined;
  let height = 0;
  for (let slot = world.submitted + 1; height < world.left; slot++) {
    if (!world.hasBlock(slot)) continue;
    height += 1;
    let isWithLeader = false;
    for (let sent = slot - KEPT_SLOTS; sent < slot; sent++)
      isWithLeader ||= sent >= world.submitted && world.accepts(sent) && world.passesOn(sent);
    if (!isWithLeader || !canLand(world, slot, dropped)) continue;
    if (world.droppedFor === undefined || dropped !== undefined) return { landed: slot, dropped };
    dropped = slot;
  }
  return { landed: undefined, dropped };
}

/** True if a leader that has the trade puts it into the slot's block. */
export function canLand(world: World, slot: number, dropped: number | undefined): boolean {
  if (dropped !== undefined && slot <= dropped + world.droppedFor!) return false;
  return world.bid >= world.accountPrice(slot) && !world.loses(slot) && canPay(world.holds(slot));
}

/** What the trade costs its wallet before anything else, and what may not be left over. Lamports. */
export const FEE = 5_077n;
export const LEAST = 634_720n;

const canPay = (lamports: bigint): boolean => lamports === FEE || lamports >= FEE + LEAST;

/** True if the caller would want to know why. */
export const isBad = ({ landed }: End, { submitted }: World): boolean =>
  landed === undefined || landed - submitted > IN_TIME;

/** The world before the faults: submitted as early as it would be without those that delay it. */
export const withoutDelay = (base: World, faults: readonly Fault[]): World => ({
  ...base,
  submitted: -faults.reduce((sum, { delay = 0 }) => sum + delay, 0),
});

/** The world with the faults. */
export const worldWith = (base: World, faults: readonly Fault[]): World =>
  faults.reduce((changed, fault) => fault.apply(changed), base);

/**
 * The true causes: faults without which it lands in time, and faults that suffice alone, or with a late submit that alone is
 * harmless: what stands in the way of a trade does so from its submit on.
 */
export function trueCauses(base: World, faults: readonly Fault[]): ReadonlySet<DiagnosisCause> {
  const isBadWith = (some: readonly Fault[]) => {
    const world = worldWith(base, some);
    return isBad(endIn(world), world);
  };
  const delays = faults.filter(({ delay }) => delay !== undefined);
  const isHarmless = !isBadWith(delays);
  const causes = faults.filter(
    (one) =>
      !isBadWith(faults.filter((other) => other !== one)) ||
      isBadWith([one]) ||
      (isHarmless && !delays.includes(one) && isBadWith([one, ...delays])),
  );
  const isRefused = !isAccepted(worldWith(base, faults));
  // Senders that accept only after its end have refused it.
  return new Set(causes.map(({ cause }) => (cause === "senders_late" && isRefused ? "senders_refused" : cause)));
}

/** True if a sender accepts the trade in its life. */
function isAccepted(world: World): boolean {
  let height = 0;
  for (let slot = world.submitted; height < world.left; slot++) {
    if (world.accepts(slot)) return true;
    if (world.hasBlock(slot + 1)) height += 1;
  }
  return false;
}
