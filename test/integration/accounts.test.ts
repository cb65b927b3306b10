import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { sql } from "kysely";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { createAccounts } from "../../src/accounts/accounts.ts";
import { memoMessage } from "../../src/accounts/challenge/challenge-proof.ts";
import { createKeyDirectory, type LiveKeyDirectory } from "../../src/accounts/keys/key-directory.ts";
import { requirePepper } from "../../src/accounts/keys/require-pepper.ts";
import { countRevocation } from "../../src/accounts/keys/revocation-count.ts";
import { createLimitUsage } from "../../src/accounts/limit-usage.ts";
import type {
  Accounts,
  Principal,
  Registered,
  SubmissionClaim,
  SubmissionRecord,
  Submissions,
} from "../../src/accounts/port.ts";
import type { PostgresLimits } from "../../src/accounts/store/postgres-limits.ts";
import { sweepStore } from "../../src/accounts/store/retention.ts";
import { openStore, type Store } from "../../src/accounts/store/store.ts";
import { createSubmissions } from "../../src/accounts/submissions.ts";
import { TradewireError } from "../../src/errors/tradewire-error.ts";
import { Address } from "../../src/primitives/address.ts";
import { describeStartFailure } from "../../src/process/start-failure.ts";
import { type CutProxy, startCutProxy } from "../support/cut-proxy.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { plansOf } from "../support/query-plans.ts";
import { ReusedDatabase } from "../support/reused-database.ts";
import { createTestWallet, type TestWallet } from "../support/wallet.ts";
import { isWhole } from "../support/whole.ts";

const postgres: TestPostgres | undefined = await startPostgres();
afterAll(async () => {
  for (const { reused } of homes) await reused.close();
  await postgres?.stop();
});

interface Place {
  readonly dataDir: string;
  readonly databaseUrl?: string;
}

interface Home {
  readonly name: string;
  /** The database of most tests, which each finds empty. */
  readonly reused: ReusedDatabase;
  /** A database of the test's own, that nothing has opened yet. */
  newPlace(): Promise<Place>;
}

const folders: string[] = [];
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tradewire-accounts-"));
  folders.push(folder);
  return folder;
}
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Databases of the test that runs. */
const taken: string[] = [];
const homes: Home[] = [homeOf("embedded", async () => ({ dataDir: newFolder() }))];
if (postgres !== undefined) {
  const place = async () => ({ dataDir: newFolder(), databaseUrl: await postgres.createDatabase() });
  homes.push(
    homeOf("postgres", place, async () => {
      const made = await place();
      taken.push(made.databaseUrl);
      return made;
    }),
  );
}

/** @param newPlace of a test; `place`, unless it has to be taken back */
function homeOf(name: string, place: () => Promise<Place>, newPlace = place): Home {
  let kept: Promise<Place> | undefined;
  const reused = new ReusedDatabase(async () => {
    kept ??= place();
    return openStore(await kept, PATIENT);
  });
  return { name, newPlace, reused };
}

const PEPPER = Buffer.alloc(32, 7);
const START_MS = Date.UTC(2026, 10, 20, 12);
/** On a busy machine PostgreSQL takes its time. */
const PATIENT: PostgresLimits = { connections: 10, connectMs: 300_000, statementMs: 300_000 };

/** One process of the service as far as accounts go, on a clock the test sets. */
interface Process {
  readonly store: Store;
  readonly keys: LiveKeyDirectory;
  readonly accounts: Accounts;
  readonly clock: { nowMs: number };
}

const open: Process[] = [];
afterEach(async () => {
  for (const process of open.splice(0)) {
    process.keys.close();
    await process.store.close();
  }
  for (const { reused } of homes) await reused.empty();
  for (const databaseUrl of taken.splice(0)) postgres!.release(databaseUrl);
});

/** The outcome that stands once this one was written, or another before it. */
async function endOf(submissions: Submissions, claim: SubmissionClaim, outcome: string): Promise<string> {
  const standing = await submissions.finish(claim, outcome);
  return standing === "finished" ? outcome : standing.outcome!;
}

async function start(
  place: Place | ReusedDatabase,
  options: { publicUrl?: string; pollMs?: number; now?: () => number; statementMs?: number } = {},
): Promise<Process> {
  const clock = { nowMs: START_MS };
  const now = () => clock.nowMs;
  const monotonic = options.now ?? now;
  const limits = { ...PATIENT, statementMs: options.statementMs ?? PATIENT.statementMs };
  const store = place instanceof ReusedDatabase ? await place.take() : await openStore(place, limits);
  const keys = createKeyDirectory({
    store,
    pepper: PEPPER,
    now: monotonic,
    epochMs: now,
    pollMs: options.pollMs ?? 3_600_000,
  });
  const accounts = createAccounts({
    store,
    keys,
    pepper: PEPPER,
    publicUrl: () => options.publicUrl ?? "https://trade.example",
    chainId: "mainnet",
    maxKeysPerAccount: 3,
    now,
    randomBytes,
  });
  const process = { store, keys, accounts, clock };
  open.push(process);
  return process;
}

async function register(
  accounts: Accounts,
  wallet: TestWallet,
  choice: { label?: string; revokeOthers?: boolean } = {},
): Promise<Registered> {
  const { message } = await accounts.createChallenge(wallet.address);
  return accounts.register({
    wallet: wallet.address,
    message,
    signature: wallet.sign(message),
    label: choice.label ?? "",
    revokeOthers: choice.revokeOthers ?? false,
  });
}

/** The code of the error a call ends in. */
async function codeOf(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    if (error instanceof TradewireError) return error.code;
    throw error;
  }
  return "no error";
}

const messageOf = async (work: () => unknown): Promise<string> => {
  try {
    await work();
  } catch (error) {
    return String(error);
  }
  return "";
};

