import { hash, timingSafeEqual } from "node:crypto";
import { TradewireError } from "../../errors/tradewire-error.ts";
import { Address } from "../../primitives/address.ts";
import type { Now } from "../../primitives/clock.ts";
import type { KeyDirectory, Principal } from "../port.ts";
import type { Store } from "../store/store.ts";
import { checkApiKey, hashApiKey, keyIdOf } from "./api-key.ts";
import { EndedKeys } from "./ended-keys.ts";
import { mayHaveDeleted } from "./revocation-count.ts";
import { WatchedKeys } from "./watched-keys.ts";

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

/** How often the use of a key is written down, and a key in memory is looked up again. Milliseconds. */
const USE_NOTED_MS = 24 * 3_600_000;

/** Keys in memory that one check drops to have them looked up again: what began together spreads out. */
const RENEWED_PER_CHECK = 100;

/** The directory of keys, as the process that issues and revokes keys uses it. */
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
  /** The time of day that uses are written down with (epoch milliseconds). */
  readonly epochMs: Now;
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
  readonly #epochMs: Now;
  readonly #timer: NodeJS.Timeout;

  /**
   * Principals by the SHA-256 of their key: not by the key, so that none stays in memory for long behind its connection (an open one
   * keeps its last head, and of what was read last, whosever it is, the bytes stay until the next read), and not by the peppered hash,
   * which costs six times as much. A caller cannot steer a SHA-256, so look-up times reveal nothing.
   */
  readonly #byDigest = new Map<string, Principal>();
  /** Those looked up longest ago first. */
  readonly #digestOfKeyId = new Map<string, { readonly digest: string; readonly sinceMs: number }>();
  readonly #lookUps = new Map<string, Promise<Principal>>();
  /** Keys that the store did not accept, by digest, oldest first. */
  readonly #refused = new Map<string, { readonly atMs: number; readonly message: string }>();
  readonly #watched = new WatchedKeys();
  readonly #ended: EndedKeys;

  /** Raised by every revocation seen: a look-up begun before one must not be cached after it. */
  #generation = 0;
  #revocationCount: number | undefined;
  #checkedAtMs: number;
  #refreshing: { readonly beganMs: number; readonly done: Promise<void> } | undefined;

  constructor(options: KeyDirectoryOptions) {
    this.#store = options.store;
    this.#pepper = options.pepper;
    this.#now = options.now;
    this.#epochMs = options.epochMs;
    this.#checkedAtMs = options.now();
    this.#ended = new EndedKeys(options);
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
          "api_keys.used_at_ms as usedAtMs",
          "api_keys.created_at_ms as createdAtMs",
        ])
        .where("api_keys.id", "=", keyId)
        .executeTakeFirst(),
    );
    if (row === undefined || !isHashOf(row.hash, hashApiKey(apiKey, this.#pepper))) {
      throw new TradewireError("AUTH_ERROR", "This API key is unknown here. Register the wallet to receive one.");
    }
    if (row.revokedAtMs !== null) {
      throw new TradewireError(
        "AUTH_ERROR",
        "This API key has been revoked. Register the wallet again to receive another.",
      );
    }
    const principal = {
      accountId: row.accountId,
      keyId,
      wallet: Address.of(row.wallet),
      bucketsOf: undefined,
      bucketAt: 0,
    };
    if (generation === this.#generation) this.#remember(digest, principal);
    this.#noteUse(keyId, row);
    return principal;
  }

  /** Records once a day that the key is in use. Nobody waits for the write; the next look-up makes up for one that fails. */
  #noteUse(keyId: string, row: { readonly usedAtMs: number | null; readonly createdAtMs: number }): void {
    const atMs = this.#epochMs();
    // A key's first use is recorded at once: a never-used key is kept for a shorter time.
    const isFirst = row.usedAtMs === null || row.usedAtMs === row.createdAtMs;
    if (!isFirst && row.usedAtMs > atMs - USE_NOTED_MS) return;
    const usedAtMs = Math.max(atMs, row.createdAtMs + 1);
    this.#store
      .run((db) =>
        db
          .updateTable("api_keys")
          .set({ used_at_ms: usedAtMs })
          .where("id", "=", keyId)
          .where((where) => where.or([where("used_at_ms", "is", null), where("used_at_ms", "<", usedAtMs)]))
          .execute(),
      )
      .catch(() => {});
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
    this.#digestOfKeyId.delete(principal.keyId);
    this.#digestOfKeyId.set(principal.keyId, { digest, sinceMs: this.#now() });
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
    for (const keyId of keyIds) this.#watched.revoked(keyId);
  }

  watch(keyId: string, revoked: () => void): () => void {
    return this.#watched.watch(keyId, revoked);
  }

  #drop(keyId: string): void {
    const known = this.#digestOfKeyId.get(keyId);
    if (known === undefined) return;
    this.#digestOfKeyId.delete(keyId);
    this.#byDigest.delete(known.digest);
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
    const isNew = count !== this.#revocationCount || this.#ended.isDue;
    if (isNew) this.#generation++;
    // A key watched only now may have been revoked just before.
    const unchecked = this.#watched.unchecked();
    const ended = [
      ...(await this.#ended.among(unchecked)),
      ...(isNew ? await this.#ended.sinceLast(() => this.#keysInUse(), mayHaveDeleted(count)) : []),
    ];
    if (isNew || ended.length > 0) this.forget(ended);
    this.#watched.checked(unchecked);
    this.#revocationCount = count;
    this.#checkedAtMs = Math.max(this.#checkedAtMs, askedAtMs);
    this.#dropOld();
  }

  #keysInUse(): Iterable<string> {
    return new Set([...this.#digestOfKeyId.keys(), ...this.#watched.ids()]);
  }

  /** Keys known for a day are looked up again at their next call, which writes down that they are in use. */
  #dropOld(): void {
    const sinceMs = this.#now() - USE_NOTED_MS;
    let left = RENEWED_PER_CHECK;
    for (const [keyId, known] of this.#digestOfKeyId) {
      if (known.sinceMs > sinceMs || left-- === 0) return;
      this.#drop(keyId);
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

/** False also of a damaged hash, which is of no key. */
function isHashOf(stored: Uint8Array, hashed: Uint8Array): boolean {
  return stored.length === hashed.length && timingSafeEqual(stored, hashed);
}

const digestOf = (apiKey: string): string => hash("sha256", apiKey, "binary");
