import type { Now } from "../../../primitives/clock.ts";
import { background } from "../../../primitives/turns/background.ts";
import { TurnBudget } from "../../../primitives/turns/turn-budget.ts";
import type { Account } from "../../../solana/account.ts";
import { hasSameContent } from "../../../solana/account-content.ts";
import { type AccountReader, isOversized, isUncertain, type KnownAccount } from "../../port.ts";
import type { AccountFeed } from "../account-feed.ts";
import { type AccountVersion, hasVersionOf, versionAt } from "../account-versions.ts";
import { isGone } from "../compare/gone-account.ts";
import type { FollowedAccount } from "../followed-account.ts";
import type { FollowedAccounts } from "../followed-accounts.ts";
import type { SlotTree } from "../slots/slot-tree.ts";
import type { StateCounters } from "../state-counts.ts";
import type { StreamAudit } from "../stream/stream-audit.ts";
import type { StreamProgress } from "../stream/stream-progress.ts";
import type { StreamSuspension } from "../stream/stream-suspension.ts";

interface FollowedReadsOptions {
  readonly reader: AccountReader;
  readonly feed: AccountFeed;
  readonly followed: FollowedAccounts;
  readonly tree: SlotTree;
  readonly stream: StreamProgress;
  readonly audit: StreamAudit;
  readonly suspension: StreamSuspension;
  readonly counters: StateCounters;
  readonly now: Now;
  /** True if the nodes are compared with each other. */
  readonly isCompared: () => boolean;
  /** A read made for comparison differs from what the stream says, or one says that an account is gone. */
  readonly onDifference: (entry: FollowedAccount) => void;
}

interface ReadKind {
  /** True: it never changes a streamed account. */
  readonly isComparison: boolean;
  readonly minSlot?: bigint | undefined;
}

interface ReadFacts {
  /** Epoch milliseconds. */
  readonly sentAtMs: number;
  /** The slot from which the stream reported the account, at the time the read was sent. */
  readonly coveredBefore: bigint | undefined;
  /** True if the stream should be compared with it: if nodes are compared with each other, one node's word proves nothing. */
  readonly isAudit: boolean;
}

/** Upper bounds of accounts per call and of concurrent calls: sixty thousand accounts must not be requested at once. */
const ACCOUNTS_PER_READ = 100;
const MAX_CONCURRENT_READS = 16;
/** Accounts processed before other work gets a turn: about 0.3 ms of work, however many were answered. Half of them at a time. */
const ACCOUNTS_PER_TURN = 50;
const ACCOUNTS_AT_ONCE = 25;

/** How long an account that is too large for any answer is left out of reads. Milliseconds. */
const LEFT_OUT_MS = 60_000;
/** Calls that one read may use to separate such accounts from others: enough for about twenty. */
const MAX_DIVISIONS = 256;

/** Reads followed accounts to start from, to bridge lost connections, and to heal. */
export class FollowedReads {
  readonly #parts: FollowedReadsOptions;
  readonly #turn = new TurnBudget(ACCOUNTS_PER_TURN);

  constructor(parts: FollowedReadsOptions) {
    this.#parts = parts;
  }

