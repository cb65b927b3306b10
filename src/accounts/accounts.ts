import { hash } from "node:crypto";
import { invalidField, TradewireError } from "../errors/tradewire-error.ts";
import type { Address } from "../primitives/address.ts";
import type { Now } from "../primitives/clock.ts";
import { isWalletKey } from "../primitives/ed25519.ts";
import type { RandomBytes } from "../primitives/random.ts";
import { provesWallet } from "./challenge/challenge-proof.ts";
import { isForDomain, writeChallenge } from "./challenge/challenge-text.ts";
import { createApiKey, hashApiKey, isKeyId, keyIdOf } from "./keys/api-key.ts";
import type { LiveKeyDirectory } from "./keys/key-directory.ts";
import { countRevocation } from "./keys/revocation-count.ts";
import type { Accounts, Challenge, KeySummary, Principal, Registered } from "./port.ts";
import type { Database } from "./store/schema.ts";
import type { Store } from "./store/store.ts";

const CHALLENGE_LIFE_MS = 300_000;
const MAX_LABEL_LENGTH = 64;

/** A caller may register and revoke endlessly; the cost of a listing must not grow with that. */
const MAX_REVOKED_LISTED = 100;

interface AccountsOptions {
  readonly store: Store;
  /** Notified of every key issued or revoked here. */
  readonly keys: Pick<LiveKeyDirectory, "forget" | "issued">;
  /** Secret that key hashes are made with. */
  readonly pepper: Uint8Array;
  /** Public URL of this service; challenges are bound to its host. A function, because the port may be known only later. */
  readonly publicUrl: () => string;
  /** The network named in challenges: mainnet, devnet, testnet or localnet. */
  readonly chainId: string;
  readonly maxKeysPerAccount: number;
  readonly now: Now;
  /** Random bytes for keys, nonces and ids, from a cryptographic source. */
  readonly randomBytes: RandomBytes;
}

/** Registration by signed challenge, and the keys of an account. */
export function createAccounts(options: AccountsOptions): Accounts {
  return new StoredAccounts(options);
}

type Proof = Parameters<Accounts["register"]>[0];

class StoredAccounts implements Accounts {
  readonly #options: AccountsOptions;

  constructor(options: AccountsOptions) {
    this.#options = options;
  }

  get #domain(): string {
    return new URL(this.#options.publicUrl()).host;
  }

  async createChallenge(wallet: Address): Promise<Challenge> {
    requireWallet(wallet);
    const { store, publicUrl, chainId, now, randomBytes } = this.#options;
    const issuedAtMs = now();
    const expiresAtMs = issuedAtMs + CHALLENGE_LIFE_MS;
    const nonce = randomBytes(16).toString("hex");
    const message = writeChallenge({
      domain: this.#domain,
      wallet,
      uri: publicUrl(),
      chainId,
      nonce,
      issuedAtMs,
      expiresAtMs,
    });
    await store.run((db) =>
      db
        .insertInto("challenges")
        .values({
          message_hash: hashMessage(message),
          wallet: wallet.toString(),
          expires_at_ms: expiresAtMs,
          used_at_ms: null,
        })
        .execute(),
    );
    return { message, expiresAtMs };
  }

  async register(proof: Proof): Promise<Registered> {
    const { store, keys, pepper, now, randomBytes } = this.#options;
    requireWallet(proof.wallet);
    requireLabel(proof.label);
    await this.#requireProof(proof);

    const apiKey = createApiKey(randomBytes);
    const keyId = keyIdOf(apiKey);
    const revoked = await store.transact(async (db) => {
      const atMs = now();
      await consumeChallenge(db, proof.message, atMs);
      const accountId = await openAccount(db, `acc_${randomBytes(12).toString("hex")}`, proof.wallet, atMs);
      const retired = proof.revokeOthers ? await revokeKeys(db, { accountId, atMs }, randomBytes) : [];
      await this.#requireRoom(db, accountId);
      await db
        .insertInto("api_keys")
        .values({
          id: keyId,
          account_id: accountId,
          hash: hashApiKey(apiKey, pepper),
          label: proof.label,
          created_at_ms: atMs,
          revoked_at_ms: null,
          used_at_ms: atMs,
        })
        .execute();
      return retired;
    });
    keys.issued(apiKey);
    if (revoked.length > 0) keys.forget(revoked);
    return { apiKey, keyId, wallet: proof.wallet };
  }

