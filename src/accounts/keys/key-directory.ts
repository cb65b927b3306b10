import { hash, timingSafeEqual } from "node:crypto";
import { TradewireError } from "../../errors/tradewire-error.ts";
import { Address } from "../../primitives/address.ts";
import type { Now } from "../../primitives/clock.ts";
import type { KeyDirectory, Principal } from "../port.ts";
import type { Store } from "../store/store.ts";
import { checkApiKey, hashApiKey, keyIdOf } from "./api-key.ts";

/** How often to check for revocations by other processes. A revoked key is accepted for at most twice this long. */
const POLL_MS = 1_000;

/**
 * How long keys in memory are trusted while the database is silent. Trading continues through a short outage; revocations
 * made elsewhere take effect when it ends.
 */
const OUTAGE_GRACE_MS = 300_000;

/** The next check stops waiting for one that has taken this long: it may hang on a dead connection. */
const STUCK_MS = 500;

const MAX_KEYS_IN_MEMORY = 50_000;

/** How long an unknown key is refused without another query; also the delay until a key issued elsewhere is known here. */
const UNKNOWN_MS = 1_000;

const MAX_UNKNOWN_IN_MEMORY = 10_000;

const KEYS_PER_QUERY = 500;

export interface LiveKeyDirectory extends KeyDirectory {
  /** Records a key issued by this process, discarding an earlier "unknown". */
  issued(apiKey: string): void;
  /** Drops revoked keys from this process at once. */
  forget(keyIds: readonly string[]): void;
  /** Checks now for revocations by other processes. @throws TradewireError UPSTREAM_ERROR */
  refresh(): Promise<void>;
  /** Milliseconds since the last check that the store answered. */
  storeAgeMs(): number;
  /** Stops checking for revocations. */
  close(): void;
}

interface KeyDirectoryOptions {
  readonly store: Store;
  /** Secret that key hashes are made with. */
  readonly pepper: Uint8Array;
  /** A monotonic clock in milliseconds: setting the system clock must not change how long a key is trusted. */
  readonly now: Now;
  /** Milliseconds between checks for revocations. */
  readonly pollMs?: number;
}

/**
 * Finds the owner of a key: in memory if it was used before, else in the store. Checks for revocations until closed.
 */
export function createKeyDirectory(options: KeyDirectoryOptions): LiveKeyDirectory {
  return new CachedKeyDirectory(options);
}

class CachedKeyDirectory implements LiveKeyDirectory {
  readonly #store: Store;
  readonly #pepper: Uint8Array;
  readonly #now: Now;
  readonly #timer: NodeJS.Timeout;

  /**
   * Principals by the SHA-256 of their key: not by the key, so that no live key stays in memory between requests, and not
   * by the peppered hash, which costs six times as much. A caller cannot steer a SHA-256, so look-up times reveal nothing.
   */
  readonly #byDigest = new Map<string, Principal>();
  readonly #digestOfKeyId = new Map<string, string>();
  readonly #lookUps = new Map<string, Promise<Principal>>();
  /** Keys that the store did not accept, by digest, oldest first. */
  readonly #refused = new Map<string, { readonly atMs: number; readonly message: string }>();

  /** Raised by every revocation seen: a look-up begun before one must not be cached after it. */
  #generation = 0;
  #revocationCount: number | undefined;
  #checkedAtMs: number;
  #refreshing: { readonly beganMs: number; readonly done: Promise<void> } | undefined;

  constructor(options: KeyDirectoryOptions) {
    this.#store = options.store;
    this.#pepper = options.pepper;
    this.#now = options.now;
    this.#checkedAtMs = options.now();
    // This timer does not report outages: the age of the last check limits how long memory is trusted.
    this.#timer = setInterval(() => this.refresh().catch(() => {}), options.pollMs ?? POLL_MS);
    this.#timer.unref();
  }

  recall(apiKey: string): Principal | Promise<Principal> | undefined {
    return this.#recall(apiKey, digestOf(apiKey));
  }

  authenticate(apiKey: string): Principal | Promise<Principal> {
    const digest = digestOf(apiKey);
    return this.#recall(apiKey, digest) ?? this.#beginLookUp(apiKey, digest);
  }