  /** Starts an account from what another reader has just read. */
  begin(entry: FollowedAccount, known: KnownAccount | undefined): void {
    const { followed, stream } = this.#parts;
    if (known === undefined || this.#isUnbelievable(known.slot)) return;
    followed.add(entry, { slot: known.slot, epoch: -1, order: 0, account: known.account });
    stream.note(known.slot);
    entry.provenAtMs = Math.min(known.readAtMs, stream.passedAtMs(known.slot));
    entry.readAtMs = known.readAtMs;
  }

  /**
   * Reads the accounts and delivers what is not older than what is known. A read that leaves no gap before the stream makes
   * the account streamed from then on.
   *
   * @param minSlot a node that has not reached it does not answer; absent: any may
   * @throws TradewireError UPSTREAM_ERROR
   */
  read(entries: readonly FollowedAccount[], minSlot?: bigint): Promise<void> {
    return this.#readAll(entries, { isComparison: false, minSlot });
  }

  /**
   * The same, except that a read never changes a streamed account: a difference is reported, and the nodes decide.
   * @throws TradewireError UPSTREAM_ERROR
   */
  compare(entries: readonly FollowedAccount[]): Promise<void> {
    return this.#readAll(entries, { isComparison: true });
  }

  /** An account that is too large for any answer fails only its own read, after the others have been processed. */
  async #readAll(entries: readonly FollowedAccount[], kind: ReadKind): Promise<void> {
    const failures: unknown[] = [];
    const divisions = { left: MAX_DIVISIONS };
    const wanted = this.#withoutLeftOut(entries, failures);
    const chunks: (readonly FollowedAccount[])[] = [];
    for (let at = 0; at < wanted.length; at += ACCOUNTS_PER_READ) chunks.push(wanted.slice(at, at + ACCOUNTS_PER_READ));
    const readers = Array.from({ length: Math.min(MAX_CONCURRENT_READS, chunks.length) }, async (_, reader) => {
      // Composing a call for a hundred accounts takes a fraction of a millisecond: each call after the first gets a turn of its own.
      if (reader > 0) await background.next();
      for (let chunk = chunks.shift(); chunk !== undefined; chunk = chunks.shift()) {
        const failure = await this.#readParts(chunk, kind, divisions);
        if (failure !== undefined) failures.push(failure);
      }
    });
    await Promise.all(readers);
    if (failures.length > 0) throw failures[0];
  }