describe.each(homes)("accounts on $name", (home) => {
  it("registers a wallet and recognizes its key at once, from memory", async () => {
    const { accounts, keys } = await start(home.reused);
    const wallet = createTestWallet();
    const { apiKey, keyId } = await register(accounts, wallet, { label: "desk" });
    const principal = await keys.authenticate(apiKey);
    expect(principal).toMatchObject({ keyId, wallet: wallet.address });
    expect(keys.authenticate(apiKey)).toBe(principal);
    expect(await accounts.profile(principal)).toEqual({
      accountId: principal.accountId,
      wallet: wallet.address,
      createdAtMs: START_MS,
    });
    expect(await accounts.listKeys(principal)).toEqual([
      { keyId, label: "desk", createdAtMs: START_MS, revokedAtMs: undefined },
    ]);
  });

  it("writes the challenge in the format wallets expect", async () => {
    const { accounts } = await start(home.reused, { publicUrl: "http://localhost:8080" });
    const { address } = createTestWallet();
    const { message, expiresAtMs } = await accounts.createChallenge(address);
    expect(expiresAtMs).toBe(START_MS + 300_000);
    expect(message.replace(/Nonce: [0-9a-f]{32}/, "Nonce: …").split("\n")).toEqual([
      "localhost:8080 wants you to sign in with your Solana account:",
      address.toString(),
      "",
      "Sign to prove this wallet is yours and receive an API key. This moves no funds and costs nothing.",
      "",
      "URI: http://localhost:8080",
      "Version: 1",
      "Chain ID: mainnet",
      "Nonce: …",
      "Issued At: 2026-11-20T12:00:00.000Z",
      "Expiration Time: 2026-11-20T12:05:00.000Z",
    ]);
  });

  it("registers a hardware wallet by the memo transaction it signed", async () => {
    const { accounts, keys } = await start(home.reused);
    const wallet = createTestWallet();
    const { message } = await accounts.createChallenge(wallet.address);
    const signature = wallet.sign(memoMessage(wallet.address, message));
    const { apiKey } = await accounts.register({
      wallet: wallet.address,
      message,
      signature,
      label: "",
      revokeOthers: false,
    });
    expect(await keys.authenticate(apiKey)).toMatchObject({ wallet: wallet.address });
  });

  it("issues a second key to the same account for a second proof", async () => {
    const { accounts, keys } = await start(home.reused);
    const wallet = createTestWallet();
    const first = await keys.authenticate((await register(accounts, wallet)).apiKey);
    const second = await keys.authenticate((await register(accounts, wallet)).apiKey);
    expect(second.accountId).toBe(first.accountId);
    expect(second.keyId).not.toBe(first.keyId);
    const other = await keys.authenticate((await register(accounts, createTestWallet())).apiKey);
    expect(other.accountId).not.toBe(first.accountId);
  });

  it("accepts a challenge once, however many requests race for it", async () => {
    const place = home.reused;
    const processes = [await start(place), await start(place)];
    const wallet = createTestWallet();
    const { message } = await processes[0]!.accounts.createChallenge(wallet.address);
    const proof = {
      wallet: wallet.address,
      message,
      signature: wallet.sign(message),
      label: "",
      revokeOthers: false,
    };
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, i) => codeOf(() => processes[i % 2]!.accounts.register(proof))),
    );
    expect(outcomes.sort()).toEqual([...Array<string>(19).fill("CONFLICT_ERROR"), "no error"]);
  });

  it("refuses invalid proofs and keeps their challenge usable", async () => {
    const process = await start(home.reused);
    const { accounts, clock } = process;
    const wallet = createTestWallet();
    const stranger = createTestWallet();
    const { message } = await accounts.createChallenge(wallet.address);
    const good = { wallet: wallet.address, message, signature: wallet.sign(message), label: "", revokeOthers: false };
    const flipped = Uint8Array.from(good.signature, (byte, i) => (i === 40 ? byte ^ 1 : byte));

    expect(await codeOf(() => accounts.register({ ...good, signature: flipped }))).toBe("INVALID_SIGNATURE");
    expect(await codeOf(() => accounts.register({ ...good, signature: stranger.sign(message) }))).toBe(
      "INVALID_SIGNATURE",
    );
    expect(await codeOf(() => accounts.register({ ...good, signature: good.signature.subarray(1) }))).toBe(
      "INVALID_SIGNATURE",
    );
    const theirs = { ...good, wallet: stranger.address, signature: stranger.sign(message) };
    expect(await codeOf(() => accounts.register(theirs))).toBe("VALIDATION_ERROR");
    const altered = message.replace("Version: 1", "Version: 2");
    const alteredProof = { ...good, message: altered, signature: wallet.sign(altered) };
    expect(await codeOf(() => accounts.register(alteredProof))).toBe("VALIDATION_ERROR");
    expect(await codeOf(() => accounts.register({ ...good, label: "x".repeat(65) }))).toBe("VALIDATION_ERROR");

    clock.nowMs += 300_000;
    expect(await messageOf(() => accounts.register(good))).toContain("has expired");
    clock.nowMs -= 1;
    expect(await codeOf(() => accounts.register(good))).toBe("no error");
  });

  it("refuses a challenge of another host on the same database", async () => {
    const place = home.reused;
    const here = await start(place);
    const there = await start(place, { publicUrl: "https://other.example" });
    const wallet = createTestWallet();
    const { message } = await there.accounts.createChallenge(wallet.address);
    const proof = { wallet: wallet.address, message, signature: wallet.sign(message), label: "", revokeOthers: false };
    expect(await codeOf(() => here.accounts.register(proof))).toBe("VALIDATION_ERROR");
  });

  it("gives no challenge to an address that cannot sign", async () => {
    const { accounts } = await start(home.reused);
    for (const address of [
      "11111111111111111111111111111111",
      "5Q544fKrFoe6tsEbD7S8EmxGTJYAKtTVhAW5Q5pge4j1", // the authority of Raydium's pools: a derived address
    ]) {
      expect(await codeOf(() => accounts.createChallenge(Address.of(address)))).toBe("VALIDATION_ERROR");
    }
  });

  it("limits the live keys of an account; revokeOthers makes room", async () => {
    const { accounts, keys } = await start(home.reused);
    const wallet = createTestWallet();
    const old: string[] = [];
    for (let i = 0; i < 3; i++) old.push((await register(accounts, wallet)).apiKey);
    for (const key of old) await keys.authenticate(key);
    expect(await codeOf(() => register(accounts, wallet))).toBe("CONFLICT_ERROR");

    const { apiKey } = await register(accounts, wallet, { revokeOthers: true });
    const principal = await keys.authenticate(apiKey);
    for (const key of old) expect(await messageOf(() => keys.authenticate(key))).toContain("has been revoked");
    const listed = await accounts.listKeys(principal);
    expect(listed.filter((key) => key.revokedAtMs === undefined).map((key) => key.keyId)).toEqual([principal.keyId]);
    expect(listed).toHaveLength(4);
  });

  it("holds that limit when registrations of one wallet race", async () => {
    const place = home.reused;
    const processes = [await start(place), await start(place)];
    const wallet = createTestWallet();
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, i) => codeOf(() => register(processes[i % 2]!.accounts, wallet))),
    );
    expect(outcomes.filter((outcome) => outcome === "no error")).toHaveLength(3);
  });

  it("lists the live keys and the last hundred revoked ones", async () => {
    const { accounts, keys, store, clock } = await start(home.reused);
    const wallet = createTestWallet();
    const oldest = await register(accounts, wallet, { label: "oldest" });
    const principal = await keys.authenticate(oldest.apiKey);
    const revoked = Array.from({ length: 150 }, (_, i) => ({
      id: `id${100_000 + i}`,
      account_id: principal.accountId,
      hash: PEPPER,
      label: "",
      created_at_ms: START_MS + 1 + i,
      // The later one was issued, the earlier it was revoked.
      revoked_at_ms: START_MS + 1_000 - i,
    }));
    await store.run((db) => db.insertInto("api_keys").values(revoked).execute());
    clock.nowMs += 2_000;
    const newest = await register(accounts, wallet, { label: "newest" });
    expect((await accounts.listKeys(principal)).map(({ keyId }) => keyId)).toEqual([
      oldest.keyId,
      ...revoked.slice(0, 100).map(({ id }) => id),
      newest.keyId,
    ]);
  });

  it("revokes only keys of its own account: at once here, with the next refresh elsewhere", async () => {
    const place = home.reused;
    const here = await start(place);
    const there = await start(place);
    const wallet = createTestWallet();
    const { apiKey, keyId } = await register(here.accounts, wallet);
    const kept = (await register(here.accounts, wallet)).apiKey;
    const principal = await here.keys.authenticate(apiKey);
    for (const key of [apiKey, kept]) await there.keys.authenticate(key);
    const stranger = await here.keys.authenticate((await register(here.accounts, createTestWallet())).apiKey);

    expect(await codeOf(() => here.accounts.revokeKey(stranger, keyId))).toBe("NOT_FOUND");
    expect(await codeOf(() => here.accounts.revokeKey(principal, "nosuchid"))).toBe("NOT_FOUND");
    await here.accounts.revokeKey(principal, keyId);
    await here.accounts.revokeKey(principal, keyId);

    expect(await codeOf(() => here.keys.authenticate(apiKey))).toBe("AUTH_ERROR");
    await there.keys.refresh();
    expect(await codeOf(() => there.keys.authenticate(apiKey))).toBe("AUTH_ERROR");
    expect(there.keys.authenticate(kept)).toMatchObject({ wallet: wallet.address });
  });

  it("takes no transaction and discards no look-up for a key that cannot be revoked", async () => {
    const { accounts, keys, store } = await start(home.reused);
    const wallet = createTestWallet();
    const [own, revoked] = [await register(accounts, wallet), await register(accounts, wallet)];
    const stranger = await register(accounts, createTestWallet());
    const principal = await keys.authenticate(own.apiKey);
    await accounts.revokeKey(principal, revoked.keyId);
    const [transact, forget] = [vi.spyOn(store, "transact"), vi.spyOn(keys, "forget")];
    expect(await codeOf(() => accounts.revokeKey(principal, "nosuchid"))).toBe("NOT_FOUND");
    expect(await codeOf(() => accounts.revokeKey(principal, stranger.keyId))).toBe("NOT_FOUND");
    await accounts.revokeKey(principal, revoked.keyId);
    expect(transact).not.toHaveBeenCalled();
    expect(forget).not.toHaveBeenCalled();
  });

  it("notices revocations made elsewhere by its next poll", async () => {
    const place = home.reused;
    const here = await start(place);
    const there = await start(place, { pollMs: 1_000 });
    const { apiKey, keyId } = await register(here.accounts, createTestWallet());
    const principal = await there.keys.authenticate(apiKey);
    await here.accounts.revokeKey(principal, keyId);
    await expect.poll(() => codeOf(() => there.keys.authenticate(apiKey)), { interval: 20 }).toBe("AUTH_ERROR");
  });

  it("notices a revocation on a database that took over without the one before", async () => {
    const place = home.reused;
    const [here, there] = [await start(place), await start(place)];
    const { store } = here;
    const wallet = createTestWallet();
    const [first, second] = [await register(here.accounts, wallet), await register(here.accounts, wallet)];
    const owner = await there.keys.authenticate(first.apiKey);
    await there.keys.authenticate(second.apiKey);
    const before = await store.run((db) => db.selectFrom("revocation_count").select("count").executeTakeFirstOrThrow());
    await here.accounts.revokeKey(owner, first.keyId);
    await there.keys.refresh();
    await store.run((db) => db.updateTable("revocation_count").set(before).execute());
    await here.accounts.revokeKey(owner, second.keyId);
    await there.keys.refresh();
    expect(await codeOf(() => there.keys.authenticate(second.apiKey))).toBe("AUTH_ERROR");
  });

  it("reports a revocation to what depends on the key, whenever that began and whatever is in memory", async () => {
    const place = home.reused;
    const here = await start(place);
    const there = await start(place);
    const wallet = createTestWallet();
    const [first, second, third] = [
      await register(here.accounts, wallet),
      await register(here.accounts, wallet),
      await register(here.accounts, wallet),
    ];
    const principal = await here.keys.authenticate(first!.apiKey);
    const reported: string[] = [];
    const watch = (keys: typeof there.keys, { keyId }: { keyId: string }, name: string) =>
      keys.watch(keyId, () => reported.push(name));
    await there.keys.refresh();
    // Not in the memory of the other process.
    watch(there.keys, first!, "first there");
    watch(there.keys, third!, "third there");
    const stop = watch(here.keys, first!, "first here");
    watch(here.keys, second!, "second here");
    stop();
    for (const { keyId } of [first!, second!]) await here.accounts.revokeKey(principal, keyId);
    expect(reported).toEqual(["second here"]);
    await there.keys.refresh();
    expect(reported).toEqual(["second here", "first there"]);
    // The revocation was seen before anything depended on the key.
    watch(there.keys, second!, "second there");
    await there.keys.refresh();
    await there.keys.refresh();
    expect(reported).toEqual(["second here", "first there", "second there"]);
  });

  it("never keeps a key that is revoked during its look-up", async () => {
    const place = home.reused;
    const process = await start(place);
    const { apiKey, keyId } = await register(process.accounts, createTestWallet());
    const principal = await process.keys.authenticate(apiKey);
    for (let i = 0; i < (isWhole ? 20 : 8); i++) {
      const wallet = createTestWallet();
      const raced = await register(process.accounts, wallet);
      const owner: Principal = { ...principal, accountId: (await process.keys.authenticate(raced.apiKey)).accountId };
      process.keys.forget([raced.keyId]);
      await Promise.allSettled([
        process.keys.authenticate(raced.apiKey),
        process.accounts.revokeKey(owner, raced.keyId),
        process.keys.authenticate(raced.apiKey),
      ]);
      expect(await codeOf(() => process.keys.authenticate(raced.apiKey))).toBe("AUTH_ERROR");
    }
    expect(keyId).toBe(principal.keyId);
  });

  it("distinguishes missing, mistyped and unknown keys", async () => {
    const { accounts, keys } = await start(home.reused);
    const { apiKey } = await register(accounts, createTestWallet());
    const mistyped = apiKey.slice(0, 20) + (apiKey[20] === "x" ? "y" : "x") + apiKey.slice(21);
    const elsewhere = await start({ dataDir: newFolder() });
    const unknown = (await register(elsewhere.accounts, createTestWallet())).apiKey;
    expect(await messageOf(() => keys.authenticate(""))).toContain("has no API key");
    expect(await messageOf(() => keys.authenticate("api_short"))).toContain("not an API key");
    expect(await messageOf(() => keys.authenticate(mistyped))).toContain("mistyped");
    expect(await messageOf(() => keys.authenticate(unknown))).toContain("unknown here");
  });

  it("asks the store at most once a second for an unknown key", async () => {
    const place = home.reused;
    const { keys, store, clock } = await start(place);
    const elsewhere = await start({ dataDir: newFolder() });
    const unknown = (await register(elsewhere.accounts, createTestWallet())).apiKey;
    const asked = vi.spyOn(store, "run");
    const refused = async () => {
      expect(await messageOf(async () => keys.recall(unknown) ?? keys.authenticate(unknown))).toContain("unknown here");
    };
    await Promise.all(Array.from({ length: 50 }, refused));
    expect(asked).toHaveBeenCalledTimes(1);
    clock.nowMs += 999;
    await refused();
    expect(asked).toHaveBeenCalledTimes(1);
    clock.nowMs += 1;
    await refused();
    expect(asked).toHaveBeenCalledTimes(2);
  });

  it("recognizes a newly issued key that it refused before: at once here, within a second elsewhere", async () => {
    const place = home.reused;
    const here = await start(place);
    const there = await start(place);
    // No key is asked for before it is issued, unless somebody restores a database: here the row comes later.
    const { apiKey, keyId } = await register(here.accounts, createTestWallet());
    const row = await here.store.run(async (db) => {
      const held = await db.selectFrom("api_keys").selectAll().where("id", "=", keyId).executeTakeFirstOrThrow();
      await db.deleteFrom("api_keys").where("id", "=", keyId).execute();
      return held;
    });
    for (const { keys } of [here, there]) {
      const [first, joined] = [keys.authenticate(apiKey), keys.recall(apiKey)];
      expect(joined).toBe(first);
      expect(await codeOf(() => first)).toBe("AUTH_ERROR");
    }
    await here.store.run((db) => db.insertInto("api_keys").values(row).execute());
    here.keys.issued(apiKey);
    expect(await here.keys.authenticate(apiKey)).toMatchObject({ keyId });
    there.clock.nowMs += 1_000;
    expect(await there.keys.authenticate(apiKey)).toMatchObject({ keyId });
  });

  it("stores no key in the clear", async () => {
    const { accounts, store } = await start(home.reused);
    const { apiKey } = await register(accounts, createTestWallet());
    const rows = await store.run((db) => db.selectFrom("api_keys").selectAll().execute());
    expect(rows).toHaveLength(1);
    const [row] = rows;
    expect(row!.hash).toHaveLength(32);
    expect(JSON.stringify(row)).not.toContain(apiKey.slice(12, 36));
    expect(Buffer.from(row!.hash).includes(apiKey.slice(12, 36))).toBe(false);
  });

  it("refuses key labels and ids that some database cannot store", async () => {
    const { accounts, keys } = await start(home.reused);
    const wallet = createTestWallet();
    for (const label of ["nul\0", "two\nlines", "\u009b31m"]) {
      expect(await messageOf(() => register(accounts, wallet, { label })), JSON.stringify(label)).toContain(
        "control characters",
      );
    }
    expect(await messageOf(() => register(accounts, wallet, { label: "🦊".repeat(65) }))).toContain("64 characters");
    const { apiKey } = await register(accounts, wallet, { label: "🦊".repeat(64) });
    const principal = await keys.authenticate(apiKey);
    expect((await accounts.listKeys(principal)).map(({ label }) => label)).toEqual(["🦊".repeat(64)]);
    for (const keyId of ["nul\0nul\0", "", "x".repeat(64)]) {
      expect(await codeOf(() => accounts.revokeKey(principal, keyId)), JSON.stringify(keyId)).toBe("NOT_FOUND");
    }
  });

  it("uses the first process's pepper for all", async () => {
    const { store } = await start(home.reused);
    const starts = await Promise.allSettled([7, 8, 7, 8].map((byte) => requirePepper(store, Buffer.alloc(32, byte))));
    expect(starts.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
    const [first, second] = starts[0]!.status === "fulfilled" ? [7, 8] : [8, 7];
    await requirePepper(store, Buffer.alloc(32, first));
    expect(await messageOf(() => requirePepper(store, Buffer.alloc(32, second)))).toContain("another KEY_PEPPER");
  });

  it("does not start on the schema of a later version", async () => {
    const place = await home.newPlace();
    const { store } = await start(place);
    const timestamp = new Date(START_MS).toISOString();
    await store.run((db) =>
      sql`insert into kysely_migration (name, timestamp) values ('9999-later', ${timestamp})`.execute(db),
    );
    expect(describeStartFailure(await openStore(place).catch((error: unknown) => error))).toContain(
      "because: A later version of this service has changed the schema (9999-later). Start that version.",
    );
  });

  it("starts on a schema that a machine with a slow clock has migrated", async () => {
    const place = await home.newPlace();
    const { store } = await start(place);
    const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
    const last = sql`(select max(name) from kysely_migration)`;
    await store.run((db) => sql`update kysely_migration set timestamp = ${hourAgo} where name = ${last}`.execute(db));
    const { accounts, keys } = await start(place);
    const { apiKey } = await register(accounts, createTestWallet());
    expect(await codeOf(() => keys.authenticate(apiKey))).toBe("no error");
  });

  it("creates the schema once if several processes start on an empty database", async () => {
    const place = await home.newPlace();
    const processes = await Promise.all(Array.from({ length: 6 }, () => start(place)));
    const { apiKey } = await register(processes[0]!.accounts, createTestWallet());
    for (const { keys } of processes) expect(await codeOf(() => keys.authenticate(apiKey))).toBe("no error");
  });
});

