import pg from "pg";
import { afterAll, expect, test } from "vitest";
import { startPostgres } from "../../../test/support/postgres.ts";
import { openStore } from "./store.ts";

const postgres = await startPostgres();
afterAll(() => postgres?.stop());

test.skipIf(postgres === undefined)(
  "a start on a migrated database waits for no session that holds the migrator's lock, as poolers leave it behind",
  async () => {
    const databaseUrl = await postgres!.createDatabase();
    const open = () => openStore({ dataDir: "", databaseUrl });
    await (await open()).close();
    const other = new pg.Client(databaseUrl);
    await other.connect();
    // The lock of Kysely's migrator.
    await other.query("select pg_advisory_lock(3853314791062309107)");
    const store = await open();
    expect(await store.query("select count from revocation_count", [])).toEqual([{ count: 0 }]);
    await store.close();
    await other.end();
  },
);
