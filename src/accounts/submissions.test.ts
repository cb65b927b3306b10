import { hash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, expect, test } from "vitest";
import { claimOf } from "../../test/support/claim.ts";
import { startPostgres } from "../../test/support/postgres.ts";
import { openStore, type Store } from "./store/store.ts";
import { createSubmissions } from "./submissions.ts";

/** Limits that no busy machine exceeds. */
const PATIENT = { connections: 10, connectMs: 300_000, statementMs: 300_000 };

const postgres = await startPostgres();
afterAll(() => postgres?.stop());

if (postgres !== undefined)
  test("ends written together and renewals of their leases never wait for one another in a circle", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "tradewire-submissions-"));
    const databaseUrl = await postgres.createDatabase();
    const store = await openStore({ dataDir, databaseUrl });
    const [holder, watcher] = [new pg.Client(databaseUrl), new pg.Client(databaseUrl)];
    await Promise.all([holder.connect(), watcher.connect()]);
    const waiting = async (): Promise<number> => {
      const { rows } = await watcher.query(
        "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return rows.length;
    };
    try {
      const submissions = createSubmissions(store, () => 1_000);
      const lease = { owner: "owner", untilMs: 9_000 };
      // In the table they lie in the other order than their hashes.
      for (const one of ["b", "a"]) await submissions.claim(claimOf(one), lease);
      await holder.query("begin");
      await holder.query("select 1 from submissions where message_hash = 'a' for update");
      const ends = Promise.all(["a", "b"].map((hash) => submissions.finish(claimOf(hash), "landed")));
      await expect.poll(waiting).toBe(1);
      const renewed = submissions.renew(["a", "b"], lease);
      await expect.poll(waiting).toBe(2);
      await holder.query("commit");
      expect(await Promise.allSettled([ends, renewed])).toEqual([
        { status: "fulfilled", value: ["finished", "finished"] },
        { status: "fulfilled", value: [] },
      ]);
    } finally {
      await Promise.all([holder.end(), watcher.end()]);
      await store.close();
      postgres.release(databaseUrl);
      rmSync(dataDir, { recursive: true });
    }
  });

test.each(["embedded", "PostgreSQL"])(
  "%s: a lease that ends later than any can, as the clock was set back, is over",
  async (kind) => {
    if (kind === "PostgreSQL" && postgres === undefined) return;
    const dataDir = mkdtempSync(join(tmpdir(), "tradewire-submissions-"));
    const databaseUrl = kind === "embedded" ? undefined : await postgres!.createDatabase();
    const store = await openStore({ dataDir, databaseUrl });
    try {
      let nowMs = 1_800_000_000_000;
      const submissions = createSubmissions(store, () => nowMs);
      const leaseOf = (owner: string) => ({ owner, untilMs: nowMs + 5_000 });
      const abandoned = async () => (await submissions.abandoned(10)).map(({ messageHash }) => messageHash);
      await submissions.claim(claimOf("a"), leaseOf("one that dies"));
      nowMs -= 3_600_000;
      expect(await abandoned()).toEqual(["a"]);
      expect(await submissions.claim(claimOf("a"), leaseOf("another"))).toBe("claimed");
      expect(await abandoned()).toEqual([]);
      expect(await submissions.claim(claimOf("a"), leaseOf("a third"))).toMatchObject({ messageHash: "a" });
    } finally {
      await store.close();
      if (databaseUrl !== undefined) postgres!.release(databaseUrl);
      rmSync(dataDir, { recursive: true });
    }
  },
);

test.each(["embedded", "PostgreSQL"])(
  "%s: a claim that is made again, as its answer was lost, is held",
  async (kind) => {
    if (kind === "PostgreSQL" && postgres === undefined) return;
    const dataDir = mkdtempSync(join(tmpdir(), "tradewire-submissions-"));
    const databaseUrl = kind === "embedded" ? undefined : await postgres!.createDatabase();
    const store = await openStore({ dataDir, databaseUrl });
    try {
      const submissions = createSubmissions(store, () => 1_000);
      await submissions.claim(claimOf("a"), { owner: "one", untilMs: 6_000 });
      expect(await submissions.claim(claimOf("a"), { owner: "one", untilMs: 7_000 })).toBe("claimed");
      const held = { messageHash: "a", leaseUntilMs: 7_000 };
      expect(await submissions.claim(claimOf("a"), { owner: "another", untilMs: 8_000 })).toMatchObject(held);
      await submissions.finish(claimOf("a"), "landed");
      const ended = { messageHash: "a", outcome: "landed" };
      expect(await submissions.claim(claimOf("a"), { owner: "one", untilMs: 9_000 })).toMatchObject(ended);
    } finally {
      await store.close();
      if (databaseUrl !== undefined) postgres!.release(databaseUrl);
      rmSync(dataDir, { recursive: true });
    }
  },
);

