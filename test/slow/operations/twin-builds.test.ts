import { afterAll, test } from "vitest";
import { startPostgres } from "../../support/postgres.ts";
import { startServicePair } from "../../support/service-pair.ts";
import { tradeTwins } from "../../support/twin-builds.ts";

const postgres = await startPostgres();
afterAll(() => postgres?.stop());
if (postgres === undefined)
  process.stderr.write("No PostgreSQL found: equal messages of two services on it are not tested.\n");

/** Some 800 builds, one after the other: only ends a test that hangs. Milliseconds. */
const PATIENCE_MS = 900_000;

test.skipIf(postgres === undefined)(
  "of two equal orders that two services on PostgreSQL built as one message, one is confirmed, and the other refused by every process, also after a restart",
  { timeout: PATIENCE_MS },
  async () => {
    const pair = await startServicePair(await postgres!.createDatabase());
    try {
      await tradeTwins(pair);
    } finally {
      await pair.close();
    }
  },
);
