import { compareIntegers } from "../../../primitives/integer.ts";
import type { TradeEvent } from "../../trade.ts";
import type { SlotScale } from "./chances.ts";
import type { DiagnosisCause } from "./diagnosis.ts";
import type { Observations } from "./observations.ts";

/** Most words quoted of a sender's reason. */
const REASON_CHARACTERS = 120;

/** The evidence for a cause, in a sentence or two. */
export function evidenceOf(
  cause: DiagnosisCause,
  seen: Observations,
  scale: SlotScale | undefined,
  outbid: readonly number[],
): string {
  switch (cause) {
    case "submitted_late":
      return lateSubmit(seen, scale);
    case "blockhash_old":
      return `Its blockhash was ${scale!.aged} blocks old when it was built, of 151 that it lives.`;
    case "senders_refused":
      return refusals(seen);
    case "senders_late":
      return `It was first accepted ${scale!.accepted - 1} slots after submit, by ${namesOf(seen.events, "sent")[0]}.`;
    case "insufficient_sol":
      return shortWallet(seen);
    case "priority_low":
    case "contention":
      return lowBid(seen, scale!, outbid, cause === "contention");
    case "dropped_block":
      return `It was seen in a block ${scale!.dropped} slots after submit, which the chain then dropped.`;
    case "slots_skipped":
      return `${scale!.skipped} of the ${scale!.ended} slots after submit had no block.`;
    case "unknown":
      return otherwise(seen);
  }
}

function lateSubmit(
  { submittedAtMs, expiresAtMs, blocksLeftAtBuild }: Observations,
  scale: SlotScale | undefined,
): string {
  const lateMs = submittedAtMs - expiresAtMs;
  const late =
    lateMs > 0 ? `It was submitted ${seconds(lateMs)} after its expiresAt` : "It was submitted before its expiresAt";
  if (scale === undefined || blocksLeftAtBuild === undefined) return `${late}.`;
  const left = scale.blocksLeft < 0 ? "none were left" : `${scale.blocksLeft} were left`;
  return `${late}: of the ${blocksLeftAtBuild} blocks that it could land in when built, ${left}.`;
}

function refusals({ events }: Observations): string {
  const reasons = namesOf(events, "refused").map((name) => `${name}: ${reasonOf(events, name)}`);
  return `No sender accepted it. ${reasons.join("; ")}`;
}

function shortWallet({ balances, feeLamports, leastLamports }: Observations): string {
  const { lamports, nodes } = balances.at(-1)!;
  const word = nodes === 1 ? "one node's word" : `the word of ${nodes} nodes`;
  const left = lamports < feeLamports ? "" : `, and ${leastLamports} must stay in it unless nothing does`;
  const times = balances.length === 1 ? "once" : `${balances.length} times`;
  return `Its wallet was read ${times} and held too little to pay for it: ${lamports} lamports at last, by ${word}. The fees take ${feeLamports}${left}.`;
}

function lowBid(
  { prices, started }: Observations,
  { accepted, end }: SlotScale,
  outbid: readonly number[],
  onAccounts: boolean,
): string {
  const needed = outbid
    .map((slot) => prices!.bySlot.get(started!.slot + BigInt(slot))!)
    .map((price) => (onAccounts ? price.accounts : price.chain))
    .sort(compareIntegers);
  const median = needed[Math.floor((needed.length - 1) / 2)]!;
  const from = Number.isFinite(accepted) ? accepted : 1;
  const where = onAccounts ? "on its accounts" : "on the chain";
  const nodes = prices!.nodes === 1 ? "by one node's word" : `by the word of ${prices!.nodes} nodes`;
  const slots = `in ${outbid.filter((slot) => slot >= from).length} of the ${Math.max(0, end - from)} slots`;
  return `It bid ${prices!.bid} micro-lamports per compute unit; ${slots} after a sender accepted it nothing below that landed ${where} (median of the lowest ${median}), ${nodes}.`;
}

function otherwise({ events, prices }: Observations): string {
  const accepted = namesOf(events, "sent");
  if (accepted.length === 0) return "No broadcast was seen by this process.";
  const priced = prices === undefined ? " What landed in those slots could not be read." : "";
  return `Accepted by ${accepted.join(", ")}.${priced}`;
}

/** Senders with an event of the kind, each once, in order. */
export function namesOf(events: readonly TradeEvent[], kind: TradeEvent["kind"]): readonly string[] {
  return [
    ...new Set(events.flatMap((event) => (event.kind === kind && event.sender !== undefined ? [event.sender] : []))),
  ];
}

function reasonOf(events: readonly TradeEvent[], name: string): string {
  const { reason } = events.findLast((event) => event.kind === "refused" && event.sender === name)!;
  return (reason ?? "no reason given").slice(0, REASON_CHARACTERS);
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
