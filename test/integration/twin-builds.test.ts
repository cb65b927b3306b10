import { test } from "vitest";
import { startServicePair } from "../support/service-pair.ts";
import { tradeTwins } from "../support/twin-builds.ts";

// On PostgreSQL: test/slow/operations/twin-builds.test.ts. What the databases do is in submissions.test.ts; what processes do that die or
// wait for them, in twins.test.ts.
test("of two equal orders that two services built as one message, one is confirmed, and the other refused by every process, also after a restart", async () => {
  const pair = await startServicePair();
  try {
    await tradeTwins(pair);
  } finally {
    await pair.close();
  }
});