  #recall(apiKey: string, digest: string): Principal | Promise<Principal> | undefined {
    const known = this.#byDigest.get(digest);
    if (known !== undefined && this.#now() - this.#checkedAtMs < OUTAGE_GRACE_MS) return known;
    checkApiKey(apiKey);
    const refused = this.#refused.get(digest);
    if (refused !== undefined) {
      if (this.#now() - refused.atMs < UNKNOWN_MS) throw new TradewireError("AUTH_ERROR", refused.message);
      this.#refused.delete(digest);
    }
    return this.#lookUps.get(digest);
  }

  #beginLookUp(apiKey: string, digest: string): Promise<Principal> {
    const askedAtMs = this.#now();
    const lookUp = this.#lookUp(apiKey, digest)
      .catch((error: unknown) => {
        const isOverruled = this.#lookUps.get(digest) !== lookUp;
        if (!isOverruled && error instanceof TradewireError && error.code === "AUTH_ERROR") {
          this.#rememberRefused(digest, { atMs: askedAtMs, message: error.message });
        }
        throw error;
      })
      .finally(() => {
        if (this.#lookUps.get(digest) === lookUp) this.#lookUps.delete(digest);
      });
    this.#lookUps.set(digest, lookUp);
    return lookUp;
  }

  async #lookUp(apiKey: string, digest: string): Promise<Principal> {
    const generation = this.#generation;
    const keyId = keyIdOf(apiKey);
    const row = await this.#store.run((db) =>
      db
        .selectFrom("api_keys")
        .innerJoin("accounts", "accounts.id", "api_keys.account_id")
        .select([
          "accounts.id as accountId",
          "accounts.wallet",
          "api_keys.hash",
          "api_keys.revoked_at_ms as revokedAtMs",
        ])
        .where("api_keys.id", "=", keyId)
        .executeTakeFirst(),
    );
    if (row === undefined || !timingSafeEqual(row.hash, hashApiKey(apiKey, this.#pepper))) {
      throw new TradewireError("AUTH_ERROR", "This API key is unknown here. Register the wallet to receive one.");
    }
    if (row.revokedAtMs !== null) {
      throw new TradewireError(
        "AUTH_ERROR",
        "This API key has been revoked. Register the wallet again to receive another.",
      );
    }
    const principal = Object.freeze({ accountId: row.accountId, keyId, wallet: Address.of(row.wallet) });
    if (generation === this.#generation) this.#remember(digest, principal);
    return principal;
  }

  #rememberRefused(digest: string, refused: { readonly atMs: number; readonly message: string }): void {
    if (this.#refused.size >= MAX_UNKNOWN_IN_MEMORY) {
      const [oldest] = this.#refused.keys();
      this.#refused.delete(oldest!);
    }
    this.#refused.set(digest, refused);
  }

  #remember(digest: string, principal: Principal): void {
    if (this.#byDigest.size >= MAX_KEYS_IN_MEMORY) this.#dropOldest();
    this.#byDigest.set(digest, principal);
    this.#digestOfKeyId.set(principal.keyId, digest);
  }

  #dropOldest(): void {
    const oldest = this.#byDigest.values().next().value;
    if (oldest !== undefined) this.#drop(oldest.keyId);
  }

  issued(apiKey: string): void {
    const digest = digestOf(apiKey);
    this.#refused.delete(digest);
    this.#lookUps.delete(digest);
  }

  forget(keyIds: readonly string[]): void {
    this.#generation++;
    for (const keyId of keyIds) this.#drop(keyId);
  }

  #drop(keyId: string): void {
    const digest = this.#digestOfKeyId.get(keyId);
    if (digest === undefined) return;
    this.#digestOfKeyId.delete(keyId);
    this.#byDigest.delete(digest);
  }

  refresh(): Promise<void> {
    const beganMs = this.#now();
    if (this.#refreshing !== undefined && beganMs - this.#refreshing.beganMs < STUCK_MS) return this.#refreshing.done;
    const done = this.#refresh(beganMs).finally(() => {
      if (this.#refreshing?.done === done) this.#refreshing = undefined;
    });
    this.#refreshing = { beganMs, done };
    return done;
  }

  storeAgeMs(): number {
    return Math.max(0, this.#now() - this.#checkedAtMs);
  }

  async #refresh(askedAtMs: number): Promise<void> {
    const { count } = await this.#store.run((db) =>
      db.selectFrom("revocation_count").select("count").executeTakeFirstOrThrow(),
    );
    if (count !== this.#revocationCount) {
      this.#generation++;
      this.forget(await this.#revokedAmong([...this.#digestOfKeyId.keys()]));
      this.#revocationCount = count;
    }
    this.#checkedAtMs = Math.max(this.#checkedAtMs, askedAtMs);
  }

  async #revokedAmong(keyIds: readonly string[]): Promise<string[]> {
    const revoked: string[] = [];
    for (let at = 0; at < keyIds.length; at += KEYS_PER_QUERY) {
      const some = keyIds.slice(at, at + KEYS_PER_QUERY);
      const rows = await this.#store.run((db) =>
        db.selectFrom("api_keys").select("id").where("id", "in", some).where("revoked_at_ms", "is not", null).execute(),
      );
      for (const { id } of rows) revoked.push(id);
    }
    return revoked;
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

const digestOf = (apiKey: string): string => hash("sha256", apiKey, "base64");
