import { flushCompileCache } from "node:module";
import { openStore } from "../../src/accounts/store/store.ts";
import { createSubmissions } from "../../src/accounts/submissions.ts";

/** Claims and finishes submissions without end and prints each once it is acknowledged: a process for tests to kill. */
const [, , dataDir = "", databaseUrl = "", name = ""] = process.argv;
const store = await openStore({ dataDir, databaseUrl: databaseUrl === "" ? undefined : databaseUrl });
const submissions = createSubmissions(store, Date.now);
// Killed, it leaves nothing that it compiled to the next one.
flushCompileCache();
for (let i = 0; ; i++) {
  const messageHash = `${name}-${i}`;
  const claim = {
    messageHash,
    signature: `signature-${messageHash}`,
    accountId: "acc_1",
    submissionToken: "tw1.token",
    transaction: new Uint8Array(1_232).fill(i),
    lastValidBlockHeight: BigInt(i),
    claimedAtMs: Date.now(),
  };
  await submissions.claim(claim, { owner: name, untilMs: Date.now() + 5_000 });
  await submissions.finish(claim, `outcome of ${messageHash}`);
  process.stdout.write(`${messageHash}\n`);
}
