import type { Expression, ExpressionBuilder, SqlBool } from "kysely";
import { TradewireError } from "../errors/tradewire-error.ts";
import type { Now } from "../primitives/clock.ts";
import {
  type AbandonedQuery,
  type Lease,
  LONGEST_LEASE_MS,
  type SignedForm,
  type StandingOutcome,
  type SubmissionClaim,
  type SubmissionQuery,
  type SubmissionRecord,
  type Submissions,
} from "./port.ts";
import type { NewSubmission, Schema, SubmissionRow } from "./store/schema.ts";
import type { Store } from "./store/store.ts";
import { createSubmissionWrites, type SubmissionWrites } from "./submission-writes.ts";

/**
 * Submissions and their outcomes, stored so that every process gives the same answer.
 *
 * @param now the clock of all processes on the database
 */
export function createSubmissions(store: Store, now: Now): Submissions {
  return new StoredSubmissions(store, now);
}

/** Leases extended per statement: each statement costs the embedded database a write to disk. */
const EXTENDED_AT_ONCE = 256;

class StoredSubmissions implements Submissions {
  readonly #store: Store;
  readonly #writes: SubmissionWrites;
  /** The texts of the statements that look-ups and streams make. */
  readonly #bySignature: string;
  readonly #finalize: string;
  readonly nowMs: Now;

  constructor(store: Store, now: Now) {
    this.#store = store;
    this.#writes = createSubmissionWrites(store);
    const [first, second, third] = store.isEmbedded ? (["?", "?", "?"] as const) : (["$1", "$2", "$3"] as const);
    this.#bySignature = signedBy(first, second);
    this.#finalize = `update submissions set finalized_at_ms = ${first} where message_hash = ${second} and outcome = ${third}`;
    this.nowMs = now;
  }

