import type { Submissions } from "../../../accounts/port.ts";
import type { SubmittedTrade } from "../../trade.ts";
import { within } from "../waiting.ts";
import { slotOf } from "./outcome.ts";
import type { ProgressCache } from "./progress-cache.ts";
import { storedOutcome } from "./stored-outcome.ts";

/** Longest that an answer waits for the database. Milliseconds. */
const WAIT_MS = 2_000;
/** Finalized trades kept in memory, for answers while the database is away. */
const MAX_FINALIZED = 4_096;

/** A final trade: its slot, and the pending write of its finality. */
interface FinalTrade {
  readonly slot: bigint | undefined;
  readonly writing: Promise<void> | undefined;
}

/**
 * Decides when a trade that landed is reported as finalized. Finality does not change: once observed it is written, and from then on no
 * process asks a node again or reports less.
 */
export class Finality {
  readonly #submissions: Submissions;
  readonly #chain: ProgressCache;
  readonly #onMoved: (messageHash: string, finalSlot: bigint) => void;
  /** By message hash. */
  readonly #finalized = new Map<string, FinalTrade>();

  /** @param onMoved called if a trade that landed is final in another slot: the one it landed in was undone */
  constructor(
    submissions: Submissions,
    chain: ProgressCache,
    onMoved: (messageHash: string, finalSlot: bigint) => void,
  ) {
    this.#submissions = submissions;
    this.#chain = chain;
    this.#onMoved = onMoved;
  }

  /**
   * A trade that landed as its record shows, finalized if it was reported so before or if the chain shows it now; that is written.
   *
   * @param landed the signature it landed under, if the look-up was by another signature of its message; absent: that of the trade
   */
  async complete(messageHash: string, trade: SubmittedTrade, landed = trade.signature): Promise<SubmittedTrade> {
    const completed = await this.completeUnrecorded(messageHash, trade, landed);
    if (completed !== trade) await this.#write(messageHash, trade.slot);
    return completed;
  }

  /** The same of a trade as this process remembers it. Nothing is written: what is on record may be another end. */
  async completeUnrecorded(
    messageHash: string,
    trade: SubmittedTrade,
    landed = trade.signature,
  ): Promise<SubmittedTrade> {
    if (trade.status === "finalized") return trade;
    let slot = this.#finalized.get(messageHash)?.slot;
    if (slot === undefined) {
      const seen = await this.#chain.fetch(landed);
      if (seen?.commitment !== "finalized") return trade;
      if (seen.slot === trade.slot && seen.error != null) return trade;
      slot = seen.slot;
    }
    if (slot === trade.slot) {
      if (!this.#finalized.has(messageHash)) this.#remember(messageHash, { slot, writing: undefined });
      return asFinalized(trade);
    }
    this.#onMoved(messageHash, slot);
    return trade;
  }

  /**
   * A trade that landed as this process remembers it, finalized if this or another process has reported it so; undefined if it is final
   * in another slot. Asks no node.
   */
  async recall(messageHash: string, trade: SubmittedTrade): Promise<SubmittedTrade | undefined> {
    if (trade.status === "finalized") return trade;
    if (!this.#finalized.has(messageHash)) {
      const reading = this.#submissions.isFinalized(messageHash).catch(() => false);
      if ((await within(WAIT_MS, reading)) !== true) return trade;
      const record = await within(
        WAIT_MS,
        this.#submissions.byMessageHash(messageHash).catch(() => undefined),
      );
      const outcome = record && storedOutcome(record);
      if (outcome === undefined) return trade;
      this.#remember(messageHash, { slot: slotOf(outcome), writing: undefined });
    }
    return this.#finalized.get(messageHash)!.slot === trade.slot ? asFinalized(trade) : undefined;
  }

  /** Writes it, one write at a time: if the record still lacks it at the next answer, the write failed or another server has taken over. */
  #write(messageHash: string, slot: bigint | undefined): Promise<void> {
    const started = this.#finalized.get(messageHash)?.writing;
    if (started !== undefined) return started;
    const writing = within(
      WAIT_MS,
      this.#submissions.finalize(messageHash).catch(() => false),
    ).then(() => {
      if (this.#finalized.has(messageHash)) this.#finalized.set(messageHash, { slot, writing: undefined });
    });
    this.#remember(messageHash, { slot, writing });
    return writing;
  }

  #remember(messageHash: string, final: FinalTrade): void {
    if (this.#finalized.size >= MAX_FINALIZED) {
      const [oldest] = this.#finalized.keys();
      this.#finalized.delete(oldest!);
    }
    this.#finalized.set(messageHash, final);
  }
}

const asFinalized = (trade: SubmittedTrade): SubmittedTrade => ({ ...trade, status: "finalized" });
