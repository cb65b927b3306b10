import { ALL_OBSTACLES, chancesIn, LATE_SLOTS, type Obstacles, type SlotScale, scaleOf } from "./chances.ts";
import { type Diagnosis, type DiagnosisCause, REMEDIES } from "./diagnosis.ts";
import { evidenceOf, namesOf } from "./evidence.ts";
import type { Observations } from "./observations.ts";
import { isWalletShort } from "./wallet-short.ts";

/** Chances that a transaction may miss by bad luck. If it missed more, the observations explain nothing. */
const MISSED_CHANCES = 4;
/** A delay of fewer slots explains nothing. */
const LEAST_DELAY = 4;
/** Blocks of a life that signing, or the blockhash's age at the build, normally takes. */
const USUAL_SIGNING = 10;
const USUAL_AGE = 30;
/** Nodes that must list a price before it can rule out other causes. */
const NODES_TO_BE_SURE = 2;
/** Block heights between polls are estimates, off by a few. */
const HEIGHT_ERROR = 3;

const NO_OBSTACLES: Obstacles = { senders: false, prices: false, skips: false };

/** A cause, the slots it cost, and the chances to land in time without it, with it alone, and with it and the signer's delay alone. */
interface Suspect {
  readonly cause: DiagnosisCause;
  readonly took: number;
  readonly without: number;
  readonly alone: number;
  readonly delayed: number;
}

/** True if a trade that landed took so long that its caller should know why. */
export function isLate({ started, landedSlot }: Pick<Observations, "started" | "landedSlot">): boolean {
  return started !== undefined && landedSlot !== undefined && landedSlot - started.slot > BigInt(LATE_SLOTS);
}

/**
 * Why a transaction expired or landed late. Each obstacle is assumed absent in turn: the cause is the one whose absence would have left
 * enough slots to land in time. Unknown if the observations do not explain the end, or if this process did not see all of it.
 */
export function findCause(seen: Observations): Diagnosis {
  const scale = scaleOf(seen);
  if (scale === undefined || !seen.isWhole) return withoutChain(seen);
  const found = causeOn(scale, seen);
  if (scale.blocksLeft < 0 || !isWalletShort(seen, scale)) return found;
  // Once it was in a block, its fees could be paid.
  if (scale.dropped !== undefined) return { ...found, sure: false, others: [...found.others, "insufficient_sol"] };
  const others = found.cause === "unknown" ? found.others : [found.cause, ...found.others];
  return diagnosis(seen, scale, "insufficient_sol", false, others);
}

function causeOn(scale: SlotScale, seen: Observations): Diagnosis {
  const { dropped } = scale;
  if (dropped === undefined) return causeAmong(sent(scale), seen);
  // Had the block been kept, it would have landed there, whatever came afterwards.
  if (dropped <= LATE_SLOTS) return diagnosis(seen, scale, "dropped_block", false, []);
  const landedSlot = seen.started!.slot + BigInt(dropped);
  const late = causeAmong(sent({ ...scale, end: dropped }), { ...seen, landedSlot });
  // It was late already: the drop explains the end only if the drop alone took too long.
  const kept = (seen.landedSlot === undefined ? scale.end : Number(seen.landedSlot - seen.started!.slot)) - dropped;
  if (late.cause === "unknown" && kept > LATE_SLOTS) return diagnosis(seen, scale, "dropped_block", false, late.others);
  return { ...late, sure: false, others: [...late.others, "dropped_block"] };
}

function causeAmong(scale: SlotScale, seen: Observations): Diagnosis {
  if (chancesIn(scale, 0, scale.end) > MISSED_CHANCES) return diagnosis(seen, scale, "unknown", false, []);
  const suspects = suspectsOf(scale, seen);
  const mending = suspects.filter(({ without }) => without > MISSED_CHANCES);
  const sufficient = suspects.filter(({ alone }) => alone <= MISSED_CHANCES);
  const delayed = afterDelay(suspects);
  const main =
    largest(delayed.filter((suspect) => mending.includes(suspect))) ??
    largest(delayed) ??
    largest(mending) ??
    largest(leastOpen(sufficient));
  if (main === undefined)
    return diagnosis(
      seen,
      scale,
      "unknown",
      false,
      suspects.map(({ cause }) => cause),
    );
  const others = [...new Set([...mending, ...sufficient])].flatMap(({ cause }) =>
    cause === main.cause ? [] : [cause],
  );
  return diagnosis(seen, scale, main.cause, isSure(main, others, scale, seen), others);
}

/** The cause that kept a trade from landing after a signer's delay that alone would have been harmless. */
function afterDelay(suspects: readonly Suspect[]): readonly Suspect[] {
  const delay = suspects.find(({ cause }) => cause === "submitted_late");
  if (delay === undefined || delay.alone <= MISSED_CHANCES) return [];
  return suspects.filter((suspect) => suspect !== delay && suspect.delayed <= MISSED_CHANCES);
}

/** Nothing is sent after the end of its life: that no sender accepted it proves nothing about the senders. */
function sent(scale: SlotScale): SlotScale {
  return scale.blocksLeft < 0 ? { ...scale, accepted: 1 } : scale;
}

type Accuse = (cause: DiagnosisCause, obstacle: keyof Obstacles, took: number) => Suspect;

