import type { Now } from "../../primitives/clock.ts";
import type { AccountReader, KnownAccount } from "../port.ts";
import type { AccountFeed } from "./account-feed.ts";
import type { FollowedAccount, FollowedAccounts } from "./followed-accounts.ts";
import type { SlotTree } from "./slot-tree.ts";
import type { StateCounters } from "./state-counts.ts";
import type { StreamAudit } from "./stream-audit.ts";
import type { StreamProgress } from "./stream-progress.ts";

/** Reads of followed accounts across the network. */
interface FollowedReads {
  /** Starts an account from what somebody else has just read. */
  begin(entry: FollowedAccount, known: KnownAccount | undefined): void;
  /**
   * Reads the accounts, some at a time, and delivers what is not older than what is known. A read that leaves no gap before
   * the stream is what the stream is trusted from.
   * @throws TradewireError UPSTREAM_ERROR
   */
  read(entries: readonly FollowedAccount[]): Promise<void>;
}

interface FollowedReadsOptions {
  readonly reader: AccountReader;
  readonly feed: AccountFeed;
  readonly followed: FollowedAccounts;
  readonly tree: SlotTree;
  readonly stream: StreamProgress;
  readonly audit: StreamAudit;
  readonly counters: StateCounters;
  readonly now: Now;
}

/** What a node answers in one call, and calls under way at once: sixty thousand accounts must not be asked for in one go. */
const ACCOUNTS_PER_READ = 100;
const READS_AT_ONCE = 16;

/** Reads followed accounts to start from, to bridge lost connections, and to heal. */
export function createFollowedReads({
  reader,
  feed,
  followed,
  tree,
  stream,
  audit,
  counters,
  now,
}: FollowedReadsOptions): FollowedReads {
  /** While the stream lives, no node can be far ahead of all that is known. */
  const isUnbelievable = (slot: bigint) => !stream.isQuiet() && stream.isFarAhead(slot);

  async function readPiece(entries: readonly FollowedAccount[]): Promise<void> {
    const sentAtMs = now();
    const { epoch, order } = feed.readStamp();
    const coveredBefore = entries.map(({ coveredFrom }) => coveredFrom);
    counters.reads += entries.length;
    const { slot: oldest, accounts } = await reader.fetchAccounts(entries.map(({ address }) => address));
    for (let i = 0; i < entries.length; i++) {
      const entry = entries[i]!;
      if (!followed.has(entry)) continue;
      const account = accounts[i] ?? null;
      const slot = account?.slot ?? oldest;
      if (isUnbelievable(slot)) {
        counters.disbelieved += 1;
        continue;
      }
      stream.note(slot);
      followed.noteRead(entry, sentAtMs);
      // Of a slot that was told of before, the read may say more, and nothing is left to compare it with.
      const isToldOf = entry.versions.some((version) => version.slot === slot);
      if (entry.streamed && !isToldOf && stream.isNear(slot))
        audit.add({ slot, entry, account, stamp: { epoch, order } });
      followed.add(entry, { slot, epoch, order, account });
      if (!tree.isOnChain(slot)) continue;
      entry.provenAtMs = Math.max(entry.provenAtMs, Math.min(sentAtMs, stream.passedAtMs(slot)));
      if (stream.isOld(slot)) continue;
      const { coveredFrom } = entry;
      if (coveredFrom === undefined || entry.streamed) continue;
      // Within one slot, only a read that was sent after the stream began has missed nothing before it.
      if (slot > coveredFrom || (slot === coveredFrom && coveredBefore[i] === coveredFrom)) followed.trust(entry);
    }
  }

  return {
    begin(entry, known) {
      if (known === undefined || isUnbelievable(known.slot)) return;
      followed.add(entry, { slot: known.slot, epoch: -1, order: 0, account: known.account });
      stream.note(known.slot);
      entry.provenAtMs = Math.min(known.readAtMs, stream.passedAtMs(known.slot));
      entry.readAtMs = known.readAtMs;
    },
    async read(entries) {
      const pieces: (readonly FollowedAccount[])[] = [];
      for (let at = 0; at < entries.length; at += ACCOUNTS_PER_READ)
        pieces.push(entries.slice(at, at + ACCOUNTS_PER_READ));
      const readers = Array.from({ length: Math.min(READS_AT_ONCE, pieces.length) }, async () => {
        for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift()) await readPiece(piece);
      });
      await Promise.all(readers);
    },
  };
}
