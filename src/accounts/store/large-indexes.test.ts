import { spawn } from "node:child_process";
import { once } from "node:events";
import pg from "pg";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { childEnvironment } from "../../../test/support/child-environment.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { startPostgres } from "../../../test/support/postgres.ts";
import { openStore } from "./store.ts";

const postgres = await startPostgres();
afterAll(() => postgres?.stop());

const clients: pg.Client[] = [];
let url: string;

/** Opens the store as a start does, and closes it. */
const start = async () => (await openStore({ dataDir: "", databaseUrl: url })).close();

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  clients.push(client);
  return client;
}

const writeSubmission = (client: pg.Client, hash: string) =>
  client.query(
    `insert into submissions (message_hash, signature, account_id, submission_token, transaction_bytes,
       last_valid_block_height, claimed_at_ms, lease_owner, lease_until_ms)
     values ($1, $1, 'account', '', '', 1, 1, 'owner', 1)`,
    [hash],
  );

/** Whether the index of pending submissions may be used; undefined if there is none. */
async function isValid(client: pg.Client): Promise<boolean | undefined> {
  const { rows } = await client.query(
    "select indisvalid from pg_index where indexrelid = to_regclass('submissions_pending')",
  );
  return rows[0]?.indisvalid;
}

/** The server's process that makes the index, once it waits for a transaction that writes. */
const waitingBackend = (client: pg.Client): Promise<number> =>
  eventually(async () => {
    const { rows } = await client.query(
      "select pid from pg_stat_activity where query like 'create index%submissions_pending%' and wait_event_type = 'Lock'",
    );
    expect(rows).toHaveLength(1);
    return rows[0].pid;
  });

describe.skipIf(postgres === undefined)("an index that a large PostgreSQL lacks", () => {
  /** A connection in no transaction, and one whose transaction has written: the index waits for its end. */
  let client: pg.Client;
  let writer: pg.Client;

  beforeEach(async () => {
    url = await postgres!.createDatabase();
    await start();
    client = await connect();
    writer = await connect();
    await client.query("drop index submissions_pending, api_keys_revoked, api_keys_unused");
    await client.query("delete from kysely_migration where name >= '0012'");
    await writer.query("begin");
    await writeSubmission(writer, "before");
  });
  afterEach(async () => {
    for (const one of clients.splice(0)) await one.end();
    postgres!.release(url);
  });

  it("is made while others write", async () => {
    const started = start();
    await waitingBackend(client);
    // Fails rather than waits for the transaction that this test holds.
    await client.query("set lock_timeout = '5s'");
    await writeSubmission(client, "meanwhile");
    expect(await isValid(client)).toBe(false);
    await writer.query("commit");
    await started;
    expect(await isValid(client)).toBe(true);
  });

  it("is made once by two processes that start at once", async () => {
    const started = [start(), start()];
    await waitingBackend(client);
    // The other one waits for it in a way that it does not wait for.
    await eventually(async () => {
      const { rows } = await client.query(
        "select 1 from pg_stat_activity where datname = current_database() and query like 'select pg_try_advisory_lock%'",
      );
      expect(rows).toHaveLength(1);
    });
    await writer.query("commit");
    await Promise.all(started);
    expect(await isValid(client)).toBe(true);
  });

  it("is made again if the server has ended in the middle", async () => {
    const cut = start().catch((error: unknown) => error);
    await client.query("select pg_terminate_backend($1)", [await waitingBackend(client)]);
    expect(await cut).toBeInstanceOf(Error);
    expect(await isValid(client)).toBe(false);
    await writer.query("commit");
    await start();
    expect(await isValid(client)).toBe(true);
  });

  it("is there after a process was killed in the middle and another one starts", async () => {
    const program = `
      import { openStore } from ${JSON.stringify(new URL("store.ts", import.meta.url).href)};
      await openStore({ dataDir: "", databaseUrl: process.env.DATABASE_URL });`;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
      env: childEnvironment({ DATABASE_URL: url }),
      stdio: "ignore",
    });
    const exited = once(child, "exit");
    await waitingBackend(client);
    child.kill("SIGKILL");
    await exited;
    const started = start();
    await writer.query("commit");
    await started;
    expect(await isValid(client)).toBe(true);
  });
});
