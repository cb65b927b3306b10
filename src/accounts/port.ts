import type { Address } from "../primitives/address.ts";

/** The account and wallet behind an API key. */
export interface Principal {
  readonly accountId: string;
  readonly keyId: string;
  readonly wallet: Address;
  /** Where the bucket of the key's calls is that was used last: kept here, it needs no look-up. Only the limits read it. */
  bucketsOf?: object | undefined;
  bucketAt?: number;
}

/** Finds whose an API key is. */
export interface KeyDirectory {
  /**
   * The owner of a key without a new query: from memory, or from a pending look-up. Undefined: the store must be asked.
   * @throws TradewireError AUTH_ERROR: missing, mistyped (checksum), or unknown a moment ago
   */
  recall(apiKey: string): Principal | Promise<Principal> | undefined;
  /**
   * The owner of a key. Synchronous while the key is in memory; its first use queries the store.
   * @throws TradewireError AUTH_ERROR: missing, mistyped (checksum), unknown or revoked; the message says which
   */
  authenticate(apiKey: string): Principal | Promise<Principal>;
  /**
   * Calls `revoked` once if the key is revoked, here or by another process, as soon as that is known. @returns a function that ends the
   * watch
   */
  watch(keyId: string, revoked: () => void): () => void;
}

/** An API key as its owner sees it; the secret is shown once, at registration. */
export interface KeySummary {
  readonly keyId: string;
  readonly label: string;
  readonly createdAtMs: number;
  readonly revokedAtMs: number | undefined;
}

/** A text for a wallet to sign, and until when that counts. Epoch milliseconds. */
export interface Challenge {
  readonly message: string;
  readonly expiresAtMs: number;
}

/** A key that was just issued: the only time that it is shown whole. */
export interface Registered {
  readonly apiKey: string;
  readonly keyId: string;
  readonly wallet: Address;
}

/** Registration of wallets, and the keys of their accounts. */
export interface Accounts {
  /** A Sign-In-With-Solana message for the wallet to sign: single use, valid for five minutes, bound to this host. */
  createChallenge(wallet: Address): Promise<Challenge>;
  /**
   * Issues a key, and opens the wallet's account on its first registration. The wallet signs the challenge's UTF-8 bytes
   * or, if it is a hardware wallet, a transaction that is never sent and whose only memo is the challenge.
   * @throws TradewireError VALIDATION_ERROR, INVALID_SIGNATURE, CONFLICT_ERROR (challenge used before, or too many keys)
   */
  register(proof: {
    readonly wallet: Address;
    readonly message: string;
    readonly signature: Uint8Array;
    readonly label: string;
    readonly revokeOthers: boolean;
  }): Promise<Registered>;
  profile(
    principal: Principal,
  ): Promise<{ readonly accountId: string; readonly wallet: Address; readonly createdAtMs: number }>;
  /** Live keys and the hundred revoked last, in order of issue. */
  listKeys(principal: Principal): Promise<readonly KeySummary[]>;
  /** @throws TradewireError NOT_FOUND if the account has no such key */
  revokeKey(principal: Principal, keyId: string): Promise<void>;
}

/** A submit as claimed before its first broadcast; token and bytes are a complete recovery record. */
export interface SubmissionClaim {
  /** SHA-256 of the message, hexadecimal: the chain executes each message at most once. */
  readonly messageHash: string;
  /** Base58 transaction signature. */
  readonly signature: string;
  readonly accountId: string;
  readonly submissionToken: string;
  readonly transaction: Uint8Array;
  readonly lastValidBlockHeight: bigint;
  readonly claimedAtMs: number;
}

/** A message under one of its valid signatures. */
export interface SignedForm {
  /** Base58. */
  readonly signature: string;
  readonly transaction: Uint8Array;
}

/** A submission on record: its claim, who holds it, and how it ended. */
export interface SubmissionRecord extends SubmissionClaim {
  /** Until when the claiming process is responsible for it, by `Submissions.nowMs`. Epoch milliseconds. */
  readonly leaseUntilMs: number;
  /** The terminal answer as JSON text, once decided. */
  readonly outcome: string | undefined;
  /** True once the chain has finalized it; never reset. */
  readonly isFinalized: boolean;
  /** When the outcome was stored; undefined while pending. */
  readonly endedAtMs: number | undefined;
}

/** What is read of an outcome on record to compare it with one that is known. */
export interface StandingOutcome {
  /** SHA-256 of its text, hexadecimal. */
  readonly digest: string;
  readonly isFinalized: boolean;
}

/** No lease ends later than that from now, unless the clock that it was dated by has been set back since. Milliseconds. */
export const LONGEST_LEASE_MS = 60_000;

