import type { Account } from "../../../solana/account.ts";
import { hasSameContent } from "../../../solana/account-content.ts";
import type { AccountReader } from "../../port.ts";
import { type AccountVersion, versionAt } from "../account-versions.ts";
import type { FollowedAccount } from "../followed-account.ts";
import type { FollowedAccounts } from "../followed-accounts.ts";
import type { SlotTree } from "../slots/slot-tree.ts";
import type { StateCounters } from "../state-counts.ts";
import type { StreamProgress } from "./stream-progress.ts";

/** A read, kept for comparison until the stream has passed its slot. */
interface AuditedRead {
  readonly slot: bigint;
  readonly entry: FollowedAccount;
  readonly account: Account | null;
  /** The read's own place among the known versions; undefined if it was made for comparison alone. */
  readonly stamp: { readonly epoch: number; readonly order: number } | undefined;
}

interface StreamAuditOptions {
  readonly reader: AccountReader;
  readonly followed: FollowedAccounts;
  readonly tree: SlotTree;
  readonly stream: StreamProgress;
  readonly counters: StateCounters;
  readonly sampleSize: number;
}

/** Slots a stream may take to deliver every change of the slot that is compared. */
const PATIENCE_SLOTS = 3n;
/** Accounts examined for one sample. */
const MAX_SCANNED = 5_000;
const NONE: ReadonlySet<FollowedAccount> = new Set();

/** Compares reads with what the stream delivered for the same slots. */
export class StreamAudit {
  readonly #options: StreamAuditOptions;
  #reads: AuditedRead[] = [];
  /** Accounts whose reads have been compared anyway since the last sample. */
  #compared = new WeakSet<FollowedAccount>();
  #isSampling = false;
  #turn: Iterator<FollowedAccount> | undefined;

  constructor(options: StreamAuditOptions) {
    this.#options = options;
  }

  /** Adds a read to compare once the stream has passed its slot. */
  add(read: AuditedRead): void {
    this.#reads.push(read);
    this.#compared.add(read.entry);
  }

  /** Reads a rolling sample for comparison alone, of accounts that were not compared since the last. Never rejects. */
  async takeSample(): Promise<void> {
    const { reader, sampleSize } = this.#options;
    if (this.#isSampling) return;
    const entries = this.#nextStreamed(sampleSize);
    this.#compared = new WeakSet();
    if (entries.length === 0) return;
    this.#isSampling = true;
    try {
      const { slot: oldest, accounts } = await reader.fetchAccounts(entries.map(({ address }) => address));
      entries.forEach((entry, i) => {
        const account = accounts[i] ?? null;
        this.#reads.push({ slot: account?.slot ?? oldest, entry, account, stamp: undefined });
      });
    } catch {
      // An unreachable node is reported by the reads that state depends on.
    } finally {
      this.#isSampling = false;
    }
  }

  /** The next streamed accounts in turn. */
  #nextStreamed(limit: number): readonly FollowedAccount[] {
    const next: FollowedAccount[] = [];
    this.#turn ??= this.#options.followed.values()[Symbol.iterator]();
    for (let scanned = 0; next.length < limit && scanned < MAX_SCANNED; scanned++) {
      const { value: entry, done } = this.#turn.next();
      if (done === true) {
        this.#turn = undefined;
        break;
      }
      if (entry.streamed && !this.#compared.has(entry)) next.push(entry);
    }
    return next;
  }

  /** Compares the reads whose slots the stream has had time to deliver. @returns the accounts that differ */
  compare(): ReadonlySet<FollowedAccount> {
    if (this.#reads.length === 0) return NONE;
    const { stream, counters } = this.#options;
    const ripe: AuditedRead[] = [];
    const unripe: AuditedRead[] = [];
    for (const read of this.#reads) (stream.slot < read.slot + PATIENCE_SLOTS ? unripe : ripe).push(read);
    this.#reads = unripe;
    const wrong = new Set<FollowedAccount>();
    for (const read of ripe) {
      const streamed = this.#streamedAt(read);
      if (streamed === undefined || wrong.has(read.entry)) continue;
      counters.audited += 1;
      if (hasSameContent(streamed.account, read.account)) continue;
      counters.auditDifferences += 1;
      wrong.add(read.entry);
    }
    return wrong;
  }

  /** What the stream had delivered by the read's slot; undefined if that is uncertain. */
  #streamedAt({ slot, entry, stamp }: AuditedRead): AccountVersion | undefined {
    const { followed, tree } = this.#options;
    if (!entry.streamed || !followed.has(entry) || !tree.isOnChain(slot)) return undefined;
    // Read before the current connection covered the account.
    if (entry.coveredFrom === undefined || slot <= entry.coveredFrom) return undefined;
    const known = versionAt(entry, slot, tree);
    // Within its own slot the read may come before a change or after it, and the rooted past is not kept.
    if (known?.slot !== slot) return known;
    const isOwn = stamp !== undefined && known.epoch === stamp.epoch && known.order === stamp.order;
    return isOwn ? versionAt(entry, slot - 1n, tree) : undefined;
  }
}