  /** The accounts that an answer is expected to carry; the errors of the others go to `failures`. */
  #withoutLeftOut(entries: readonly FollowedAccount[], failures: unknown[]): readonly FollowedAccount[] {
    const nowMs = this.#parts.now();
    return entries.filter((entry) => {
      const { leftOut } = entry;
      if (leftOut === undefined || nowMs >= leftOut.untilMs) return true;
      // It counts as read: the least recently read account decides when all others are due.
      this.#parts.followed.noteRead(entry, nowMs);
      failures.push(leftOut.error);
      return false;
    });
  }

  /**
   * Reads accounts in one call, or in halves if they are too large together: anybody can create an account of megabytes, which must not
   * keep the others of its call from being read.
   *
   * @returns why one was left out
   * @throws TradewireError UPSTREAM_ERROR
   */
  async #readParts(entries: readonly FollowedAccount[], kind: ReadKind, divisions: { left: number }): Promise<unknown> {
    try {
      await this.#readChunk(entries, kind);
      return undefined;
    } catch (error) {
      // One node's word does not split calls: a liar could force a call per account.
      if (!isOversized(error) || isUncertain(error) || divisions.left <= 0) throw error;
      if (entries.length === 1) {
        const nowMs = this.#parts.now();
        entries[0]!.leftOut = { untilMs: nowMs + LEFT_OUT_MS, error };
        this.#parts.followed.noteRead(entries[0]!, nowMs);
        return error;
      }
      divisions.left -= 2;
      const half = Math.ceil(entries.length / 2);
      const first = await this.#readParts(entries.slice(0, half), kind, divisions);
      return (await this.#readParts(entries.slice(half), kind, divisions)) ?? first;
    }
  }

  /** Adopts what several nodes agree on. Not used to audit a stream: the slot may rest on one of them alone. */
  accept(
    entry: FollowedAccount,
    read: { readonly slot: bigint; readonly account: AccountVersion["account"]; readonly sentAtMs: number },
  ): void {
    const { slot, account, sentAtMs } = read;
    // Its place among the notices of its slot is unknown: any of them wins.
    const version = { slot, account, epoch: -1, order: 0 };
    this.#receive(entry, version, { sentAtMs, coveredBefore: undefined, isAudit: false });
  }

  /** Adopts what several nodes agree on even if it is older than the known state, which is then wrong. */
  replace(
    entry: FollowedAccount,
    { slot, account, sentAtMs }: { readonly slot: bigint; readonly account: Account | null; readonly sentAtMs: number },
  ): void {
    const { followed, tree, stream } = this.#parts;
    followed.replace(entry, { slot, account });
    if (tree.isOnChain(slot))
      entry.provenAtMs = Math.max(entry.provenAtMs, Math.min(sentAtMs, stream.passedAtMs(slot)));
  }

  /** While the stream is alive, no node can be far ahead of everything known. */
  #isUnbelievable(slot: bigint): boolean {
    const { stream } = this.#parts;
    return !stream.isQuiet() && stream.isFarAhead(slot);
  }

  async #readChunk(entries: readonly FollowedAccount[], { isComparison, minSlot }: ReadKind): Promise<void> {
    const { reader, feed, followed, counters, now, onDifference, isCompared } = this.#parts;
    const sentAtMs = now();
    const stamp = feed.readStamp();
    const coveredBefore = entries.map(({ coveredFrom }) => coveredFrom);
    counters.reads += entries.length;
    const { slot: oldest, accounts } = await reader.fetchAccounts(
      entries.map(({ address }) => address),
      minSlot,
    );
    for (let i = 0; i < entries.length; i++) {
      // Small answers begin at once.
      const isPaced = i > 0 || entries.length === ACCOUNTS_PER_READ;
      if (isPaced && i % ACCOUNTS_AT_ONCE === 0) await this.#nextPlace();
      const entry = entries[i]!;
      if (!followed.has(entry)) continue;
      const account = accounts[i] ?? null;
      const slot = account?.slot ?? oldest;
      if (this.#isUnbelievable(slot)) {
        counters.disbelieved += 1;
        continue;
      }
      const isDoubtful = isCompared() && entry.isLasting && isGone(entry.delivered?.account, account);
      if (isDoubtful || (isComparison && entry.streamed && !isSameNow(entry, account))) {
        followed.noteRead(entry, sentAtMs);
        onDifference(entry);
      } else {
        const version = { slot, account, ...stamp };
        this.#receive(entry, version, { sentAtMs, coveredBefore: coveredBefore[i], isAudit: !isComparison });
      }
    }
  }

  /** Answers arrive together: each part is processed when its turn comes, as if it had arrived a little later. */
  async #nextPlace(): Promise<void> {
    if (this.#turn.isSpent) await new Promise<void>((goOn) => this.#turn.whenRenewed(goOn));
    this.#turn.spend(ACCOUNTS_AT_ONCE);
  }

  #receive(entry: FollowedAccount, version: AccountVersion, { sentAtMs, coveredBefore, isAudit }: ReadFacts): void {
    const { followed, tree, stream, audit, suspension } = this.#parts;
    const { slot, account, epoch, order } = version;
    stream.note(slot);
    followed.noteRead(entry, sentAtMs);
    // If a version of the slot is known already, the read may be newer than it: there is nothing left to compare it with.
    const isKnownSlot = hasVersionOf(entry, slot);
    if (isAudit && entry.streamed && !isKnownSlot && stream.isNear(slot))
      audit.add({ slot, entry, account, stamp: { epoch, order } });
    // A read replaces everything from a stream that was found wrong, whatever slot the stream named.
    const isVoid = suspension.isOn || entry.isDoubted;
    const isReplaced = isVoid && entry.delivered?.isStreamed === true;
    const isNews = isReplaced ? followed.replace(entry, version) : followed.add(entry, version);
    if (!tree.isOnChain(slot)) return;
    // A version of the slot that no stream continues from may be older than the read, or newer.
    const isHeld = isNews || entry.streamed || hasSameContent(versionAt(entry, slot, tree)?.account ?? null, account);
    if (!isHeld) return;
    entry.provenAtMs = Math.max(entry.provenAtMs, Math.min(sentAtMs, stream.passedAtMs(slot)));
    const { coveredFrom } = entry;
    if (stream.isOld(slot) || coveredFrom === undefined || entry.streamed) return;
    // Within one slot, only a read sent after the stream began has missed nothing before it.
    if (slot > coveredFrom || (slot === coveredFrom && coveredBefore === coveredFrom)) followed.trust(entry);
  }
}

function isSameNow({ delivered }: FollowedAccount, account: Account | null): boolean {
  return delivered !== undefined && hasSameContent(delivered.account, account);
}
