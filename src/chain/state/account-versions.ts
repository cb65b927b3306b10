import type { Account } from "../../solana/account.ts";
import { hasSameContent } from "../../solana/account-content.ts";
import type { SlotTree } from "./slot-tree.ts";

/** One state of an account, and where it stands among the others. */
export interface AccountVersion {
  readonly slot: bigint;
  /** Which run of numbers `order` belongs to: a later connection's count for more. */
  readonly epoch: number;
  /** Within a slot and an epoch the highest counts: a node's write version, or the order of arrival. */
  readonly order: number;
  readonly account: Account | null;
}

/** What is known of one account, slot by slot until rooted, oldest first. */
export interface AccountHistory {
  versions: AccountVersion[];
}

/**
 * The version that counts: the newest on the surviving chain. Undefined when none survives.
 */
export function currentVersion({ versions }: AccountHistory, tree: SlotTree): AccountVersion | undefined {
  for (let i = versions.length - 1; i >= 0; i--) {
    const version = versions[i]!;
    if (tree.isOnChain(version.slot)) return version;
  }
  return undefined;
}

/** What the account was at the end of `slot`, as far as is known. */
export function versionAt({ versions }: AccountHistory, slot: bigint, tree: SlotTree): AccountVersion | undefined {
  for (let i = versions.length - 1; i >= 0; i--) {
    const version = versions[i]!;
    if (version.slot <= slot && tree.isOnChain(version.slot)) return version;
  }
  return undefined;
}

/**
 * Adds a version in its place. Of each slot only the last is kept. An account that did not change keeps its object, so that
 * repeated reads cost no memory and are seen to be no change.
 *
 * @returns false when it says nothing new: an earlier state of its slot, or older than all that is remembered
 */
export function addVersion(history: AccountHistory, version: AccountVersion, root: bigint): boolean {
  const { versions } = history;
  let at = versions.length;
  while (at > 0 && versions[at - 1]!.slot > version.slot) at--;
  if (at === 0 && versions.length > 0 && versions[0]!.slot <= root) return false;
  const before = versions[at - 1];
  const shared = before !== undefined && hasSameContent(before.account, version.account) ? before.account : undefined;
  const added = shared === undefined ? version : { ...version, account: shared };
  if (before?.slot !== version.slot) {
    versions.splice(at, 0, added);
    return true;
  }
  if (before.epoch > version.epoch || (before.epoch === version.epoch && before.order >= version.order)) return false;
  versions[at - 1] = added;
  return true;
}

/** Forgets what can no longer matter: off the chain, or older than the newest version that is rooted. */
export function pruneVersions(history: AccountHistory, root: bigint, tree: SlotTree): void {
  const { versions } = history;
  if (versions.length < 2 && (versions.length === 0 || tree.isOnChain(versions[0]!.slot))) return;
  const alive = versions.filter(({ slot }) => slot > root || tree.isOnChain(slot));
  let first = 0;
  while (first + 1 < alive.length && alive[first + 1]!.slot <= root) first++;
  history.versions = first === 0 ? alive : alive.slice(first);
}
