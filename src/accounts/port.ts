import type { Address } from "../primitives/address.ts";

/** Who calls: the account and wallet an API key stands for. */
export interface Principal {
  readonly accountId: string;
  readonly keyId: string;
  readonly wallet: Address;
}

export interface KeyDirectory {
  /**
   * Whose key this is as far as is known without asking the store: the answer, or a look-up that is under way already.
   * Undefined: only the store can tell.
   * @throws TradewireError AUTH_ERROR: missing, mistyped (checksum), or not known a moment ago
   */
  recall(apiKey: string): Principal | Promise<Principal> | undefined;
  /**
   * Whose key this is. Synchronous while the key is in memory; a first use asks the store.
   * @throws TradewireError AUTH_ERROR: missing, mistyped (checksum), unknown or revoked, told apart in the message
   */
  authenticate(apiKey: string): Principal | Promise<Principal>;
}

/** An API key as its owner may see it; the secret itself is shown once, at registration. */
export interface KeySummary {
  readonly keyId: string;
  readonly label: string;
  readonly createdAtMs: number;
  readonly revokedAtMs: number | undefined;
}

export interface Challenge {
  readonly message: string;
  readonly expiresAtMs: number;
}

export interface Registered {
  readonly apiKey: string;
  readonly keyId: string;
  readonly wallet: Address;
}

export interface Accounts {
  /** A Sign-In-With-Solana text for the wallet to sign: single use, five minutes, bound to this host. */
  createChallenge(wallet: Address): Promise<Challenge>;
  /**
   * Opens the wallet's account on its first proof and issues a key. The signature is the wallet's over the challenge's
   * UTF-8 bytes or, from a hardware wallet, over the never-sent transaction whose one memo is the challenge.
   * @throws TradewireError VALIDATION_ERROR, INVALID_SIGNATURE, CONFLICT_ERROR (challenge used before, or no room for a key)
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
  /** The keys in use and the hundred revoked last, in the order they were issued. */
  listKeys(principal: Principal): Promise<readonly KeySummary[]>;
  /** @throws TradewireError NOT_FOUND when the key is not one of this account */
  revokeKey(principal: Principal, keyId: string): Promise<void>;
}

/** A submit as claimed before its first broadcast; the token and the bytes are a complete recovery record. */
export interface SubmissionClaim {
  /** SHA-256 of the message, hexadecimal: what the chain executes at most once. */
  readonly messageHash: string;
  /** Base58 transaction signature. */
  readonly signature: string;
  readonly accountId: string;
  readonly submissionToken: string;
  readonly transaction: Uint8Array;
  readonly lastValidBlockHeight: bigint;
  readonly claimedAtMs: number;
}

export interface SubmissionRecord extends SubmissionClaim {
  /** Until then (epoch milliseconds) the process that holds the claim looks after it. */
  readonly leaseUntilMs: number;
  /** The one terminal answer as JSON text, once there is one. */
  readonly outcome: string | undefined;
  /** True once the chain was seen to have finalized it; never taken back. */
  readonly isFinalized: boolean;
}

/** Which process looks after a submission, and until when (epoch milliseconds). */
export interface Lease {
  readonly owner: string;
  readonly untilMs: number;
}

/** The durable side of submitting: reporting, never safety (the chain itself executes a message at most once). */
export interface Submissions {
  /** Claims the message for this process, or returns what an earlier claim holds. Takes over a claim whose lease has run out. */
  claim(claim: SubmissionClaim, lease: Lease): Promise<"claimed" | SubmissionRecord>;
  /** Prolongs those of the leases that are still the owner's own and undecided, in as few writes as possible. */
  renew(messageHashes: readonly string[], lease: Lease): Promise<void>;
  /**
   * Writes the terminal outcome once, by compare-and-set, and returns the one that stands. A submission that could not be
   * claimed before gets its record now. The signature and bytes given are those remembered: of several signatures of one
   * message, those of the one that landed.
   */
  finish(claim: SubmissionClaim, outcome: string): Promise<string>;
  /** Writes down that the chain has finalized a submission that has ended. @returns false where no such end is written down */
  finalize(messageHash: string): Promise<boolean>;
  /**
   * Undecided submissions whose lease has run out, the longest abandoned first.
   *
   * @param except message hashes of those to leave out
   */
  abandoned(most: number, except?: readonly string[]): Promise<readonly SubmissionRecord[]>;
  /** Those of the messages whose end is written down. */
  endedAmong(messageHashes: readonly string[]): Promise<readonly string[]>;
  byMessageHash(messageHash: string): Promise<SubmissionRecord | undefined>;
  /** A submission of this account by its signature. */
  bySignature(accountId: string, signature: string): Promise<SubmissionRecord | undefined>;
}