  /** Every check that changes nothing: a failed proof leaves its challenge usable. */
  async #requireProof(proof: Proof): Promise<void> {
    const { store, now } = this.#options;
    const challenge = await store.run((db) =>
      db
        .selectFrom("challenges")
        .select(["wallet", "expires_at_ms as expiresAtMs", "used_at_ms as usedAtMs"])
        .where("message_hash", "=", hashMessage(proof.message))
        .executeTakeFirst(),
    );
    if (challenge === undefined || !isForDomain(proof.message, this.#domain)) {
      throw invalidField(
        "message",
        `This is not a challenge of ${this.#domain}, or it expired long ago. Request a new one and sign exactly its text.`,
      );
    }
    if (challenge.wallet !== proof.wallet.toString()) {
      throw invalidField("message", "This challenge was issued to another wallet. Request one for this wallet.");
    }
    if (now() >= challenge.expiresAtMs) {
      throw invalidField("message", "This challenge has expired. Request a new one and sign it within five minutes.");
    }
    if (!provesWallet(proof.wallet, proof.message, proof.signature)) {
      throw new TradewireError(
        "INVALID_SIGNATURE",
        "The signature is not this wallet's Ed25519 signature of the challenge text. Sign its UTF-8 bytes, unchanged.",
        { field: "signature" },
      );
    }
    if (challenge.usedAtMs !== null) throw challengeUsed();
  }

  /** @throws TradewireError CONFLICT_ERROR if the account has as many live keys as allowed */
  async #requireRoom(db: Database, accountId: string): Promise<void> {
    const live = await db
      .selectFrom("api_keys")
      .select("id")
      .where("account_id", "=", accountId)
      .where("revoked_at_ms", "is", null)
      .execute();
    const { maxKeysPerAccount } = this.#options;
    if (live.length < maxKeysPerAccount) return;
    throw new TradewireError(
      "CONFLICT_ERROR",
      `This account has ${live.length} live API keys, the maximum. Revoke one, or register with revokeOthers.`,
      { details: { maxKeysPerAccount } },
    );
  }

  async profile(principal: Principal): ReturnType<Accounts["profile"]> {
    const { accountId, wallet } = principal;
    const row = await this.#options.store.run((db) =>
      db.selectFrom("accounts").select("created_at_ms as createdAtMs").where("id", "=", accountId).executeTakeFirst(),
    );
    if (row === undefined) throw new TradewireError("NOT_FOUND", "This account no longer exists.");
    return { accountId, wallet, createdAtMs: row.createdAtMs };
  }

  async listKeys(principal: Principal): Promise<readonly KeySummary[]> {
    const rows = await this.#options.store.run(async (db) => {
      const ofAccount = db
        .selectFrom("api_keys")
        .select(["id", "label", "created_at_ms", "revoked_at_ms"])
        .where("account_id", "=", principal.accountId);
      const live = await ofAccount.where("revoked_at_ms", "is", null).execute();
      const revoked = await ofAccount
        .where("revoked_at_ms", "is not", null)
        .orderBy("revoked_at_ms", "desc")
        .limit(MAX_REVOKED_LISTED)
        .execute();
      // A key revoked in between is in both lists.
      return [...new Map([...live, ...revoked].map((row) => [row.id, row])).values()];
    });
    rows.sort((a, b) => a.created_at_ms - b.created_at_ms || (a.id < b.id ? -1 : 1));
    return rows.map((row) => ({
      keyId: row.id,
      label: row.label,
      createdAtMs: row.created_at_ms,
      revokedAtMs: row.revoked_at_ms ?? undefined,
    }));
  }

  async revokeKey(principal: Principal, keyId: string): Promise<void> {
    const { store, keys, now, randomBytes } = this.#options;
    if (!isKeyId(keyId)) throw noSuchKey();
    const { accountId } = principal;
    const key = await store.run((db) =>
      db
        .selectFrom("api_keys")
        .select("revoked_at_ms as revokedAtMs")
        .where("id", "=", keyId)
        .where("account_id", "=", accountId)
        .executeTakeFirst(),
    );
    if (key === undefined) throw noSuchKey();
    // A transaction holds up others, and forgetting a key discards the look-ups in flight: neither happens for nothing.
    if (key.revokedAtMs !== null) return;
    await store.transact((db) => revokeKeys(db, { accountId, keyId, atMs: now() }, randomBytes));
    keys.forget([keyId]);
  }
}