test.each(["embedded", "PostgreSQL"])(
  "%s names those of many messages that have ended, and finds a submission, by one prepared text each",
  async (kind) => {
    if (kind === "PostgreSQL" && postgres === undefined) return;
    const dataDir = mkdtempSync(join(tmpdir(), "tradewire-submissions-"));
    const databaseUrl = kind === "embedded" ? undefined : await postgres!.createDatabase();
    const store = await openStore({ dataDir, databaseUrl });
    try {
      const texts = new Set<string>();
      const query: typeof store.query = (sql, parameters) => {
        texts.add(sql);
        return store.query(sql, parameters);
      };
      const submissions = createSubmissions({ ...store, query }, () => 1_000);
      const hashes = Array.from({ length: 300 }, (_, i) => `message "${i}"`);
      await Promise.all(
        hashes.slice(0, 20).map((one) => submissions.claim(claimOf(one), { owner: "owner", untilMs: 9_000 })),
      );
      expect(await submissions.endedAmong([])).toEqual([]);
      expect(await submissions.endedAmong(hashes)).toEqual([]);
      for (const i of [3, 7]) await submissions.finish(claimOf(hashes[i]!), "landed");
      texts.clear();
      expect((await submissions.endedAmong(hashes)).toSorted()).toEqual([hashes[3], hashes[7]]);
      expect(await submissions.endedAmong(hashes.slice(7, 9))).toEqual([hashes[7]]);
      expect(texts.size).toBe(1);
      const long = "ends in – ".repeat(100);
      await submissions.finish(claimOf(hashes[9]!), long);
      await submissions.finalize(hashes[9]!, long);
      texts.clear();
      expect(await submissions.digestsAmong([])).toEqual(new Map());
      const digests = new Map([
        [hashes[7], hash("sha256", "landed")],
        [hashes[9], hash("sha256", long)],
      ]);
      expect(await submissions.digestsAmong(hashes.slice(7, 12))).toEqual(digests);
      expect(texts.size).toBe(1);
      texts.clear();
      const standings = await Promise.all([7, 8, 9].map((i) => submissions.standingOf(hashes[i]!)));
      expect(standings).toEqual([
        { digest: digests.get(hashes[7]), isFinalized: false },
        undefined,
        { digest: digests.get(hashes[9]), isFinalized: true },
      ]);
      expect(texts.size).toBe(1);
      texts.clear();
      for (const messageHash of hashes.slice(3, 5)) {
        const { accountId, signature } = claimOf(messageHash);
        expect(await submissions.bySignature(accountId, signature)).toMatchObject({ messageHash });
      }
      expect(texts.size).toBe(1);
    } finally {
      await store.close();
      if (databaseUrl !== undefined) postgres!.release(databaseUrl);
      rmSync(dataDir, { recursive: true });
    }
  },
);

test.each([
  ["a text", "'text'"],
  ["a fraction", "1.5"],
  ["more than a number can be", "1152921504606846976"],
  ["a time that no calendar has", "9000000000000000"],
])("a record with %s where a whole number belongs hides no other record", async (_what, cell) => {
  const dataDir = mkdtempSync(join(tmpdir(), "tradewire-submissions-"));
  const store = await openStore({ dataDir });
  try {
    const submissions = createSubmissions(store, () => 1_000);
    const old = { owner: "lost", untilMs: 0 };
    await submissions.claim(claimOf("damaged"), old);
    await submissions.claim(claimOf("sound"), old);
    const cells = "last_valid_block_height = $, claimed_at_ms = $, finished_at_ms = $".replaceAll("$", cell);
    await store.write(`update submissions set ${cells}, transaction_bytes = 'text' where message_hash = 'damaged'`, []);
    const abandoned = await submissions.abandoned(10);
    expect(abandoned.map(({ messageHash }) => messageHash).toSorted()).toEqual(["damaged", "sound"]);
    const listed = await submissions.listOf("acc_1", { most: 10 });
    expect(listed.map(({ messageHash }) => messageHash).toSorted()).toEqual(["damaged", "sound"]);
    for (const { claimedAtMs } of listed) expect(() => new Date(claimedAtMs).toISOString()).not.toThrow();
    const damaged = await submissions.byMessageHash("damaged");
    expect(damaged).toMatchObject({ transaction: new Uint8Array(), endedAtMs: undefined });
  } finally {
    await store.close();
    rmSync(dataDir, { recursive: true });
  }
});

