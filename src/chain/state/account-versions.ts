import { minOf } from "../../primitives/integer.ts";
import type { Account } from "../../solana/account.ts";
import { hasSameContent, KeptAccount } from "../../solana/account-content.ts";
import type { SlotTree } from "./slots/slot-tree.ts";

/** One state of an account and its place among the others. */
export interface AccountVersion {
  readonly slot: bigint;
  /** The connection that `order` was counted on; later ones win. */
  readonly epoch: number;
  /** Within a slot and an epoch the highest wins: a node's write version, or the order of arrival. */
  readonly order: number;
  readonly account: Account | null;
  /** True if a stream reported it, not a read. */
  readonly isStreamed?: boolean;
}

/** The versions of one account, one per slot until rooted, oldest first. */
export interface AccountHistory {
  versions: AccountVersion[];
  /** Versions of this slot and older ones were dropped for their number or size: none of them is taken in again. */
  droppedUpTo?: bigint | undefined;
}

/** Upper bounds of the versions kept of one account, besides the newest: more slots than are ever undone, and their data in bytes. */
const MAX_VERSIONS = 256;
const MAX_SPARE_BYTES = 4 * 1024 * 1024;
/** What a version takes besides its account's data, about. Bytes. */
const VERSION_BYTES = 512;

/** The newest version on the surviving chain; undefined if none survives. */
export function currentVersion({ versions }: AccountHistory, tree: SlotTree): AccountVersion | undefined {
  for (let i = versions.length - 1; i >= 0; i--) {
    const version = versions[i]!;
    if (tree.isOnChain(version.slot)) return version;
  }
  return undefined;
}

/** The newest known version at the end of `slot`. */
export function versionAt({ versions }: AccountHistory, slot: bigint, tree: SlotTree): AccountVersion | undefined {
  for (let i = versions.length - 1; i >= 0; i--) {
    const version = versions[i]!;
    if (version.slot <= slot && tree.isOnChain(version.slot)) return version;
  }
  return undefined;
}

/**
 * Adds a version in its place. Of each slot only the last is kept. An unchanged account keeps its object, so that repeated
 * reads cost no memory and count as no change.
 *
 * @returns how many bytes of memory it takes more than before, about; undefined if it adds nothing: it is an earlier state of its
 * slot, or older than every kept version
 */
export function addVersion(history: AccountHistory, version: AccountVersion, root: bigint): number | undefined {
  const { versions } = history;
  let at = versions.length;
  while (at > 0 && versions[at - 1]!.slot > version.slot) at--;
  if (at === 0 && versions.length > 0 && versions[0]!.slot <= root) return undefined;
  if (history.droppedUpTo !== undefined && version.slot <= history.droppedUpTo) return undefined;
  const before = versions[at - 1];
  const shared = before !== undefined && hasSameContent(before.account, version.account) ? before.account : undefined;
  const added = shared === undefined ? version : { ...version, account: shared };
  const bytes = shared === undefined ? sizeOf(added.account) : 0;
  if (before?.slot !== version.slot) {
    // Mostly it is the newest: its place costs nothing to find.
    if (at === versions.length) versions.push(added);
    else versions.splice(at, 0, added);
    return VERSION_BYTES + bytes;
  }
  if (before.epoch > version.epoch || (before.epoch === version.epoch && before.order >= version.order))
    return undefined;
  versions[at - 1] = added;
  if (shared !== undefined) return 0;
  const isElsewhere = versions[at - 2]?.account === before.account || versions[at]?.account === before.account;
  return isElsewhere ? bytes : bytes - sizeOf(before.account);
}

/**
 * Drops the oldest versions beyond the bounds. If a fork undoes all that are left, the account is unknown until it is read.
 *
 * @param head the newest slot of the chain
 */
export function boundVersions(history: AccountHistory, head: bigint): void {
  const { versions } = history;
  const bytes = sizeOf(versions[versions.length - 1]?.account);
  if (versions.length <= MAX_VERSIONS && versions.length * bytes <= MAX_SPARE_BYTES) return;
  let first = versions.length - 1;
  let spare = 0;
  while (first > 0 && versions.length - first < MAX_VERSIONS) {
    const { account } = versions[first - 1]!;
    if (account !== versions[first]!.account) spare += sizeOf(account);
    if (spare > MAX_SPARE_BYTES) break;
    first -= 1;
  }
  if (first === 0) return;
  history.droppedUpTo = minOf(versions[first - 1]!.slot, head);
  versions.splice(0, first);
}

/** The length of an account's data in bytes, without making bytes of it; 0 if there is none. */
export const sizeOf = (account: Account | null | undefined): number =>
  account == null ? 0 : KeptAccount.sizeOf(account);

/** True if there is a version of the slot. Makes nothing: it is asked of thousands of accounts in one turn of the loop. */
export function hasVersionOf({ versions }: AccountHistory, slot: bigint): boolean {
  for (let i = versions.length - 1; i >= 0; i--) if (versions[i]!.slot === slot) return true;
  return false;
}

/** Drops the version of the slot, in place. */
export function removeVersionsOf({ versions }: AccountHistory, slot: bigint): void {
  for (let i = versions.length - 1; i >= 0; i--) if (versions[i]!.slot === slot) versions.splice(i, 1);
}

/** Drops versions that can no longer matter, in place: off the chain, or older than the newest rooted version. */
export function pruneVersions({ versions }: AccountHistory, root: bigint, tree: SlotTree): void {
  let kept = 0;
  for (let i = 0; i < versions.length; i++) {
    const version = versions[i]!;
    const isRooted = version.slot <= root;
    if (isRooted && !tree.isOnChain(version.slot)) continue;
    if (isRooted) kept = 0;
    versions[kept++] = version;
  }
  versions.length = kept;
}
