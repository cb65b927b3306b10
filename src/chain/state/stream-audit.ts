import type { Account } from "../../solana/account.ts";
import { hasSameContent } from "../../solana/account-content.ts";
import type { AccountReader } from "../port.ts";
import { type AccountVersion, versionAt } from "./account-versions.ts";
import type { FollowedAccount, FollowedAccounts } from "./followed-accounts.ts";
import type { SlotTree } from "./slot-tree.ts";
import type { StateCounters } from "./state-counts.ts";
import type { StreamProgress } from "./stream-progress.ts";

/** A read, kept for comparison until the stream has passed its slot. */
interface Check {
  readonly slot: bigint;
  readonly entry: FollowedAccount;
  readonly account: Account | null;
  /** Where it stands among what is known, if nothing was known of its slot; undefined where it was read for comparison alone. */
  readonly stamp: { readonly epoch: number; readonly order: number } | undefined;
}

/** Finds out whether what the stream told is what the chain holds. */
export interface StreamAudit {
  /** A read to be compared once the stream has passed its slot. */
  add(check: Check): void;
  /** Reads a rolling sample without using it. Never rejects. */
  takeSample(): Promise<void>;
  /** The accounts found different since the last call, among the reads whose slots the stream has had time to tell of. */
  compare(): ReadonlySet<FollowedAccount>;
}

interface StreamAuditOptions {
  readonly reader: AccountReader;
  readonly followed: FollowedAccounts;
  readonly tree: SlotTree;
  readonly stream: StreamProgress;
  readonly counters: StateCounters;
  readonly sampleSize: number;
}

/** A stream is given this many slots to tell of everything in the one that is compared. */
const PATIENCE_SLOTS = 3n;
const NONE: ReadonlySet<FollowedAccount> = new Set();

/** Compares reads with what the stream told of the same slots. */
export function createStreamAudit({
  reader,
  followed,
  tree,
  stream,
  counters,
  sampleSize,
}: StreamAuditOptions): StreamAudit {
  let checks: Check[] = [];
  let sampling = false;
  let sampledUpTo = 0;

  /** What the stream had told of the read's slot; undefined where that cannot be said. */
  function toldOf({ slot, entry, stamp }: Check): AccountVersion | undefined {
    if (!entry.streamed || !followed.has(entry) || !tree.isOnChain(slot)) return undefined;
    // Read while another connection told, or none.
    if (entry.coveredFrom === undefined || slot <= entry.coveredFrom) return undefined;
    const known = versionAt(entry, slot, tree);
    // Within its own slot the read may have come before a change or after it, and a rooted past is not kept.
    if (known?.slot !== slot) return known;
    const isOwn = stamp !== undefined && known.epoch === stamp.epoch && known.order === stamp.order;
    return isOwn ? versionAt(entry, slot - 1n, tree) : undefined;
  }

  return {
    add(check) {
      checks.push(check);
    },
    async takeSample() {
      if (sampling) return;
      const streamed = [...followed.values()].filter((entry) => entry.streamed);
      if (streamed.length === 0) return;
      const first = sampledUpTo % streamed.length;
      const entries = [...streamed.slice(first), ...streamed.slice(0, first)].slice(0, sampleSize);
      sampledUpTo = first + entries.length;
      sampling = true;
      try {
        const { slot: oldest, accounts } = await reader.fetchAccounts(entries.map(({ address }) => address));
        entries.forEach((entry, i) => {
          const account = accounts[i] ?? null;
          checks.push({ slot: account?.slot ?? oldest, entry, account, stamp: undefined });
        });
      } catch {
        // A node that cannot be reached is told of by the reads that matter.
      } finally {
        sampling = false;
      }
    },
    compare() {
      if (checks.length === 0) return NONE;
      const ripe: Check[] = [];
      const unripe: Check[] = [];
      for (const check of checks) (stream.slot < check.slot + PATIENCE_SLOTS ? unripe : ripe).push(check);
      checks = unripe;
      const wrong = new Set<FollowedAccount>();
      for (const check of ripe) {
        const known = toldOf(check);
        if (known === undefined || wrong.has(check.entry)) continue;
        counters.audited += 1;
        if (hasSameContent(known.account, check.account)) continue;
        counters.auditDifferences += 1;
        wrong.add(check.entry);
      }
      return wrong;
    },
  };
}