test.each(["embedded", "PostgreSQL"])(
  "%s puts an outcome in the place of a damaged one, and of no other",
  async (kind) => {
    if (kind === "PostgreSQL" && postgres === undefined) return;
    const dataDir = mkdtempSync(join(tmpdir(), "tradewire-submissions-"));
    const databaseUrl = kind === "embedded" ? undefined : await postgres!.createDatabase();
    const store = await openStore({ dataDir, databaseUrl });
    try {
      const submissions = createSubmissions(store, () => 1_000);
      const claim = claimOf("message");
      await submissions.finish(claim, "damaged");
      await submissions.finalize("message", "damaged");
      const ended = { ...claim, signature: "landed", transaction: Uint8Array.of(2) };
      const [damaged, undone] = [
        { outcome: "damaged", isFinalized: true },
        { outcome: "end", isFinalized: false },
      ];
      expect(await submissions.replaceOutcome(ended, { ...damaged, isFinalized: false }, "end")).toBe(false);
      expect(await submissions.replaceOutcome(ended, damaged, "end")).toBe(true);
      expect(await submissions.replaceOutcome(claim, damaged, "another end")).toBe(false);
      const { signature, transaction } = ended;
      expect(await submissions.byMessageHash("message")).toMatchObject({
        outcome: "end",
        isFinalized: false,
        signature,
        transaction,
      });
      expect(await submissions.replaceOutcome(claim, damaged, "last", true)).toBe(false);
      expect(await submissions.byMessageHash("message")).toMatchObject({ outcome: "end", isFinalized: false });
      expect(await submissions.replaceOutcome(claim, undone, "last", true)).toBe(true);
      const readBefore = { outcome: "last", isFinalized: false };
      expect(await submissions.replaceOutcome(claim, readBefore, "after what was final", true)).toBe(false);
      expect(await submissions.byMessageHash("message")).toMatchObject({ outcome: "last", isFinalized: true });
    } finally {
      await store.close();
      if (databaseUrl !== undefined) postgres!.release(databaseUrl);
      rmSync(dataDir, { recursive: true });
    }
  },
);

test.each(["embedded", "PostgreSQL"])(
  "%s: a claim, a takeover and an end are those of the build on record: another one of the message gets the record",
  async (kind) => {
    if (kind === "PostgreSQL" && postgres === undefined) return;
    const dataDir = mkdtempSync(join(tmpdir(), "tradewire-submissions-"));
    const databaseUrl = kind === "embedded" ? undefined : await postgres!.createDatabase();
    const stores = await Promise.all([0, 1].map(() => openStore({ dataDir, databaseUrl }, PATIENT)));
    try {
      let nowMs = 1_000;
      const processes = stores.map((store, i) => ({
        submissions: createSubmissions(store, () => nowMs),
        lease: () => ({ owner: `process ${i}`, untilMs: nowMs + 5_000 }),
      }));
      const [one, other] = processes;
      const twins = (hash: string) =>
        ["first", "second"].map((submissionToken) => ({ ...claimOf(hash), submissionToken }));
      // At once, many, through both: each message has one build in the end.
      const hashes = Array.from({ length: 64 }, (_, i) => `at once ${i}`);
      const claims = hashes.flatMap((hash) =>
        twins(hash).map((claim, i) => processes[i]!.submissions.claim(claim, processes[i]!.lease())),
      );
      expect((await Promise.all(claims)).filter((held) => held === "claimed")).toHaveLength(hashes.length);
      const ends = await Promise.all(
        hashes.flatMap((hash) => twins(hash).map((claim, i) => processes[i]!.submissions.finish(claim, `end ${i}`))),
      );
      expect(ends.filter((end) => end === "finished")).toHaveLength(hashes.length);
      for (const [i, hash] of hashes.entries()) {
        const record = await one!.submissions.byMessageHash(hash);
        const holder = record!.submissionToken === "first" ? 0 : 1;
        expect([record!.outcome, ends[2 * i + holder]]).toEqual([`end ${holder}`, "finished"]);
        expect(ends[2 * i + 1 - holder]).toMatchObject({ submissionToken: record!.submissionToken });
      }
      // After the lease, and by the same process too.
      const [first, second] = twins("later");
      await one!.submissions.claim(first!, one!.lease());
      nowMs += 6_000;
      for (const { submissions, lease } of processes) {
        const held = { submissionToken: "first", outcome: undefined, leaseUntilMs: 6_000 };
        expect(await submissions.claim(second!, lease())).toMatchObject(held);
        expect(await submissions.finish(second!, "end")).toMatchObject(held);
      }
      expect(await other!.submissions.claim(first!, other!.lease())).toBe("claimed");
      expect(await other!.submissions.finish(first!, "landed")).toBe("finished");
      expect(await one!.submissions.finish(second!, "end")).toMatchObject({ outcome: "landed" });
      expect(await one!.submissions.finish(first!, "end")).toMatchObject({ outcome: "landed" });
    } finally {
      await Promise.all(stores.map((store) => store.close()));
      if (databaseUrl !== undefined) postgres!.release(databaseUrl);
      rmSync(dataDir, { recursive: true });
    }
  },
);

test.each([true, false])(
  "looks at one outcome do not pile up while the database hangs (embedded: %s)",
  async (isEmbedded) => {
    const hanging: PromiseWithResolvers<readonly object[]>[] = [];
    const query = () => {
      const answer = Promise.withResolvers<readonly object[]>();
      hanging.push(answer);
      return answer.promise;
    };
    const submissions = createSubmissions({ isEmbedded, query } as unknown as Store, Date.now);
    const looks: Promise<unknown>[] = [];
    for (let i = 0; i < 1_000; i++) {
      looks.push(submissions.standingOf("a"));
      await Promise.resolve();
    }
    for (let at = 0; at < hanging.length; at++) {
      hanging[at]!.resolve([]);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(new Set(await Promise.all(looks))).toEqual(new Set([undefined]));
    expect(hanging).toHaveLength(3);
  },
);