  async claim(claim: SubmissionClaim, lease: Lease): Promise<"claimed" | SubmissionRecord> {
    const isNew = await this.#writes.insert(rowOf(claim, lease));
    if (isNew || (await this.#takeOver(claim, lease))) return "claimed";
    const record = await this.byMessageHash(claim.messageHash);
    if (record === undefined) {
      throw new TradewireError("UPSTREAM_ERROR", "The record of this submission was just removed. Submit it again.");
    }
    return record;
  }

  /** Compare-and-set: one process wins an expired lease. The lease of this process itself goes on: the answer to its claim was lost. */
  async #takeOver({ messageHash, submissionToken }: SubmissionClaim, lease: Lease): Promise<boolean> {
    const taken = await this.#store.run((db) =>
      db
        .updateTable("submissions")
        .set({ lease_owner: lease.owner, lease_until_ms: lease.untilMs })
        .where("message_hash", "=", messageHash)
        .where("submission_token", "=", submissionToken)
        .where("outcome", "is", null)
        .where((where) => where.or([where("lease_owner", "=", lease.owner), this.#isLeaseOver()(where)]))
        .returning("message_hash")
        .executeTakeFirst(),
    );
    return taken !== undefined;
  }

  /** As `isLeaseOver`. */
  #isLeaseOver() {
    const nowMs = this.nowMs();
    return (where: ExpressionBuilder<Schema, "submissions">) =>
      where.or([where("lease_until_ms", "<", nowMs), where("lease_until_ms", ">", nowMs + LONGEST_LEASE_MS)]);
  }

  renew(messageHashes: readonly string[], { owner, untilMs }: Lease): Promise<readonly string[]> {
    return this.#extend(messageHashes, { lease_until_ms: untilMs }, (where) => where("lease_owner", "=", owner));
  }

  takeOver(messageHashes: readonly string[], { owner, untilMs }: Lease): Promise<readonly string[]> {
    return this.#extend(messageHashes, { lease_owner: owner, lease_until_ms: untilMs }, this.#isLeaseOver());
  }

  /** Dates anew the leases of pending submissions that meet the condition. @returns the hashes of their messages */
  async #extend(
    messageHashes: readonly string[],
    lease: Pick<NewSubmission, "lease_until_ms"> & Partial<Pick<NewSubmission, "lease_owner">>,
    isMet: (where: ExpressionBuilder<Schema, "submissions">) => Expression<SqlBool>,
  ): Promise<readonly string[]> {
    const extended: string[] = [];
    for (let from = 0; from < messageHashes.length; from += EXTENDED_AT_ONCE) {
      const some = messageHashes.slice(from, from + EXTENDED_AT_ONCE);
      const rows = await this.#store.run((db) =>
        db
          .updateTable("submissions")
          .set(lease)
          .where("message_hash", "in", (nested) =>
            // In the order in which outcomes are written: else two statements may wait for each other's rows in a circle.
            nested
              .selectFrom("submissions")
              .select("message_hash")
              .where("message_hash", "in", some)
              .where(isMet)
              .where("outcome", "is", null)
              .orderBy("message_hash")
              .$if(!this.#store.isEmbedded, (query) => query.forUpdate()),
          )
          .where(isMet)
          .where("outcome", "is", null)
          .returning("message_hash")
          .execute(),
      );
      extended.push(...rows.map(({ message_hash }) => message_hash));
    }
    return extended;
  }

  async finish(claim: SubmissionClaim, outcome: string): Promise<"finished" | SubmissionRecord> {
    const ended = { outcome, finished_at_ms: this.nowMs() };
    if (await this.#writes.finish({ ...rowOf(claim, NO_LEASE), ...ended })) return "finished";
    // One that was just removed had ended long ago.
    return (await this.byMessageHash(claim.messageHash)) ?? "finished";
  }

  async replaceOutcome(
    claim: SubmissionClaim,
    replaced: Pick<SubmissionRecord, "outcome" | "isFinalized">,
    outcome: string,
    isFinal = false,
  ): Promise<boolean> {
    const { signature, transaction } = claim;
    const nowMs = this.nowMs();
    const { numUpdatedRows } = await this.#store.run((db) =>
      db
        .updateTable("submissions")
        .set({
          outcome,
          finished_at_ms: nowMs,
          finalized_at_ms: isFinal ? nowMs : null,
          signature,
          transaction_bytes: transaction,
        })
        .where("message_hash", "=", claim.messageHash)
        .where("outcome", "=", replaced.outcome ?? null)
        // Another process may have reported it as final since it was read.
        .where("finalized_at_ms", replaced.isFinalized ? "is not" : "is", null)
        .executeTakeFirst(),
    );
    return numUpdatedRows > 0n;
  }

  async finalize(messageHash: string, outcome: string): Promise<boolean> {
    return (await this.#store.write(this.#finalize, [this.nowMs(), messageHash, outcome])) > 0;
  }

  standingOf(messageHash: string): Promise<StandingOutcome | undefined> {
    return this.#writes.standingOf(messageHash);
  }

  async abandoned(most: number, { except = [], after }: AbandonedQuery = {}): Promise<readonly SubmissionRecord[]> {
    const rows = await this.#store.run((db) =>
      db
        .selectFrom("submissions")
        .selectAll()
        .where("outcome", "is", null)
        .where(this.#isLeaseOver())
        .$if(except.length > 0, (query) => query.where("message_hash", "not in", except))
        .$if(after !== undefined, (query) =>
          query
            .where("lease_until_ms", ">=", after!.leaseUntilMs)
            .where((where) =>
              where.or([
                where("lease_until_ms", ">", after!.leaseUntilMs),
                where("message_hash", ">", after!.messageHash),
              ]),
            ),
        )
        .orderBy("lease_until_ms")
        .orderBy("message_hash")
        .limit(most)
        .execute(),
    );
    return rows.map(recordOf);
  }

  endedAmong(messageHashes: readonly string[]): Promise<readonly string[]> {
    return this.#writes.endedAmong(messageHashes);
  }

  digestsAmong(messageHashes: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.#writes.digestsAmong(messageHashes);
  }

  async byMessageHash(messageHash: string): Promise<SubmissionRecord | undefined> {
    const row = await this.#store.run((db) =>
      db.selectFrom("submissions").selectAll().where("message_hash", "=", messageHash).executeTakeFirst(),
    );
    return row === undefined ? undefined : recordOf(row);
  }

  async addSignature(messageHash: string, { signature, transaction }: SignedForm): Promise<void> {
    const row = {
      signature,
      message_hash: messageHash,
      transaction_bytes: transaction,
      stored_at_ms: this.nowMs(),
    };
    await this.#store.run((db) =>
      db
        .insertInto("submission_signatures")
        .values(row)
        .onConflict((conflict) => conflict.column("signature").doNothing())
        .execute(),
    );
  }

