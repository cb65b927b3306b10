import type { TradeEvent } from "../../trade.ts";

/** Why a message expired: a cause only if this process has seen it itself. */
export interface ExpiryCause {
  readonly diagnosis: "submitted_late" | "senders_refused" | "unknown";
  /** What was seen, for people. */
  readonly evidence: string;
  readonly remedy: string;
}

interface SeenAttempt {
  readonly events: readonly TradeEvent[];
  /** When it was submitted first, on any process. Epoch milliseconds. */
  readonly submittedAtMs: number;
  /** When the build said to build again. Epoch milliseconds. */
  readonly expiresAtMs: number;
  /** False if another process may have broadcast it before. */
  readonly isWhole: boolean;
}

/** Words of one sender's reason at most. */
const REASON_CHARACTERS = 120;

/** The cause of an expiry, with its evidence; unknown unless what was seen leaves no other. */
export function causeOfExpiry({ events, submittedAtMs, expiresAtMs, isWhole }: SeenAttempt): ExpiryCause {
  const lateMs = submittedAtMs - expiresAtMs;
  if (lateMs > 0) {
    return {
      diagnosis: "submitted_late",
      evidence: `It was submitted ${(lateMs / 1_000).toFixed(1)} s after its expiresAt.`,
      remedy: "Sign and submit before expiresAt, and build again after it.",
    };
  }
  const accepted = namesOf(events, "sent");
  const refused = namesOf(events, "refused");
  if (isWhole && accepted.length === 0 && refused.length > 0) {
    const reasons = refused.map((name) => `${name}: ${reasonOf(events, name)}`);
    return {
      diagnosis: "senders_refused",
      evidence: `No sender accepted it. ${reasons.join("; ")}`,
      remedy: "Build again. If it repeats, the operator's senders do not work: report it.",
    };
  }
  return {
    diagnosis: "unknown",
    evidence: accepted.length === 0 ? "No broadcast was seen by this process." : `Accepted by ${accepted.join(", ")}.`,
    remedy: "Build again, with a higher priority if it repeats.",
  };
}

function namesOf(events: readonly TradeEvent[], kind: TradeEvent["kind"]): readonly string[] {
  return [
    ...new Set(events.flatMap((event) => (event.kind === kind && event.sender !== undefined ? [event.sender] : []))),
  ];
}

function reasonOf(events: readonly TradeEvent[], name: string): string {
  const { reason } = events.findLast((event) => event.kind === "refused" && event.sender === name)!;
  return (reason ?? "no reason given").slice(0, REASON_CHARACTERS);
}
