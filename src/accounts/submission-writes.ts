import { hash } from "node:crypto";
import { Batches } from "./batches.ts";
import type { StandingOutcome } from "./port.ts";
import type { NewSubmission } from "./store/schema.ts";
import type { Store } from "./store/store.ts";

/** The statements that every submit makes. */
export interface SubmissionWrites {
  /** Writes a new submission. @returns false if its message has one */
  insert(row: NewSubmission): Promise<boolean>;
  /** Writes an outcome, unless the message has one or its record another token. @returns whether it was written */
  finish(row: NewSubmission): Promise<boolean>;
  /** The outcome of the message, if it has one. */
  standingOf(messageHash: string): Promise<StandingOutcome | undefined>;
  /** Those of the messages that have an outcome. */
  endedAmong(messageHashes: readonly string[]): Promise<readonly string[]>;
  /** Digests of the outcomes of the messages that have one, by message hash. */
  digestsAmong(messageHashes: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/** Column types of PostgreSQL, in the order of the statements. */
const COLUMNS = {
  message_hash: "text",
  signature: "text",
  account_id: "text",
  submission_token: "text",
  transaction_bytes: "bytea",
  last_valid_block_height: "bigint",
  claimed_at_ms: "bigint",
  lease_owner: "text",
  lease_until_ms: "bigint",
  outcome: "text",
  finished_at_ms: "bigint",
} as const satisfies Partial<Record<keyof NewSubmission, string>>;
const NAMES = Object.keys(COLUMNS) as (keyof typeof COLUMNS)[];

const INTO = `insert into submissions (${NAMES.join(", ")})`;
const IF_NEW = "on conflict (message_hash) do nothing";
/** If a message was signed several times, the signature that landed stays. */
const IF_PENDING =
  "on conflict (message_hash) do update set outcome = excluded.outcome, finished_at_ms = excluded.finished_at_ms, " +
  "signature = excluded.signature, transaction_bytes = excluded.transaction_bytes " +
  "where submissions.outcome is null and submissions.submission_token = excluded.submission_token";
/** On PostgreSQL one statement writes several rows and returns the hashes of the messages written. */
const RETURNING = "returning message_hash";

/** Most messages have one signature, and a claim that stands with it: then nothing else of the row is sent or written again. */
const END_CLAIM =
  "update submissions set outcome = ?, finished_at_ms = ? " +
  "where message_hash = ? and signature = ? and submission_token = ? and outcome is null";

/** A row for each place in the arrays. In order: two processes that write the same messages wait for each other in one direction only. */
const FROM_ARRAYS = `select * from unnest(${NAMES.map((name, i) => `$${i + 1}::${COLUMNS[name]}[]`).join(", ")}) order by 1`;
const FROM_VALUES = `values (${NAMES.map(() => "?").join(", ")})`;
/** The embedded database computes no digest, so it gives the text; from a server, that would be many times as much to send. */
const TEXT = "outcome";
const DIGEST = "encode(sha256(convert_to(outcome, 'UTF8')), 'hex') as outcome";
const endsAs = (columns: string) =>
  `select message_hash, ${columns} from submissions where outcome is not null and message_hash`;
const ENDED = "select message_hash from submissions where outcome is not null and message_hash";

/** Rows a statement writes at most. */
const ROWS_AT_ONCE = 256;
/** Statements in flight: one is sent while the disk is busy with another. */
const IN_FLIGHT = 2;

interface EndRow {
  readonly message_hash: string;
  readonly outcome: unknown;
}

interface StandingRow extends EndRow {
  readonly finalized_at_ms: number | null;
}

/**
 * The statements of submits on a store, their text made once. On PostgreSQL, submits that come while others are written share
 * a statement and its commit; the embedded database's thread commits what waits for it together.
 */
export function createSubmissionWrites(store: Store): SubmissionWrites {
  const query = async (sql: string, parameters: readonly unknown[]): Promise<readonly string[]> => {
    const rows = await store.query<{ message_hash: string }>(sql, parameters);
    return rows.map(({ message_hash }) => message_hash);
  };
  /** One statement for lists of any length. */
  const rowsAmong = <R>(sql: string, hashes: readonly string[]) =>
    store.isEmbedded
      ? store.query<R>(`${sql} in (select value from json_each(?))`, [JSON.stringify(hashes)])
      : store.query<R>(`${sql} = any($1)`, [hashes]);
  const among = async (sql: string, hashes: readonly string[]) =>
    (await rowsAmong<{ message_hash: string }>(sql, hashes)).map(({ message_hash }) => message_hash);
  const outcomeColumn = store.isEmbedded ? TEXT : DIGEST;
  const [digests, standings] = [endsAs(outcomeColumn), endsAs(`finalized_at_ms, ${outcomeColumn}`)];
  const digestOf = ({ outcome }: EndRow) => (store.isEmbedded ? hash("sha256", String(outcome)) : String(outcome));
  const digestsAmong = async (hashes: readonly string[]): Promise<ReadonlyMap<string, string>> => {
    const rows = await rowsAmong<EndRow>(digests, hashes);
    return new Map(rows.map((row) => [row.message_hash, digestOf(row)]));
  };
  const endedAmong = (hashes: readonly string[]) => among(ENDED, hashes);
  const looks = new Batches<string, StandingOutcome | undefined>({
    run: async (hashes) => {
      const rows = await rowsAmong<StandingRow>(standings, hashes);
      const found = new Map(
        rows.map((row) => [row.message_hash, { digest: digestOf(row), isFinalized: row.finalized_at_ms !== null }]),
      );
      return hashes.map((hash) => found.get(hash));
    },
    most: ROWS_AT_ONCE,
    inFlight: IN_FLIGHT,
    isShared: true,
  });
  const standingOf = (hash: string) => looks.add(hash, hash);
  if (store.isEmbedded) {
    const writer = (suffix: string) => {
      const sql = `${INTO} ${FROM_VALUES} ${suffix}`;
      return async (row: NewSubmission) =>
        (await store.write(
          sql,
          NAMES.map((name) => row[name] ?? null),
        )) > 0;
    };
    const [insert, end] = [writer(IF_NEW), writer(IF_PENDING)];
    const finish = async (row: NewSubmission) => {
      const { outcome = null, finished_at_ms = null, message_hash, signature, submission_token } = row;
      const ended = [outcome, finished_at_ms, message_hash, signature, submission_token];
      return (await store.write(END_CLAIM, ended)) > 0 || end(row);
    };
    return { insert, finish, standingOf, endedAmong, digestsAmong };
  }
  const batches = (suffix: string) =>
    new Batches<NewSubmission, boolean>({
      run: async (rows) => {
        const columns = NAMES.map((name) => rows.map((row) => row[name] ?? null));
        const written = new Set(await query(`${INTO} ${FROM_ARRAYS} ${suffix} ${RETURNING}`, columns));
        return rows.map(({ message_hash }) => written.has(message_hash));
      },
      most: ROWS_AT_ONCE,
      inFlight: IN_FLIGHT,
    });
  const [inserts, ends] = [batches(IF_NEW), batches(IF_PENDING)];
  return {
    insert: (row) => inserts.add(row.message_hash, row),
    finish: (row) => ends.add(row.message_hash, row),
    standingOf,
    endedAmong,
    digestsAmong,
  };
}