/** True of a lease that no process holds any more, by `Submissions.nowMs`. */
export const isLeaseOver = (untilMs: number, nowMs: number): boolean =>
  untilMs < nowMs || untilMs > nowMs + LONGEST_LEASE_MS;

/** A place in the list of an account's submissions, newest first. */
export interface SubmissionPlace {
  readonly claimedAtMs: number;
  readonly messageHash: string;
}

/** Which submissions of an account to list. */
export interface SubmissionQuery {
  readonly most: number;
  /** Only those behind this place. */
  readonly after?: SubmissionPlace | undefined;
  /** Only those claimed at this time or later. */
  readonly sinceMs?: number | undefined;
  /** Only those claimed before this time. */
  readonly untilMs?: number | undefined;
  /** Only pending ones, or only those with an outcome. */
  readonly state?: "pending" | "ended" | undefined;
}

/** Which process is responsible for a submission, and until when (epoch milliseconds, by `Submissions.nowMs`). */
export interface Lease {
  readonly owner: string;
  readonly untilMs: number;
}

/** Which abandoned submissions to find. */
export interface AbandonedQuery {
  /** Message hashes to leave out. */
  readonly except?: readonly string[];
  /** Only those behind this one. */
  readonly after?: Pick<SubmissionRecord, "leaseUntilMs" | "messageHash"> | undefined;
}

/** The durable side of submitting. It serves reporting, not safety: the chain itself executes a message at most once. */
export interface Submissions {
  /** The time that leases are dated by, the same for every process on the database. Epoch milliseconds. */
  nowMs(): number;
  /**
   * Claims the message for the lease's owner, or returns the record of another's claim. Takes over a claim with an expired lease;
   * the owner's own claim is extended. Both only for the token on record: another build of the message gets the record.
   */
  claim(claim: SubmissionClaim, lease: Lease): Promise<"claimed" | SubmissionRecord>;
  /** Extends the owner's undecided leases in as few writes as possible. @returns those extended: the owner has no others */
  renew(messageHashes: readonly string[], lease: Lease): Promise<readonly string[]>;
  /** Takes over pending submissions whose leases have expired, in as few writes as possible. @returns those taken over */
  takeOver(messageHashes: readonly string[], lease: Lease): Promise<readonly string[]>;
  /**
   * Writes the terminal outcome once, by compare-and-set, or returns the record that stands: one with an outcome, or with another token.
   * Creates the record if the submission could not be claimed before. Stores the given signature and bytes: if a message was signed
   * several times, those of the transaction that landed.
   */
  finish(claim: SubmissionClaim, outcome: string): Promise<"finished" | SubmissionRecord>;
  /**
   * Puts an outcome in the place of one that is damaged, was undone or says less, unless another process has replaced or finalized that, with
   * signature and bytes as `finish`.
   *
   * @param replaced the outcome as it was read, and whether it was marked as finalized then
   * @param isFinal whether it is marked as finalized with that; absent: it is not
   * @returns false if the record stays as it is
   */
  replaceOutcome(
    claim: SubmissionClaim,
    replaced: Pick<SubmissionRecord, "outcome" | "isFinalized">,
    outcome: string,
    isFinal?: boolean,
  ): Promise<boolean>;
  /**
   * Marks a submission that ended with this outcome as finalized. @returns false if there is no such record, as after a failover that lost
   * its correction
   */
  finalize(messageHash: string, outcome: string): Promise<boolean>;
  /** The outcome on record, as any process has written it before this was asked; undefined if there is none. */
  standingOf(messageHash: string): Promise<StandingOutcome | undefined>;
  /** Pending submissions with an expired lease, oldest expiry first. */
  abandoned(most: number, query?: AbandonedQuery): Promise<readonly SubmissionRecord[]>;
  /** Those of the messages that have an outcome on record. */
  endedAmong(messageHashes: readonly string[]): Promise<readonly string[]>;
  /** The digests of the outcomes of those of the messages that have one, by message hash. */
  digestsAmong(messageHashes: readonly string[]): Promise<ReadonlyMap<string, string>>;
  byMessageHash(messageHash: string): Promise<SubmissionRecord | undefined>;
  /** Stores a further signature of a message, so that a process that takes over follows it too. Storing it again does nothing. */
  addSignature(messageHash: string, form: SignedForm): Promise<void>;
  /** Every stored signature of a message, whichever process stored it. */
  signaturesOf(messageHash: string): Promise<readonly SignedForm[]>;
  /** A submission of this account by any stored signature of its message. */
  bySignature(accountId: string, signature: string): Promise<SubmissionRecord | undefined>;
  /** Submissions of an account, newest claim first. */
  listOf(accountId: string, query: SubmissionQuery): Promise<readonly SubmissionRecord[]>;
}
