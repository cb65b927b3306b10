import type { LandedPriceReader, WalletBalanceReader } from "../../../chain/port.ts";
import type { SealedTrade } from "../../build/token/sealed-trade.ts";
import type { TradeEvent } from "../../trade.ts";
import { within } from "../waiting.ts";
import type { Diagnosis } from "./diagnosis.ts";
import { findCause, isLate } from "./find-cause.ts";
import type { Moment, Observations, SeenBalance } from "./observations.ts";

/** What explaining an attempt reads from the chain. */
export interface LandingConditions {
  slot(): bigint;
  blockHeight(): bigint;
  slotMs(): number;
  /** The least that an account of this many bytes must hold. Lamports. */
  rentExemption(space: number): bigint;
  readonly prices: LandedPriceReader;
  readonly balances: WalletBalanceReader;
}

/** The attempt to watch. */
interface WatchedAttempt {
  readonly sealed: SealedTrade;
  readonly transaction: Uint8Array;
  /** When it was submitted first, on any process. Epoch milliseconds. */
  readonly submittedAtMs: number;
}

/** Slots before the first read of the prices around a pending transaction, and between later reads: nodes list 150 slots. */
const FIRST_READ_SLOTS = 12;
const READ_EVERY_SLOTS = 60;
/** Longest wait of an answer for the last read, for a trade that is late already or has expired. Milliseconds. */
const LANDED_WAIT_MS = 100;
const EXPIRED_WAIT_MS = 2_000;

/** Watches the conditions in which an attempt is broadcast, and explains why it expired or landed late. Costs nothing if it lands soon. */
export class AttemptWatch {
  readonly #conditions: LandingConditions | undefined;
  readonly #attempt: WatchedAttempt;
  #prices: Observations["prices"];
  readonly #balances: SeenBalance[] = [];
  #started: Moment | undefined;
  #accepted: Moment | undefined;
  #timer: NodeJS.Timeout | undefined;
  #reading: Promise<void> | undefined;

  constructor(conditions: LandingConditions | undefined, attempt: WatchedAttempt) {
    this.#conditions = conditions;
    this.#attempt = attempt;
  }

  /** The broadcast begins. */
  begin(): void {
    this.#started = this.#moment();
    this.#readAfter(FIRST_READ_SLOTS);
  }

  /** Takes in an event of the broadcast. */
  receive({ kind, slot }: Omit<TradeEvent, "atMs">): void {
    if (kind === "sent") this.#accepted ??= this.#moment();
    // Whatever made it late can be seen by now; the end itself does not wait for a read.
    if (kind === "processed" && isLate({ started: this.#started, landedSlot: slot })) void this.#read();
  }

  /** Ends all reads. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Why it landed late; undefined if it did not. */
  async explainLanding(
    events: readonly TradeEvent[],
    landedSlot: bigint,
    isWhole: boolean,
  ): Promise<Diagnosis | undefined> {
    if (this.#conditions === undefined || !isLate({ started: this.#started, landedSlot })) return undefined;
    const ended = this.#moment();
    if (this.#reading !== undefined) await within(LANDED_WAIT_MS, this.#reading);
    return findCause(this.#observations(events, isWhole, { ended, landedSlot }));
  }

  /** Why it expired. */
  async explainExpiry(events: readonly TradeEvent[], isWhole: boolean): Promise<Diagnosis> {
    const ended = this.#moment();
    if (this.#conditions !== undefined) await within(EXPIRED_WAIT_MS, this.#read());
    return findCause(this.#observations(events, isWhole, { ended, landedSlot: undefined }));
  }

  #observations(
    events: readonly TradeEvent[],
    isWhole: boolean,
    end: Pick<Observations, "ended" | "landedSlot">,
  ): Observations {
    const { sealed, submittedAtMs } = this.#attempt;
    return {
      events,
      isWhole,
      submittedAtMs,
      expiresAtMs: sealed.expiresAtMs,
      lastValidBlockHeight: sealed.lastValidBlockHeight,
      blocksLeftAtBuild: sealed.blocksLeft,
      started: this.#started,
      accepted: this.#accepted,
      prices: this.#prices,
      balances: this.#balances,
      feeLamports: sealed.costs.baseFee + sealed.costs.priorityFee,
      leastLamports: this.#conditions?.rentExemption(0),
      ...end,
    };
  }

  #moment(): Moment | undefined {
    const conditions = this.#conditions;
    return conditions && { slot: conditions.slot(), blockHeight: conditions.blockHeight() };
  }

  #readAfter(slots: number): void {
    if (this.#conditions === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#readAfter(READ_EVERY_SLOTS);
      void this.#read();
    }, slots * this.#conditions.slotMs());
    this.#timer.unref();
  }

  /** Reads what landed in the latest slots and what the wallet holds; a read in flight is shared. */
  #read(): Promise<void> {
    this.#reading ??= this.#readNow().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readNow(): Promise<void> {
    await Promise.all([this.#readPrices(), this.#readBalance()]);
  }

  async #readBalance(): Promise<void> {
    const { balances, slot } = this.#conditions!;
    const read = await balances.read(this.#attempt.sealed.wallet);
    if (read !== undefined) this.#balances.push({ slot: slot(), ...read });
  }

  async #readPrices(): Promise<void> {
    const { sealed, transaction } = this.#attempt;
    const markets = sealed.route.map(({ market }) => market);
    const read = await this.#conditions!.prices.read(transaction, markets);
    if (read === undefined) return;
    // The lowest number of nodes that answered any read: what rests on one node's word stays so.
    const nodes = Math.min(read.nodes, this.#prices?.nodes ?? read.nodes);
    const bySlot = new Map(this.#prices?.bySlot);
    for (const price of read.slots) bySlot.set(price.slot, price);
    this.#prices = { bid: read.bid, nodes, bySlot };
  }
}
