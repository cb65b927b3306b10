/** Why a transaction expired, or landed late. */
export type DiagnosisCause =
  /** The signer took too long: little of the blockhash's life was left at submit, or none. */
  | "submitted_late"
  /** The blockhash was old already when the transaction was built. */
  | "blockhash_old"
  /** No sender accepted it. */
  | "senders_refused"
  /** The first sender that accepted it did so late. */
  | "senders_late"
  /** Its wallet held too little SOL for the fees. */
  | "insufficient_sol"
  /** It bid less than any transaction that landed in those slots. */
  | "priority_low"
  /** It bid less than any transaction that landed on its accounts, though enough for others. */
  | "contention"
  /** It was in a block that the chain dropped. */
  | "dropped_block"
  /** Leaders produced few blocks in those slots. */
  | "slots_skipped"
  | "unknown";

/** Why a transaction expired or landed late, by what this process observed. */
export interface Diagnosis {
  /** The one cause without which it would have landed in time. */
  readonly cause: DiagnosisCause;
  /** True if what was observed leaves no other cause; false if it is the most likely one. */
  readonly sure: boolean;
  /** What was observed, for people. */
  readonly evidence: string;
  /** What to do about it. */
  readonly remedy: string;
  /** Other causes that had a part in it. */
  readonly others: readonly DiagnosisCause[];
}

export const REMEDIES: Readonly<Record<DiagnosisCause, string>> = {
  submitted_late: "Sign and submit before expiresAt, and build again after it.",
  blockhash_old: "Build again. If it repeats, the operator's nodes lag behind the chain: report it.",
  senders_refused: "Build again. If it repeats, the operator's senders do not work: report it.",
  senders_late: "Build again. If it repeats, the operator's senders are slow: report it.",
  insufficient_sol: "Add SOL to the wallet, then build again.",
  priority_low: "Build again with a higher priority.",
  contention: "Build again with a higher priority, or exclude the venue whose market everybody trades on.",
  dropped_block: "Build again: the chain dropped the block, which is nobody's fault.",
  slots_skipped: "Build again: leaders produced few blocks.",
  unknown:
    "Build again if the wallet can pay, for a transaction whose payer cannot lands nowhere; with a higher priority if it repeats.",
};
