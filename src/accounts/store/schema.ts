import type { Insertable, Kysely, Selectable } from "kysely";

/** Tables of the store. Column types are those that both databases share: text, whole milliseconds since 1970, and bytes. */
export interface Schema {
  accounts: AccountTable;
  api_keys: ApiKeyTable;
  revocation_count: RevocationCountTable;
  challenges: ChallengeTable;
  submissions: SubmissionTable;
  submission_signatures: SubmissionSignatureTable;
  limit_usage: LimitUsageTable;
  pepper_mark: PepperMarkTable;
  markets: MarketTable;
  market_searches: MarketSearchTable;
}

interface AccountTable {
  id: string;
  /** Base58. */
  wallet: string;
  created_at_ms: number;
}

interface ApiKeyTable {
  /** The public part of the key. */
  id: string;
  account_id: string;
  /** HMAC-SHA-256 of the whole key under the pepper; the key itself is stored nowhere. */
  hash: Uint8Array;
  label: string;
  created_at_ms: number;
  revoked_at_ms: number | null;
  /** When it was last used, to the day; of one never used, when it was made. Null: made by an older version, and not used since. */
  used_at_ms: number | null;
}

/** One row, drawn again in the transaction of every revocation: a process that sees it unchanged has missed none. */
interface RevocationCountTable {
  id: number;
  count: number;
}

interface ChallengeTable {
  /** SHA-256 of the challenge text, hexadecimal: finding the row proves the text is exactly the one issued. */
  message_hash: string;
  wallet: string;
  expires_at_ms: number;
  used_at_ms: number | null;
}

interface SubmissionTable {
  message_hash: string;
  signature: string;
  account_id: string;
  submission_token: string;
  transaction_bytes: Uint8Array;
  last_valid_block_height: number;
  claimed_at_ms: number;
  lease_owner: string;
  lease_until_ms: number;
  outcome: string | null;
  finished_at_ms: number | null;
  /** When it was seen finalized on the chain. */
  finalized_at_ms: number | null;
}

/** A further signature of a submission's message, written before it is broadcast. */
interface SubmissionSignatureTable {
  signature: string;
  message_hash: string;
  transaction_bytes: Uint8Array;
  stored_at_ms: number;
}

/** Total that one process has counted against a limit: others use the difference to what they read before. */
interface LimitUsageTable {
  owner: string;
  /** Policy and subject: the public part of a key, or an address. */
  name: string;
  calls: number;
  at_ms: number;
}

/** One row: identifies the pepper of the key hashes. */
interface PepperMarkTable {
  id: number;
  mark: string;
}

/** A market found for a subject: a mint, or a pair of mints. Read from the chain again before it is used. */
interface MarketTable {
  /** The network, a slash, and the mint, or both mints with a colon between them: base58. */
  subject: string;
  /** Base58, like the mints. */
  address: string;
  venue: string;
  mint_a: string;
  mint_b: string;
  found_at_ms: number;
}

/** Searches of the chain that covered a subject whole. */
interface MarketSearchTable {
  subject: string;
  /** Ids of the venues searched, with spaces between them. */
  venues: string;
  first_at_ms: number;
  at_ms: number;
}

export type Database = Kysely<Schema>;
export type SubmissionRow = Selectable<SubmissionTable>;
export type NewSubmission = Insertable<SubmissionTable>;
