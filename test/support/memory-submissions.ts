import { hash } from "node:crypto";
import {
  isLeaseOver,
  type Lease,
  type SignedForm,
  type SubmissionClaim,
  type SubmissionRecord,
  type Submissions,
} from "../../src/accounts/port.ts";
import { TradewireError } from "../../src/errors/tradewire-error.ts";
import type { Now } from "../../src/primitives/clock.ts";

type AbandonedPlace = Pick<SubmissionRecord, "leaseUntilMs" | "messageHash">;

/** The store of submissions in memory, by the same rules, and with an outage at will. */
export interface MemorySubmissions extends Submissions {
  readonly rows: Map<string, SubmissionRecord & { readonly owner: string }>;
  /** Further signatures, by message hash. */
  readonly forms: Map<string, readonly SignedForm[]>;
  isDown: boolean;
  /** Remembers what it holds now. @returns what restores that, here or in another store */
  copy(): (into?: MemorySubmissions) => void;
}

export function createMemorySubmissions(now: Now): MemorySubmissions {
  const rows: MemorySubmissions["rows"] = new Map();
  const forms: MemorySubmissions["forms"] = new Map();
  const reach = () => {
    if (store.isDown) throw new TradewireError("UPSTREAM_ERROR", "The account database does not answer.");
  };
  const hold = (claim: SubmissionClaim, lease: Lease) =>
    rows.set(claim.messageHash, {
      ...claim,
      leaseUntilMs: lease.untilMs,
      owner: lease.owner,
      outcome: undefined,
      isFinalized: false,
      endedAtMs: undefined,
    });
  const store: MemorySubmissions = {
    rows,
    forms,
    isDown: false,
    copy() {
      const [rowsThen, formsThen] = [[...rows], [...forms]];
      return (into = store) => {
        for (const [now, then] of [
          [into.rows, rowsThen],
          [into.forms, formsThen],
        ] as const) {
          now.clear();
          for (const [key, value] of then) (now as Map<string, unknown>).set(key, value);
        }
      };
    },
    nowMs: now,
    async claim(claim, lease) {
      reach();
      const row = rows.get(claim.messageHash);
      const isOwn = row?.submissionToken === claim.submissionToken;
      const isFree =
        row === undefined || (isOwn && (row.owner === lease.owner || isLeaseOver(row.leaseUntilMs, now())));
      if (row !== undefined && (row.outcome !== undefined || !isFree)) return row;
      hold(row ?? claim, lease);
      return "claimed";
    },
    async renew(messageHashes, lease) {
      reach();
      return messageHashes.filter((messageHash) => {
        const row = rows.get(messageHash);
        const isOwn = row !== undefined && row.owner === lease.owner && row.outcome === undefined;
        if (isOwn) hold(row, lease);
        return isOwn;
      });
    },
    async takeOver(messageHashes, lease) {
      reach();
      return messageHashes.filter((messageHash) => {
        const row = rows.get(messageHash);
        const isFree = row !== undefined && row.outcome === undefined && isLeaseOver(row.leaseUntilMs, now());
        if (isFree) hold(row, lease);
        return isFree;
      });
    },
    async finish(claim, outcome) {
      reach();
      const row = rows.get(claim.messageHash);
      const isOwn = row?.submissionToken === claim.submissionToken;
      if (row !== undefined && (row.outcome !== undefined || !isOwn)) return row;
      const ended = { outcome, isFinalized: false, endedAtMs: now() };
      rows.set(claim.messageHash, { ...claim, leaseUntilMs: 0, owner: row?.owner ?? "", ...ended });
      return "finished";
    },
    async replaceOutcome(claim, replaced, outcome, isFinalized = false) {
      reach();
      const row = rows.get(claim.messageHash);
      if (row?.outcome !== replaced.outcome || row?.isFinalized !== replaced.isFinalized) return false;
      const { signature, transaction } = claim;
      rows.set(claim.messageHash, { ...row, signature, transaction, outcome, isFinalized });
      return true;
    },
    async finalize(messageHash, outcome) {
      reach();
      const row = rows.get(messageHash);
      if (row?.outcome !== outcome) return false;
      rows.set(messageHash, { ...row, isFinalized: true });
      return true;
    },
    async standingOf(messageHash) {
      const digest = (await store.digestsAmong([messageHash])).get(messageHash);
      return digest === undefined ? undefined : { digest, isFinalized: rows.get(messageHash)!.isFinalized };
    },
    async abandoned(most, { except = [], after } = {}) {
      reach();
      const isBefore = (a: AbandonedPlace, b: AbandonedPlace) =>
        a.leaseUntilMs < b.leaseUntilMs || (a.leaseUntilMs === b.leaseUntilMs && a.messageHash < b.messageHash);
      return [...rows.values()]
        .filter(({ outcome, leaseUntilMs }) => outcome === undefined && isLeaseOver(leaseUntilMs, now()))
        .filter((row) => !except.includes(row.messageHash) && (after === undefined || isBefore(after, row)))
        .sort((a, b) => (isBefore(a, b) ? -1 : 1))
        .slice(0, most);
    },
    async endedAmong(messageHashes) {
      reach();
      return messageHashes.filter((messageHash) => rows.get(messageHash)?.outcome !== undefined);
    },
    async digestsAmong(messageHashes) {
      reach();
      const ended = messageHashes.flatMap((messageHash) => {
        const outcome = rows.get(messageHash)?.outcome;
        return outcome === undefined ? [] : [[messageHash, hash("sha256", outcome)] as const];
      });
      return new Map(ended);
    },
    async addSignature(messageHash, form) {
      reach();
      const known = forms.get(messageHash) ?? [];
      if (!known.some(({ signature }) => signature === form.signature)) forms.set(messageHash, [...known, form]);
    },
    async signaturesOf(messageHash) {
      reach();
      const row = rows.get(messageHash);
      return [...(row === undefined ? [] : [row]), ...(forms.get(messageHash) ?? [])];
    },
    async byMessageHash(messageHash) {
      reach();
      return rows.get(messageHash);
    },
    async listOf(accountId, { most, after, sinceMs = 0, untilMs = Number.POSITIVE_INFINITY, state }) {
      reach();
      const isBehind = (row: SubmissionRecord) =>
        after === undefined ||
        row.claimedAtMs < after.claimedAtMs ||
        (row.claimedAtMs === after.claimedAtMs && row.messageHash < after.messageHash);
      return [...rows.values()]
        .filter((row) => row.accountId === accountId && row.claimedAtMs >= sinceMs && row.claimedAtMs < untilMs)
        .filter(({ outcome }) => state === undefined || (state === "pending") === (outcome === undefined))
        .filter(isBehind)
        .sort((a, b) => b.claimedAtMs - a.claimedAtMs || (a.messageHash < b.messageHash ? 1 : -1))
        .slice(0, most);
    },
    async bySignature(accountId, signature) {
      reach();
      return [...rows.values()].find(
        (row) =>
          row.accountId === accountId &&
          [row, ...(forms.get(row.messageHash) ?? [])].some((form) => form.signature === signature),
      );
    },
  };
  return store;
}