  async signaturesOf(messageHash: string): Promise<readonly SignedForm[]> {
    const rows = await this.#store.run((db) =>
      db
        .selectFrom("submissions")
        .select(["signature", "transaction_bytes"])
        .where("message_hash", "=", messageHash)
        .union(
          db
            .selectFrom("submission_signatures")
            .select(["signature", "transaction_bytes"])
            .where("message_hash", "=", messageHash),
        )
        .execute(),
    );
    return rows.map((row) => ({ signature: row.signature, transaction: bytesOf(row.transaction_bytes) }));
  }

  async bySignature(accountId: string, signature: string): Promise<SubmissionRecord | undefined> {
    const rows = await this.#store.query<SubmissionRow>(this.#bySignature, [signature, signature]);
    const row = rows.find(({ account_id }) => account_id === accountId);
    return row === undefined ? undefined : recordOf(row);
  }

  async listOf(accountId: string, { most, after, sinceMs, untilMs, state }: SubmissionQuery) {
    const rows = await this.#store.run((db) =>
      db
        .selectFrom("submissions")
        .selectAll()
        .where("account_id", "=", accountId)
        .$if(sinceMs !== undefined, (query) => query.where("claimed_at_ms", ">=", sinceMs!))
        .$if(untilMs !== undefined, (query) => query.where("claimed_at_ms", "<", untilMs!))
        .$if(state === "pending", (query) => query.where("outcome", "is", null))
        .$if(state === "ended", (query) => query.where("outcome", "is not", null))
        .$if(after !== undefined, (query) =>
          query
            .where("claimed_at_ms", "<=", after!.claimedAtMs)
            .where((where) =>
              where.or([
                where("claimed_at_ms", "<", after!.claimedAtMs),
                where("message_hash", "<", after!.messageHash),
              ]),
            ),
        )
        .orderBy("claimed_at_ms", "desc")
        .orderBy("message_hash", "desc")
        .limit(most)
        .execute(),
    );
    return rows.map(recordOf);
  }
}

/** Finds the message first: asked for the account too, both databases read all of its submissions. */
const signedBy = (one: string, same: string) =>
  "select * from submissions where message_hash in " +
  `(select message_hash from submissions where signature = ${one} ` +
  `union select message_hash from submission_signatures where signature = ${same})`;

const NO_LEASE: Lease = { owner: "", untilMs: 0 };

function rowOf(claim: SubmissionClaim, lease: Lease): NewSubmission {
  return {
    message_hash: claim.messageHash,
    signature: claim.signature,
    account_id: claim.accountId,
    submission_token: claim.submissionToken,
    transaction_bytes: claim.transaction,
    // Block heights stay far below 2^53, where a number is exact.
    last_valid_block_height: Number(claim.lastValidBlockHeight),
    claimed_at_ms: claim.claimedAtMs,
    lease_owner: lease.owner,
    lease_until_ms: lease.untilMs,
    outcome: null,
    finished_at_ms: null,
    finalized_at_ms: null,
  };
}

function recordOf(row: SubmissionRow): SubmissionRecord {
  return {
    messageHash: row.message_hash,
    signature: row.signature,
    accountId: row.account_id,
    submissionToken: row.submission_token,
    transaction: bytesOf(row.transaction_bytes),
    lastValidBlockHeight: BigInt(wholeOf(row.last_valid_block_height) ?? 0),
    claimedAtMs: wholeOf(row.claimed_at_ms) ?? 0,
    leaseUntilMs: wholeOf(row.lease_until_ms) ?? 0,
    outcome: row.outcome === null ? undefined : String(row.outcome),
    isFinalized: row.finalized_at_ms !== null,
    endedAtMs: wholeOf(row.finished_at_ms),
  };
}

/** The last millisecond of the calendar. */
const MAX_WHOLE = 8_640_000_000_000_000;

/** A whole number that a time or a height can be; undefined of a damaged cell: SQLite keeps anything in any column. */
function wholeOf(cell: unknown): number | undefined {
  return Number.isSafeInteger(cell) && Math.abs(cell as number) <= MAX_WHOLE ? (cell as number) : undefined;
}

const bytesOf = (cell: unknown): Uint8Array => (cell instanceof Uint8Array ? new Uint8Array(cell) : new Uint8Array());