/** Rows that a sweep removes, and processes that are killed: fewer in the fast tests, and still several of each. */
const OLD_ROWS = isWhole ? 4_000 : 1_200;
const KILLS = isWhole ? 5 : 2;

describe.each(homes)("submissions on $name", (home) => {
  const claimOf = (messageHash: string): SubmissionClaim => ({
    messageHash,
    signature: `signature-of-${messageHash}`,
    accountId: "acc_1",
    submissionToken: "tw1.token",
    transaction: Uint8Array.of(1, 2, 0, 255),
    lastValidBlockHeight: 402_000_151n,
    claimedAtMs: START_MS,
  });
  const lease = (owner: string, untilMs = START_MS + 5_000) => ({ owner, untilMs });
  /** Ends so many trades of one account that the database had better not read them all. */
  async function endMany(store: Store, nowMs: number): Promise<void> {
    const submissions = createSubmissions(store, () => nowMs);
    await Promise.all(Array.from({ length: 2_000 }, (_, i) => submissions.finish(claimOf(`${i}`), "landed")));
    if (!store.isEmbedded) await store.run((db) => sql`analyze submissions`.execute(db));
  }

  it("lets one process claim a message and shows the others its claim", async () => {
    const place = home.reused;
    const processes = await Promise.all([start(place), start(place), start(place)]);
    const claim = claimOf("aa");
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, i) => {
        const { store, clock } = processes[i % 3]!;
        return createSubmissions(store, () => clock.nowMs).claim(claim, lease(`process-${i}`));
      }),
    );
    expect(answers.filter((answer) => answer === "claimed")).toHaveLength(1);
    for (const answer of answers)
      if (answer !== "claimed") expect(answer).toMatchObject({ ...claim, outcome: undefined });
  });

  it("answers claims and ends of many messages at once, each from several processes, each for itself", async () => {
    const place = home.reused;
    const processes = await Promise.all([start(place), start(place)]);
    const stores = processes.map(({ store, clock }) => createSubmissions(store, () => clock.nowMs));
    // In opposite orders: rows that wait for one another must not wait in a circle.
    const hashes = Array.from({ length: isWhole ? 120 : 60 }, (_, i) => `many-${i}`);
    const orders = [hashes, hashes.toReversed()];
    const claims = await Promise.all(
      stores.flatMap((submissions, i) =>
        orders[i]!.flatMap((hash) => [0, 1].map((n) => submissions.claim(claimOf(hash), lease(`process-${i}-${n}`)))),
      ),
    );
    expect(claims.filter((answer) => answer === "claimed")).toHaveLength(hashes.length);
    for (const answer of claims) if (answer !== "claimed") expect(hashes).toContain(answer.messageHash);
    const ends = await Promise.all(
      stores.flatMap((submissions, i) =>
        orders[i]!.map(async (hash) => [hash, await endOf(submissions, claimOf(hash), `${hash} by ${i}`)] as const),
      ),
    );
    const standing = new Map<string, Set<string>>();
    for (const [hash, end] of ends) standing.set(hash, (standing.get(hash) ?? new Set()).add(end));
    for (const [hash, all] of standing)
      expect([hash, all.size, [...all][0]!.startsWith(`${hash} by`)]).toEqual([hash, 1, true]);
    await stores[0]!.finalize("many-7", (await stores[0]!.byMessageHash("many-7"))!.outcome!);
    const ended = await Promise.all(hashes.map((hash) => stores[1]!.standingOf(hash)));
    expect(hashes.filter((_, i) => ended[i]?.isFinalized)).toEqual(["many-7"]);
  });

  it("hands a claim with an expired lease to one process", async () => {
    const { store, clock } = await start(home.reused);
    const submissions = createSubmissions(store, () => clock.nowMs);
    const claim = claimOf("bb");
    expect(await submissions.claim(claim, lease("first"))).toBe("claimed");
    clock.nowMs += 5_000;
    expect(await submissions.claim(claim, lease("second", clock.nowMs + 5_000))).not.toBe("claimed");
    const leaseOf = async (messageHash: string) => (await submissions.byMessageHash(messageHash))?.leaseUntilMs;
    const prolonged = clock.nowMs + 1_000;
    await submissions.renew([], lease("first", prolonged));
    await submissions.renew([...Array.from({ length: 600 }, (_, i) => `none-${i}`), "bb"], lease("first", prolonged));
    expect(await leaseOf("bb")).toBe(prolonged);
    clock.nowMs += 1_001;
    const takers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => submissions.claim(claim, lease(`taker-${i}`, clock.nowMs + 5_000))),
    );
    expect(takers.filter((answer) => answer === "claimed")).toHaveLength(1);
    const taken = await leaseOf("bb");
    await submissions.renew(["bb"], lease("first", clock.nowMs + 9_000));
    expect(await leaseOf("bb")).toBe(taken);
  });

  it("stores every signature of a message, once each, and finds the submission by any of them", async () => {
    const { store, clock } = await start(home.reused);
    const submissions = createSubmissions(store, () => clock.nowMs);
    const claim = claimOf("two");
    await submissions.claim(claim, lease("owner"));
    const other = { signature: "another-signature", transaction: Uint8Array.of(9, 0, 255) };
    await submissions.addSignature("two", other);
    await submissions.addSignature("two", other);
    const stored = await submissions.signaturesOf("two");
    expect(stored).toHaveLength(2);
    expect(stored).toContainEqual({ signature: claim.signature, transaction: claim.transaction });
    expect(stored).toContainEqual(other);
    expect(await submissions.signaturesOf("none")).toEqual([]);
    for (const signature of [claim.signature, other.signature])
      expect(await submissions.bySignature(claim.accountId, signature)).toMatchObject({ messageHash: "two" });
    expect(await submissions.bySignature("someone-else", other.signature)).toBeUndefined();
    clock.nowMs += 8 * 24 * 3_600_000;
    await sweepStore(store, clock.nowMs, randomBytes);
    expect(await submissions.signaturesOf("two")).toEqual([]);
  });

  it("keeps trades, and every signature they are found by, as long as the settings say", async () => {
    const { store, clock } = await start(home.reused);
    const submissions = createSubmissions(store, () => clock.nowMs);
    const claim = claimOf("kept");
    await submissions.claim(claim, lease("owner"));
    await submissions.addSignature("kept", { signature: "second-signature", transaction: Uint8Array.of(9) });
    await submissions.finish(claim, "done");
    const tradesMs = 30 * 24 * 3_600_000;
    const lives = { tradesMs, revokedMs: 0, idleMs: 0, unusedMs: 0 };
    clock.nowMs += tradesMs;
    await sweepStore(store, clock.nowMs, randomBytes, lives);
    expect(await submissions.listOf(claim.accountId, { most: 5 })).toHaveLength(1);
    expect(await submissions.bySignature(claim.accountId, "second-signature")).toBeDefined();
    await sweepStore(store, clock.nowMs + 1, randomBytes, lives);
    expect(await submissions.listOf(claim.accountId, { most: 5 })).toEqual([]);
    expect(await submissions.signaturesOf("kept")).toEqual([]);
  });

  it("writes one terminal outcome and returns it to everyone", async () => {
    const { store, clock } = await start(home.reused);
    const submissions = createSubmissions(store, () => clock.nowMs);
    await submissions.claim(claimOf("cc"), lease("owner"));
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        endOf(submissions, claimOf("cc"), JSON.stringify({ status: "confirmed", by: i })),
      ),
    );
    expect(new Set(answers).size).toBe(1);
    const record = await submissions.byMessageHash("cc");
    expect(record?.outcome).toBe(answers[0]);
    clock.nowMs += 60_000;
    expect(await submissions.claim(claimOf("cc"), lease("late", clock.nowMs + 5_000))).toEqual(record);
    await submissions.renew(["cc"], lease("owner", clock.nowMs + 5_000));
    expect(await submissions.byMessageHash("cc")).toEqual(record);
  });

  it("marks recorded outcomes as final, and changes nothing else", async () => {
    const place = home.reused;
    const [here, there] = [await start(place), await start(place)];
    const submissions = createSubmissions(here.store, () => here.clock.nowMs);
    const elsewhere = createSubmissions(there.store, () => there.clock.nowMs);
    expect(await submissions.finalize("none", "landed")).toBe(false);
    await submissions.claim(claimOf("final"), lease("owner"));
    expect(await submissions.finalize("final", "landed")).toBe(false);
    await submissions.finish(claimOf("final"), "landed");
    expect(await submissions.finalize("final", "landed elsewhere")).toBe(false);
    const ended = await elsewhere.byMessageHash("final");
    expect(ended).toMatchObject({ outcome: "landed", isFinalized: false });
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? submissions : elsewhere).finalize("final", "landed")),
    );
    expect(answers).toEqual(Array(10).fill(true));
    for (const one of [submissions, elsewhere]) {
      expect(await one.byMessageHash("final")).toEqual({ ...ended, isFinalized: true });
      expect(await one.bySignature("acc_1", "signature-of-final")).toEqual({ ...ended, isFinalized: true });
      expect(await endOf(one, claimOf("final"), "another end")).toBe("landed");
      expect(await one.claim(claimOf("final"), lease("late"))).toEqual({ ...ended, isFinalized: true });
    }
  });

  it("finds a submission by signature for its account alone", async () => {
    const { store, clock } = await start(home.reused);
    const submissions = createSubmissions(store, () => clock.nowMs);
    await submissions.claim(claimOf("dd"), lease("owner"));
    expect(await submissions.bySignature("acc_1", "signature-of-dd")).toMatchObject({
      ...claimOf("dd"),
      outcome: undefined,
    });
    expect(await submissions.bySignature("acc_2", "signature-of-dd")).toBeUndefined();
    expect(await submissions.byMessageHash("ee")).toBeUndefined();
  });

  it("finds a trade without reading the others of its account", async () => {
    const { store, clock } = await start(home.reused);
    await endMany(store, clock.nowMs);
    const plans = await plansOf(store, (noting) =>
      createSubmissions(noting, () => clock.nowMs).bySignature("acc_1", "signature-of-7"),
    );
    expect(plans).toContain("submissions_by_signature");
    expect(plans).not.toMatch(/submissions_by_account|scan on submissions\b|scan submissions\b/i);
  });

  it("lists the pending trades of an account without reading those that ended", async () => {
    const { store, clock } = await start(home.reused);
    await endMany(store, clock.nowMs);
    const plans = await plansOf(store, (noting) =>
      createSubmissions(noting, () => clock.nowMs).listOf("acc_1", { most: 50, state: "pending" }),
    );
    expect(plans).toMatch(/submissions_pending|submissions_undecided/);
  });

  it("records an unclaimed submission when it ends", async () => {
    const { store, clock } = await start(home.reused);
    const submissions = createSubmissions(store, () => clock.nowMs);
    expect(await endOf(submissions, claimOf("ee"), "never claimed")).toBe("never claimed");
    expect((await submissions.bySignature("acc_1", "signature-of-ee"))?.outcome).toBe("never claimed");
    expect(await endOf(submissions, claimOf("ee"), "another end")).toBe("never claimed");
  });

  it("lists submissions with expired leases", async () => {
    const { store, clock } = await start(home.reused);
    const submissions = createSubmissions(store, () => clock.nowMs);
    await submissions.claim(claimOf("ff"), lease("gone", clock.nowMs + 1_000));
    await submissions.claim(claimOf("gg"), lease("gone", clock.nowMs + 500));
    await submissions.claim(claimOf("hh"), lease("there", clock.nowMs + 9_000));
    await submissions.claim(claimOf("ii"), lease("gone", clock.nowMs + 500));
    await submissions.finish(claimOf("ii"), "done");
    expect(await submissions.abandoned(10)).toEqual([]);
    clock.nowMs += 1_001;
    expect((await submissions.abandoned(10)).map(({ messageHash }) => messageHash)).toEqual(["gg", "ff"]);
    expect((await submissions.abandoned(1)).map(({ messageHash }) => messageHash)).toEqual(["gg"]);
    expect((await submissions.abandoned(1, { except: ["gg"] })).map(({ messageHash }) => messageHash)).toEqual(["ff"]);
    await submissions.claim(claimOf("jj"), lease("gone", clock.nowMs - 501));
    const all: string[] = [];
    for (let after: SubmissionRecord | undefined; ; ) {
      [after] = await submissions.abandoned(1, { after });
      if (after === undefined) break;
      all.push(after.messageHash);
    }
    expect(all).toEqual(["gg", "jj", "ff"]);
  });

  it("hands many submissions with expired leases to one process at once, and leaves all others", async () => {
    const place = home.reused;
    const [here, there] = [await start(place), await start(place)];
    const submissions = createSubmissions(here.store, () => here.clock.nowMs);
    const elsewhere = createSubmissions(there.store, () => here.clock.nowMs);
    const hashes = Array.from({ length: 300 }, (_, i) => `left-${i}`);
    await Promise.all(hashes.map((hash) => submissions.claim(claimOf(hash), lease("gone", START_MS + 1_000))));
    await submissions.claim(claimOf("held"), lease("there", START_MS + 9_000));
    await submissions.claim(claimOf("over"), lease("gone", START_MS + 1_000));
    await submissions.finish(claimOf("over"), "done");
    const asked = [...hashes, "held", "over", "none"];
    expect(await submissions.takeOver(asked, lease("early"))).toEqual([]);
    here.clock.nowMs = START_MS + 1_001;
    const until = (owner: string) => lease(owner, START_MS + 6_001);
    const taken = await Promise.all([
      submissions.takeOver(asked, until("one")),
      elsewhere.takeOver(asked, until("another")),
    ]);
    expect(taken.flat().toSorted()).toEqual(hashes.toSorted());
    expect(await submissions.renew(asked, until("one"))).toHaveLength(taken[0].length);
    expect(await elsewhere.renew(asked, until("another"))).toHaveLength(taken[1].length);
    expect(await submissions.byMessageHash("held")).toMatchObject({ leaseUntilMs: START_MS + 9_000 });
  });

  it("deletes outcomes a day old and challenges long expired, and nothing else", async () => {
    const { store, clock, accounts } = await start(home.reused);
    const submissions = createSubmissions(store, () => clock.nowMs);
    await submissions.claim(claimOf("old"), lease("owner"));
    await submissions.claim(claimOf("open"), lease("owner"));
    await submissions.finish(claimOf("old"), "done");
    const wallet = createTestWallet();
    const { message } = await accounts.createChallenge(wallet.address);
    const proof = { wallet: wallet.address, message, signature: wallet.sign(message), label: "", revokeOthers: false };
    clock.nowMs += 3_900_000;
    await sweepStore(store, clock.nowMs, randomBytes);
    expect(await messageOf(() => accounts.register(proof))).toContain("has expired");
    clock.nowMs = START_MS + 24 * 3_600_000;
    await sweepStore(store, clock.nowMs, randomBytes);
    expect(await submissions.byMessageHash("old")).toBeDefined();
    await sweepStore(store, clock.nowMs + 1, randomBytes);
    expect(await submissions.byMessageHash("old")).toBeUndefined();
    expect(await submissions.byMessageHash("open")).toBeDefined();
    expect(await messageOf(() => accounts.register(proof))).toContain("expired long ago");
  });

  it("keeps what a process that stops hands over until another one takes it", async () => {
    const { store, clock } = await start(home.reused);
    const submissions = createSubmissions(store, () => clock.nowMs);
    await submissions.claim(claimOf("handed"), lease("owner"));
    await submissions.renew(["handed"], lease("owner", 0));
    await sweepStore(store, clock.nowMs, randomBytes);
    expect(await submissions.abandoned(10)).toMatchObject([{ messageHash: "handed" }]);
    clock.nowMs += 7 * 24 * 3_600_000;
    await sweepStore(store, clock.nowMs, randomBytes);
    expect(await submissions.byMessageHash("handed")).toBeDefined();
    await sweepStore(store, clock.nowMs + 1, randomBytes);
    expect(await submissions.byMessageHash("handed")).toBeUndefined();
  });

  describe("of API keys", () => {
    const DAY_MS = 24 * 3_600_000;
    const LIVES = { revokedMs: 90 * DAY_MS, idleMs: 365 * DAY_MS, unusedMs: 30 * DAY_MS };
    const accountsOf = async (store: Store) =>
      (await store.run((db) => db.selectFrom("accounts").select("wallet").execute())).map(({ wallet }) => wallet);
    const useOf = async (store: Store, keyId: string) =>
      (
        await store.run((db) =>
          db.selectFrom("api_keys").select("used_at_ms").where("id", "=", keyId).executeTakeFirst(),
        )
      )?.used_at_ms;
    /** Uses a key, and waits until that is written down. */
    const use = async ({ store, keys, clock }: Process, { apiKey, keyId }: Registered) => {
      await keys.authenticate(apiKey);
      await expect.poll(() => useOf(store, keyId)).toBeGreaterThan(clock.nowMs - DAY_MS);
    };

    it("keeps a key in use for ever, and drops one that was never used with its account", async () => {
      const running = await start(home.reused);
      const { store, accounts, keys, clock } = running;
      const [used, unused] = [createTestWallet(), createTestWallet()];
      const kept = await register(accounts, used);
      await register(accounts, used);
      const dropped = await register(accounts, unused);
      clock.nowMs += DAY_MS / 2;
      await use(running, kept);
      clock.nowMs = START_MS + 30 * DAY_MS;
      await sweepStore(store, clock.nowMs, randomBytes, LIVES);
      expect(await accountsOf(store)).toHaveLength(2);
      clock.nowMs += 1;
      await sweepStore(store, clock.nowMs, randomBytes, LIVES);
      expect(await accountsOf(store)).toEqual([used.address.toString()]);
      expect(await accounts.listKeys(await keys.authenticate(kept.apiKey))).toHaveLength(1);
      expect(await messageOf(async () => keys.authenticate(dropped.apiKey))).toContain("unknown here");
      // Its wallet may come back.
      await keys.authenticate((await register(accounts, unused)).apiKey);
      for (let day = 0; day < 400; day += 100) {
        clock.nowMs += 100 * DAY_MS;
        await keys.refresh();
        await use(running, kept);
        await sweepStore(store, clock.nowMs, randomBytes, LIVES);
      }
      await keys.authenticate(kept.apiKey);
      clock.nowMs += 366 * DAY_MS;
      await sweepStore(store, clock.nowMs, randomBytes, LIVES);
      expect(await accountsOf(store)).toEqual([]);
    });

    it("looks for keys without reading those that are kept, however long nobody has used them", async () => {
      const { store, clock } = await start(home.reused);
      const rows = Array.from({ length: 2_000 }, (_, i) => ({
        id: `key ${i}`,
        account_id: "acc",
        hash: Uint8Array.of(1),
        label: "",
        created_at_ms: START_MS,
        revoked_at_ms: null,
        used_at_ms: START_MS + 1,
      }));
      await store.run((db) =>
        db.insertInto("accounts").values({ id: "acc", wallet: "wallet", created_at_ms: START_MS }).execute(),
      );
      await store.run((db) => db.insertInto("api_keys").values(rows).execute());
      if (!store.isEmbedded) await store.run((db) => sql`analyze api_keys`.execute(db));
      clock.nowMs += 100 * DAY_MS;
      const plans = await plansOf(store, (noting) => sweepStore(noting, clock.nowMs, randomBytes, LIVES));
      for (const index of ["api_keys_revoked", "api_keys_by_use", "api_keys_unused"]) expect(plans).toContain(index);
    });

    it("reports a key that is dropped to the streams it was opened with, in every process", async () => {
      const place = home.reused;
      const here = await start(place);
      const there = await start(place);
      const { keyId } = await register(here.accounts, createTestWallet());
      const reported: string[] = [];
      here.keys.watch(keyId, () => reported.push("here"));
      there.keys.watch(keyId, () => reported.push("there"));
      for (const { keys } of [here, there]) await keys.refresh();
      expect(reported).toEqual([]);
      await sweepStore(here.store, here.clock.nowMs + 31 * DAY_MS, randomBytes, LIVES);
      for (const { keys } of [here, there]) await keys.refresh();
      expect(reported).toEqual(["here", "there"]);
    });

    it("drops a revoked key after its time, and keeps its account for another", async () => {
      const running = await start(home.reused);
      const { store, accounts, clock } = running;
      const wallet = createTestWallet();
      const first = await register(accounts, wallet);
      await use(running, first);
      clock.nowMs += DAY_MS;
      const second = await register(accounts, wallet, { revokeOthers: true });
      await use(running, second);
      clock.nowMs += 91 * DAY_MS;
      await running.keys.refresh();
      await use(running, second);
      await sweepStore(store, clock.nowMs, randomBytes, LIVES);
      const principal = await running.keys.authenticate(second.apiKey);
      expect((await accounts.listKeys(principal)).map(({ keyId }) => keyId)).toEqual([second.keyId]);
    });

    it("leaves alone what an older version wrote, until it is used, and everything if so configured", async () => {
      const running = await start(home.reused);
      const { store, accounts, clock } = running;
      const old = await register(accounts, createTestWallet());
      await store.run((db) => db.updateTable("api_keys").set({ used_at_ms: null }).execute());
      await register(accounts, createTestWallet());
      clock.nowMs += 1_000 * DAY_MS;
      await sweepStore(store, clock.nowMs, randomBytes, { revokedMs: 0, idleMs: 0, unusedMs: 0 });
      expect(await accountsOf(store)).toHaveLength(2);
      await sweepStore(store, clock.nowMs, randomBytes, LIVES);
      expect(await accountsOf(store)).toHaveLength(1);
      await use(running, old);
      clock.nowMs += 366 * DAY_MS;
      await sweepStore(store, clock.nowMs, randomBytes, LIVES);
      expect(await accountsOf(store)).toEqual([]);
    });

    it("drops any number", async () => {
      const { store, clock } = await start(home.reused);
      const rows = Array.from({ length: 1_200 }, (_, i) => i);
      await store.run((db) =>
        db
          .insertInto("accounts")
          .values(rows.map((i) => ({ id: `acc_${i}`, wallet: `wallet ${i}`, created_at_ms: START_MS })))
          .execute(),
      );
      await store.run((db) =>
        db
          .insertInto("api_keys")
          .values(
            rows.map((i) => ({
              ...{ id: `key ${i}`, account_id: `acc_${i}`, hash: new Uint8Array(32), label: "" },
              ...{ created_at_ms: START_MS, revoked_at_ms: null, used_at_ms: START_MS },
            })),
          )
          .execute(),
      );
      await sweepStore(store, clock.nowMs + 31 * DAY_MS, randomBytes, LIVES);
      expect(await accountsOf(store)).toEqual([]);
    });
  });

  it("removes any number of rows, a few at a time", async () => {
    const { store, clock } = await start(home.reused);
    const submissions = createSubmissions(store, () => clock.nowMs);
    const row = (i: number) => ({
      message_hash: `old ${i}`,
      signature: `signature ${i}`,
      account_id: "acc_1",
      submission_token: "tw1.token",
      transaction_bytes: new Uint8Array(1_000),
      last_valid_block_height: 1,
      claimed_at_ms: START_MS,
      lease_owner: "",
      lease_until_ms: START_MS,
      outcome: i % 2 === 0 ? "done" : null,
      finished_at_ms: i % 2 === 0 ? START_MS : null,
    });
    for (let from = 0; from < OLD_ROWS; from += OLD_ROWS / 4) {
      const rows = Array.from({ length: OLD_ROWS / 4 }, (_, i) => row(from + i));
      await store.run((db) => db.insertInto("submissions").values(rows).execute());
    }
    clock.nowMs += 8 * 24 * 3_600_000;
    let statements = 0;
    const claims: unknown[] = [];
    const pausing: Store = {
      ...store,
      async run(work) {
        const result = await store.run(work);
        // A claim that comes between two statements of the sweep waits for neither.
        if (++statements === 1) claims.push(await submissions.claim(claimOf("new"), lease("owner", clock.nowMs)));
        return result;
      },
    };
    await sweepStore(pausing, clock.nowMs, randomBytes);
    expect(claims).toEqual(["claimed"]);
    expect(statements).toBeGreaterThan(OLD_ROWS / 500);
    const left = await store.run((db) => db.selectFrom("submissions").select("message_hash").execute());
    expect(left).toEqual([{ message_hash: "new" }]);
  });

  it("loses no acknowledged write to kill -9", async () => {
    const place = await home.newPlace();
    const acknowledged: string[] = [];
    for (let round = 0; round < KILLS; round++) acknowledged.push(...(await claimUntilKilled(place, round)));
    expect(acknowledged.length).toBeGreaterThan(KILLS * 20);
    const { store, clock } = await start(place);
    const submissions = createSubmissions(store, () => clock.nowMs);
    for (const messageHash of acknowledged) {
      expect((await submissions.byMessageHash(messageHash))?.outcome, messageHash).toBe(`outcome of ${messageHash}`);
    }
  });
});

