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
  readonly isStreamed?: boolean | undefined;
}

/** A stored version, linked to the one before it, so that adding one touches neither a list nor other versions. */
export interface KeptVersion extends AccountVersion {
  older: KeptVersion | undefined;
}

/** The versions of one account, one per slot until rooted. */
export interface AccountHistory {
  newest: KeptVersion | undefined;
  /** Number of versions; too high if roots have cut some off since the last count. */
  count: number;
  /** Versions of this slot and older ones were dropped for their number or size and are not accepted again. */
  droppedUpTo?: bigint | undefined;
}

/** Upper bounds of the versions kept of one account, besides the newest: more slots than are ever undone, and their data in bytes. */
const MAX_VERSIONS = 256;
const MAX_SPARE_BYTES = 4 * 1024 * 1024;
/** Approximate size of a version besides its account's data. Bytes. */
const VERSION_BYTES = 512;

/** The newest version on the surviving chain; undefined if none survives. */
export function currentVersion({ newest }: AccountHistory, tree: SlotTree): KeptVersion | undefined {
  let version = newest;
  while (version !== undefined && !tree.isOnChain(version.slot)) version = version.older;
  return version;
}

/** The newest known version at the end of `slot`. */
export function versionAt({ newest }: AccountHistory, slot: bigint, tree: SlotTree): AccountVersion | undefined {
  let version = newest;
  while (version !== undefined && (version.slot > slot || !tree.isOnChain(version.slot))) version = version.older;
  return version;
}

/** The versions, newest first. */
export function* versionsOf({ newest }: AccountHistory): Generator<AccountVersion, void> {
  for (let version = newest; version !== undefined; version = version.older) yield version;
}

/** An added version, and the approximate growth of memory. Bytes. */
export interface AddedVersion {
  readonly version: KeptVersion;
  readonly bytes: number;
}

/**
 * Adds a version in its place. Of each slot only the last is kept. An unchanged account keeps its object, so that repeated
 * reads cost no memory and count as no change.
 *
 * @returns undefined if it adds nothing: it is an earlier state of its slot, or older than every kept version
 */
export function addVersion(history: AccountHistory, version: AccountVersion, root: bigint): AddedVersion | undefined {
  const { slot, epoch, order, isStreamed } = version;
  let newer: KeptVersion | undefined;
  let before = history.newest;
  while (before !== undefined && before.slot > slot) {
    newer = before;
    before = before.older;
  }
  if (before === undefined && newer !== undefined && newer.slot <= root) return undefined;
  if (history.droppedUpTo !== undefined && slot <= history.droppedUpTo) return undefined;
  const replaced = before?.slot === slot ? before : undefined;
  if (replaced !== undefined && (replaced.epoch > epoch || (replaced.epoch === epoch && replaced.order >= order)))
    return undefined;
  const isShared = before !== undefined && hasSameContent(before.account, version.account);
  const account = isShared ? before!.account : version.account;
  const older = replaced === undefined ? before : replaced.older;
  const added: KeptVersion = { slot, epoch, order, account, isStreamed, older };
  if (newer === undefined) history.newest = added;
  else newer.older = added;
  const bytes = isShared ? 0 : sizeOf(account);
  if (replaced === undefined) {
    history.count += 1;
    return { version: added, bytes: VERSION_BYTES + bytes };
  }
  const isElsewhere = isShared || older?.account === replaced.account || newer?.account === replaced.account;
  return { version: added, bytes: isElsewhere ? bytes : bytes - sizeOf(replaced.account) };
}

/**
 * Drops the oldest versions beyond the bounds. If a fork undoes all that are left, the account is unknown until it is read.
 *
 * @param head the newest slot of the chain
 */
export function boundVersions(history: AccountHistory, head: bigint): void {
  const { newest, count } = history;
  if (newest === undefined) return;
  if (count <= MAX_VERSIONS && count * sizeOf(newest.account) <= MAX_SPARE_BYTES) return;
  let last = newest;
  let kept = 1;
  let spare = 0;
  for (let next = last.older; next !== undefined && kept < MAX_VERSIONS; next = next.older) {
    if (next.account !== last.account) spare += sizeOf(next.account);
    if (spare > MAX_SPARE_BYTES) break;
    last = next;
    kept += 1;
  }
  history.count = kept;
  if (last.older === undefined) return;
  history.droppedUpTo = minOf(last.older.slot, head);
  last.older = undefined;
}

/** The length of an account's data in bytes, without decoding it; 0 if there is none. */
export const sizeOf = (account: Account | null | undefined): number =>
  account == null ? 0 : KeptAccount.sizeOf(account);

/** True if there is a version of the slot. Allocates nothing: it is called for thousands of accounts in one turn of the loop. */
export function hasVersionOf({ newest }: AccountHistory, slot: bigint): boolean {
  let version = newest;
  while (version !== undefined && version.slot > slot) version = version.older;
  return version?.slot === slot;
}

/** Drops the unwanted versions, and counts the others. */
export function keepVersions(history: AccountHistory, isWanted: (version: AccountVersion) => boolean): void {
  let count = 0;
  let newer: KeptVersion | undefined;
  for (let version = history.newest; version !== undefined; version = version.older) {
    if (isWanted(version)) {
      newer = version;
      count += 1;
    } else if (newer === undefined) history.newest = version.older;
    else newer.older = version.older;
  }
  history.count = count;
}

/** Drops versions that can no longer matter: off the chain, or older than the newest rooted version. */
export function pruneVersions(history: AccountHistory, root: bigint, tree: SlotTree): void {
  let hasRooted = false;
  keepVersions(history, ({ slot }) => {
    if (slot > root) return true;
    if (hasRooted || !tree.isOnChain(slot)) return false;
    hasRooted = true;
    return true;
  });
}