/** @throws TradewireError CONFLICT_ERROR if another registration used the challenge first */
async function consumeChallenge(db: Database, message: string, atMs: number): Promise<void> {
  const consumed = await db
    .updateTable("challenges")
    .set({ used_at_ms: atMs })
    .where("message_hash", "=", hashMessage(message))
    .where("used_at_ms", "is", null)
    .returning("message_hash")
    .executeTakeFirst();
  if (consumed === undefined) throw challengeUsed();
}

/**
 * The id of the wallet's account, created with `newId` if there is none. Locks the account's row, so that registrations of one
 * wallet queue.
 */
async function openAccount(db: Database, newId: string, wallet: Address, atMs: number): Promise<string> {
  const { id } = await db
    .insertInto("accounts")
    .values({ id: newId, wallet: wallet.toString(), created_at_ms: atMs })
    // An update without a change: unlike "do nothing" it locks and returns an existing row.
    .onConflict((conflict) => conflict.column("wallet").doUpdateSet({ wallet: wallet.toString() }))
    .returning("id")
    .executeTakeFirstOrThrow();
  return id;
}

/** Whose keys to revoke, and when. Without `keyId` all live ones. */
interface Revocation {
  readonly accountId: string;
  readonly keyId?: string;
  readonly atMs: number;
}

/** Revokes one live key of the account, or all. Returns the revoked ids. Other processes notice the changed count. */
async function revokeKeys(
  db: Database,
  { accountId, keyId, atMs }: Revocation,
  randomBytes: RandomBytes,
): Promise<string[]> {
  let revocation = db
    .updateTable("api_keys")
    .set({ revoked_at_ms: atMs })
    .where("account_id", "=", accountId)
    .where("revoked_at_ms", "is", null);
  if (keyId !== undefined) revocation = revocation.where("id", "=", keyId);
  const revoked = await revocation.returning("id").execute();
  if (revoked.length > 0) await countRevocation(db, randomBytes);
  return revoked.map(({ id }) => id);
}

function requireWallet(wallet: Address): void {
  if (isWalletKey(wallet.bytes)) return;
  throw invalidField("walletAddress", `${wallet} is not a wallet: no private key can exist for this address.`);
}

function requireLabel(label: string): void {
  if ([...label].length > MAX_LABEL_LENGTH) {
    throw invalidField("label", `A label has at most ${MAX_LABEL_LENGTH} characters.`);
  }
  if (/\p{Cc}/u.test(label)) throw invalidField("label", "A label has no line breaks or other control characters.");
}

function noSuchKey(): TradewireError {
  return new TradewireError("NOT_FOUND", "This account has no such key. List its keys to see their ids.", {
    field: "keyId",
  });
}

function challengeUsed(): TradewireError {
  return new TradewireError("CONFLICT_ERROR", "This challenge has been used. Request a new one and sign it.", {
    field: "message",
  });
}

const hashMessage = (message: string): string => hash("sha256", message, "hex");