/** Runs a process that claims and finishes without end, kills it in the middle, and returns what it had acknowledged. */
async function claimUntilKilled(place: Place, round: number): Promise<string[]> {
  const child: ChildProcess = spawn(
    process.execPath,
    [join(import.meta.dirname, "../support/claim-forever.ts"), place.dataDir, place.databaseUrl ?? "", `${round}`],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const lines: string[] = [];
  const enough = 21 + round * 7;
  for await (const line of createInterface({ input: child.stdout! })) {
    lines.push(line);
    if (lines.length === enough) child.kill("SIGKILL");
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  expect(child.signalCode).toBe("SIGKILL");
  return lines;
}

describe.each(homes)("shared limits on $name", (home) => {
  const NAMES = 6_000;

  it("reads what is new and deletes what is old by an index, though the database knows nothing of who wrote it", async () => {
    const { store, clock } = await start(home.reused);
    const now = () => clock.nowMs;
    const begin = (owner: string, on = store) => createLimitUsage(on, owner, now, now, 1_000);
    const counts = (from: number) =>
      new Map(Array.from({ length: NAMES }, (_, i) => [`build key${from + i}`, 2] as const));
    const [one, two] = [begin("one"), begin("two")];
    await one.exchange(counts(0));
    await two.exchange(new Map());
    if (!store.isEmbedded) await store.run((db) => sql`analyze limit_usage`.execute(db));
    // Under another name.
    clock.nowMs += 61_000;
    await one.exchange(counts(0));
    expect(await two.exchange(new Map())).toEqual(counts(0));
    await one.exchange(counts(NAMES));
    expect(await two.exchange(new Map())).toEqual(counts(NAMES));
    const plans = await plansOf(store, async (noting) => {
      const three = begin("two", noting);
      await three.exchange(new Map([["build other", 1]]));
      clock.nowMs += 61_000;
      for (let i = 0; i < 2; i++) await three.exchange(new Map());
    });
    expect(plans).toContain("limit_usage_by_time");
    expect(plans).not.toMatch(/Seq Scan on limit_usage|SCAN limit_usage|using (index )?limit_usage_key/i);
    await one.exchange(new Map());
    const left = await store.run((db) => db.selectFrom("limit_usage").select("owner").execute());
    expect(left).toEqual([]);
  });
});

describe.each(homes.filter(({ name }) => name === "postgres"))("connections to $name", (home) => {
  it("are reopened when the server drops them", async () => {
    const place = await home.newPlace();
    const { store, keys, accounts } = await start(place);
    const { apiKey } = await register(accounts, createTestWallet());
    const principal = await keys.authenticate(apiKey);
    const operator = new pg.Client({ connectionString: place.databaseUrl });
    await operator.connect();
    const dropped = await operator.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
    );
    await operator.end();
    expect(dropped.rowCount).toBeGreaterThan(0);
    await expect.poll(() => codeOf(() => accounts.listKeys(principal))).toBe("no error");
    expect(await codeOf(() => store.transact((db) => db.selectFrom("accounts").select("id").execute()))).toBe(
      "no error",
    );
  });

  it("hold no lock for a process that stopped in the middle of a transaction", async () => {
    const place = await home.newPlace();
    const [stopped, other] = [await start(place, { statementMs: 2_000 }), await start(place)];
    const { apiKey, keyId } = await register(other.accounts, createTestWallet());
    const principal = await other.keys.authenticate(apiKey);
    const [inside, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const held = codeOf(() =>
      stopped.store.transact(async (db) => {
        await countRevocation(db, randomBytes);
        inside.resolve();
        await goOn.promise;
        await countRevocation(db, randomBytes);
      }),
    );
    await inside.promise;
    expect(await codeOf(() => other.accounts.revokeKey(principal, keyId))).toBe("no error");
    goOn.resolve();
    expect(await held).toBe("UPSTREAM_ERROR");
  });
});

describe.each(homes.filter(({ name }) => name === "postgres"))("a schema of $name", (home) => {
  it("holds a service of its own beside one of another schema", async () => {
    const place = await home.newPlace();
    const { store } = await start(place);
    await store.run((db) => sql`create schema second`.execute(db));
    const second = new URL(place.databaseUrl!);
    second.searchParams.set("options", "-c search_path=second");
    const other = await start({ ...place, databaseUrl: second.href });
    const { apiKey } = await register(other.accounts, createTestWallet());
    expect(await codeOf(() => other.keys.authenticate(apiKey))).toBe("no error");
    const { rows } = await store.run((db) => sql`select id from api_keys`.execute(db));
    expect(rows).toEqual([]);
    await store.run((db) => sql`drop schema second cascade`.execute(db));
  });

  it("that does not exist is named as the reason", async () => {
    const place = await home.newPlace();
    const missing = new URL(place.databaseUrl!);
    missing.searchParams.set("options", "-c search_path=nowhere");
    const failure = await openStore({ ...place, databaseUrl: missing.href }).catch((error: unknown) => error);
    expect(describeStartFailure(failure)).toContain("names no schema that exists. Create it first.");
  });
});

describe.each(homes.filter(({ name }) => name === "postgres"))("a failover of $name", (home) => {
  /** A process whose way to the database can be lost without a word. */
  async function startBehindProxy(place: Place, pollMs: number) {
    const proxy = await startCutProxy(place.databaseUrl!);
    proxies.push(proxy);
    const databaseUrl = new URL(place.databaseUrl!);
    databaseUrl.port = new URL(proxy.url).port;
    const options = { pollMs, now: () => performance.now(), statementMs: 5_000 };
    const process = await start({ ...place, databaseUrl: databaseUrl.href }, options);
    return { proxy, ...process };
  }
  const proxies: CutProxy[] = [];
  afterEach(async () => {
    for (const proxy of proxies.splice(0)) await proxy.close();
  });

  it("costs one time-out if the far ends of all connections are gone", async () => {
    const { proxy, keys, accounts } = await startBehindProxy(await home.newPlace(), 3_600_000);
    const { apiKey } = await register(accounts, createTestWallet());
    const principal = await keys.authenticate(apiKey);
    await Promise.all(Array.from({ length: 5 }, () => accounts.listKeys(principal)));
    const connections = proxy.connections();
    expect(connections).toBeGreaterThan(2);
    proxy.strand();
    expect(await codeOf(() => accounts.listKeys(principal))).toBe("UPSTREAM_ERROR");
    expect(await codeOf(() => accounts.listKeys(principal))).toBe("no error");
    expect(proxy.connections()).toBe(connections + 1);
  });

  it("delays no revocation for as long as such a connection hangs", async () => {
    const place = await home.newPlace();
    const [here, there] = [await startBehindProxy(place, 500), await start(place)];
    const { apiKey, keyId } = await register(here.accounts, createTestWallet());
    const principal = await here.keys.authenticate(apiKey);
    expect(here.keys.recall(apiKey)).toBe(principal);
    here.proxy.strand();
    await there.accounts.revokeKey(principal, keyId);
    await expect.poll(() => here.keys.recall(apiKey), { interval: 50 }).toBeUndefined();
  });

  it("is an outage until connections to the new standby are dropped", async () => {
    const place = await home.newPlace();
    const { accounts } = await start(place);
    const challenge = () => codeOf(() => accounts.createChallenge(createTestWallet().address));
    const operator = new pg.Client({ connectionString: place.databaseUrl });
    await operator.connect();
    const database = new URL(place.databaseUrl!).pathname.slice(1);
    await operator.query(`alter database ${database} set default_transaction_read_only = on`);
    expect(await challenge()).toBe("UPSTREAM_ERROR");
    await operator.query("set default_transaction_read_only = off");
    await operator.query(`alter database ${database} set default_transaction_read_only = off`);
    await operator.end();
    expect(await challenge()).toBe("no error");
  });

  it("keeps no process from starting while the database can only be read", async () => {
    const place = await home.newPlace();
    const before = await start(place);
    await requirePepper(before.store, PEPPER);
    const { apiKey } = await register(before.accounts, createTestWallet());
    const database = new URL(place.databaseUrl!).pathname.slice(1);
    await before.store.run((db) =>
      sql.raw(`alter database ${database} set default_transaction_read_only = on`).execute(db),
    );
    const { store, keys } = await start(place);
    expect(await codeOf(() => requirePepper(store, PEPPER))).toBe("no error");
    expect(await codeOf(() => keys.authenticate(apiKey))).toBe("no error");
    await before.store.run((db) =>
      sql.raw(`alter database ${database} set default_transaction_read_only = off`).execute(db),
    );
  });
});

describe("the embedded store", () => {
  it("is readable only by its owner", async () => {
    const dataDir = join(newFolder(), "data");
    await start({ dataDir });
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    for (const file of readdirSync(dataDir)) expect(statSync(join(dataDir, file)).mode & 0o077, file).toBe(0);
  });

  it("says in words that the file is not its database", async () => {
    const dataDir = newFolder();
    writeFileSync(join(dataDir, "tradewire.sqlite"), "not a database ".repeat(1_000));
    expect(describeStartFailure(await openStore({ dataDir }).catch((error: unknown) => error))).toBe(
      `The database in DATA_DIR, ${dataDir}, cannot be used.\n  because: file is not a database`,
    );
  });

  it("stores no key on disk", async () => {
    const dataDir = newFolder();
    const { accounts } = await start({ dataDir });
    const { apiKey } = await register(accounts, createTestWallet());
    for (const file of readdirSync(dataDir)) {
      expect(readFileSync(join(dataDir, file)).includes(apiKey.slice(12)), file).toBe(false);
    }
  });
});

describe("an outage of the database", () => {
  let process: Process;
  let principal: Principal;
  let apiKey: string;
  beforeAll(async () => {
    process = await start({ dataDir: newFolder() });
    ({ apiKey } = await register(process.accounts, createTestWallet()));
    principal = await process.keys.authenticate(apiKey);
    await process.store.close();
    open.length = 0;
  });
  afterAll(() => process.keys.close());

  it("is reported as one", async () => {
    expect(await codeOf(() => process.accounts.listKeys(principal))).toBe("UPSTREAM_ERROR");
  });

  it("is explained to the operator with its reason, without the password", async () => {
    const databaseUrl = "postgres://nobody:open-sesame@localhost:1/none";
    const words = describeStartFailure(await openStore({ dataDir: "", databaseUrl }).catch((error: unknown) => error));
    expect(words).toMatch(/^The database that DATABASE_URL names cannot be used\.\n {2}because: connect ECONNREFUSED/);
    expect(words).not.toContain("open-sesame");
  });

  it("keeps known keys working for five minutes", async () => {
    expect(process.keys.authenticate(apiKey)).toBe(principal);
    process.clock.nowMs += 299_999;
    expect(process.keys.authenticate(apiKey)).toBe(principal);
    process.clock.nowMs += 1;
    expect(await codeOf(() => process.keys.authenticate(apiKey))).toBe("UPSTREAM_ERROR");
  });
});