/** The possible causes, and the chances to land in time without each, or with it alone. */
function suspectsOf(scale: SlotScale, seen: Observations): readonly Suspect[] {
  const hasExpired = seen.landedSlot === undefined;
  const signed = hasExpired && scale.signed >= USUAL_SIGNING ? scale.signed : 0;
  // Slots after its end became known are not observed.
  const aged = hasExpired ? Math.min(scale.aged, Math.max(0, scale.ended - scale.end)) : 0;
  const inTime = (begin: number, end: number, obstacles?: Obstacles) =>
    chancesIn(scale, begin, Math.min(end, begin + LATE_SLOTS + 1), obstacles);
  const end = hasExpired ? scale.end : LATE_SLOTS + 1;
  const among: Accuse = (cause, obstacle, took) => ({
    cause,
    took,
    without: inTime(0, end, { ...ALL_OBSTACLES, [obstacle]: false }),
    alone: inTime(-signed, end + aged, { ...NO_OBSTACLES, [obstacle]: true }),
    delayed: inTime(0, end + aged, { ...NO_OBSTACLES, [obstacle]: true }),
  });
  const suspects: Suspect[] = [];
  if (signed > 0)
    suspects.push({
      cause: "submitted_late",
      took: signed,
      without: inTime(-signed, end),
      alone: inTime(0, end + scale.aged, NO_OBSTACLES),
      delayed: Number.POSITIVE_INFINITY,
    });
  if (hasExpired && scale.aged >= USUAL_AGE)
    suspects.push({
      cause: "blockhash_old",
      took: scale.aged,
      without: inTime(0, end + aged),
      alone: inTime(-signed, end, NO_OBSTACLES),
      delayed: inTime(0, end, NO_OBSTACLES),
    });
  suspects.push(...senderSuspects(scale, seen, among));
  const outbid = outbidSlots(scale).length;
  if (outbid > 0) suspects.push(among(bidCause(scale, seen), "prices", outbid));
  // A life is counted in blocks: skipped slots make it longer.
  if (!hasExpired && scale.skipped >= LEAST_DELAY) suspects.push(among("slots_skipped", "skips", scale.skipped));
  return suspects;
}

function senderSuspects({ accepted, end }: SlotScale, { events }: Observations, among: Accuse): readonly Suspect[] {
  if (accepted <= LEAST_DELAY) return [];
  if (Number.isFinite(accepted)) return [among("senders_late", "senders", accepted)];
  return namesOf(events, "refused").length > 0 ? [among("senders_refused", "senders", end)] : [];
}

const outbidSlots = (scale: SlotScale): readonly number[] =>
  Array.from({ length: Math.max(0, scale.end - 1) }, (_, i) => i + 1).filter((slot) => scale.isEnough(slot) === false);

/**
 * Of the slots that were too expensive for the bid, the share in which the whole chain was: counted over those in which it would have
 * landed in time, or over all.
 */
function chainShare(scale: SlotScale, { prices, started }: Observations): number {
  const outbid = outbidSlots(scale);
  const inTime = outbid.filter((slot) => slot <= LATE_SLOTS);
  const judged = inTime.length > 0 ? inTime : outbid;
  const everywhere = judged.filter((slot) => prices!.bid < prices!.bySlot.get(started!.slot + BigInt(slot))!.chain);
  return everywhere.length / judged.length;
}

const bidCause = (scale: SlotScale, seen: Observations): DiagnosisCause =>
  chainShare(scale, seen) >= 0.5 ? "priority_low" : "contention";

/** True if what was observed leaves no other cause. */
function isSure(
  { cause, without, alone }: Suspect,
  others: readonly DiagnosisCause[],
  scale: SlotScale,
  seen: Observations,
): boolean {
  switch (cause) {
    case "submitted_late":
      // With a blockhash of no age it would have been too late as well.
      return scale.blocksLeft + scale.aged < -HEIGHT_ERROR && scale.aged < USUAL_AGE;
    case "senders_refused":
      return true;
    case "senders_late":
      // Landing right after it was accepted shows that no leader had it before; an expiry may have another cause afterwards.
      return seen.landedSlot !== undefined && without > MISSED_CHANCES && scale.end - scale.accepted <= MISSED_CHANCES;
    case "priority_low":
    case "contention": {
      const share = chainShare(scale, seen);
      const isCorroborated = (seen.prices?.nodes ?? 0) >= NODES_TO_BE_SURE;
      // Slots without a block show no price: with many of them, too little is known.
      const isListed = scale.skippedShare < 0.5;
      return others.length === 0 && alone === 0 && isCorroborated && isListed && (share === 0 || share === 1);
    }
    default:
      return false;
  }
}

/** The cause if nothing is known about the chain, or if another process may have driven the trade. */
function withoutChain(seen: Observations): Diagnosis {
  if (seen.landedSlot === undefined && seen.submittedAtMs > seen.expiresAtMs)
    return diagnosis(seen, undefined, "submitted_late", false, []);
  const isRefused = namesOf(seen.events, "sent").length === 0 && namesOf(seen.events, "refused").length > 0;
  if (seen.landedSlot === undefined && seen.isWhole && isRefused)
    return diagnosis(seen, undefined, "senders_refused", true, []);
  return diagnosis(seen, undefined, "unknown", false, []);
}

function diagnosis(
  seen: Observations,
  scale: SlotScale | undefined,
  cause: DiagnosisCause,
  sure: boolean,
  others: readonly DiagnosisCause[],
): Diagnosis {
  const outbid = scale === undefined ? [] : outbidSlots(scale);
  return { cause, sure, evidence: evidenceOf(cause, seen, scale, outbid), remedy: REMEDIES[cause], others };
}

/** The causes that, taken alone, leave the fewest chances. */
function leastOpen(suspects: readonly Suspect[]): readonly Suspect[] {
  const least = Math.min(...suspects.map(({ alone }) => alone));
  return suspects.filter(({ alone }) => alone === least);
}

/** The cause that cost the most slots; undefined for an empty list. */
function largest(suspects: readonly Suspect[]): Suspect | undefined {
  return suspects.toSorted((a, b) => b.took - a.took)[0];
}
