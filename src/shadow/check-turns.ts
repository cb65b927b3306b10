import type { Address } from "../primitives/address.ts";
import type { Now } from "../primitives/clock.ts";
import type { CheckQueue } from "./check-queue.ts";
import { type CheckPorts, heldBy } from "./check-run.ts";
import type { CheckedEntry, LiveMarket } from "./live-market.ts";
import { type ReadAccounts, takeTogether } from "./shared-read.ts";

interface CheckTurnsOptions {
  /** The longest unchecked first. */
  readonly entries: ReadonlyMap<LiveMarket, CheckedEntry>;
  /** Those that do not agree, the longest untried first. */
  readonly open: Set<CheckedEntry>;
  readonly queue: CheckQueue<CheckedEntry>;
  readonly now: Now;
  readonly fetchAccounts: CheckPorts["fetchAccounts"];
}

/** Time between two routine checks of one market; those due soon come along with one that is. */
const SAMPLE_AGAIN_MS = 10_000;
const SAMPLE_SOON_MS = 8_000;
const TICK_MS = 250;
/** Pace of routine checks, and of further tries: ticks per market. */
const TICKS_PER_SAMPLE = 4;
const TICKS_PER_RETRY = 1;

/**
 * While nothing urgent is to be checked, tries markets again that do not agree, and checks the others in turn, a market a
 * second. Markets whose turn has come are read together: what a check reads costs a call for several of them.
 */
export class CheckTurns {
  readonly #options: CheckTurnsOptions;
  readonly #timer: NodeJS.Timeout;
  #ticks = 0;
  /** Earliest ticks of the next samples and further tries. */
  #sampleTick = 0;
  #retryTick = 0;
  #isReading = false;

  constructor(options: CheckTurnsOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    this.#ticks += 1;
    if (!this.#options.queue.isIdle || this.#isReading) return;
    if (this.#ticks >= this.#retryTick && this.#retry()) return;
    if (this.#ticks >= this.#sampleTick) this.#sample();
  }

  #retry(): boolean {
    const { open } = this.#options;
    // What is in memory is not read again.
    const { taken, addresses } = takeTogether(this.#toRetry(), ({ extras }) => extras);
    this.#retryTick = this.#ticks + TICKS_PER_RETRY * taken.length;
    // Those that are tried take turns.
    for (const entry of taken) open.delete(entry);
    for (const entry of taken) open.add(entry);
    if (taken.length > 0) void this.#check(taken, addresses, false);
    return taken.length > 0;
  }

  #sample(): void {
    const { taken, addresses } = takeTogether(this.#toSample(), ({ live, extras }) => [...heldBy(live), ...extras]);
    this.#sampleTick = this.#ticks + TICKS_PER_SAMPLE * taken.length;
    if (taken.length > 0) void this.#check(taken, addresses, true);
  }

  *#toRetry(): Generator<CheckedEntry> {
    const atMs = this.#options.now();
    for (const entry of this.#options.open) if (entry.turn > 0 && entry.retryAtMs <= atMs) yield entry;
  }

  *#toSample(): Generator<CheckedEntry> {
    const { entries, open, now } = this.#options;
    const atMs = now();
    let dueMs = SAMPLE_AGAIN_MS;
    for (const entry of entries.values()) {
      if (open.has(entry)) continue;
      if (entry.checkedAtMs + dueMs > atMs) return;
      dueMs = SAMPLE_SOON_MS;
      yield entry;
    }
  }

  async #check(taken: readonly CheckedEntry[], addresses: readonly Address[], isSample: boolean): Promise<void> {
    const { entries, queue } = this.#options;
    this.#isReading = true;
    const accounts = await this.#read(addresses);
    this.#isReading = false;
    for (const entry of taken) if (entries.has(entry.live)) queue.add(entry, { isSample, accounts });
  }

  /** Never rejects: what cannot be read together is read by each check for itself. */
  async #read(addresses: readonly Address[]): Promise<ReadAccounts> {
    if (addresses.length === 0) return new Map();
    try {
      const { accounts } = await this.#options.fetchAccounts(addresses);
      return new Map(addresses.map((address, i) => [address, accounts[i] ?? null]));
    } catch {
      return new Map();
    }
  }
}
