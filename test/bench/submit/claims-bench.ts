import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SubmissionClaim } from "../../../src/accounts/port.ts";
import { openStore } from "../../../src/accounts/store/store.ts";
import { createSubmissions } from "../../../src/accounts/submissions.ts";
import { startPostgres } from "../../support/postgres.ts";
import { cpuMicros, median } from "../measure.ts";
import type { BenchRow } from "../venues.ts";

const AT_ONCE = 64;
const CLAIMS = 4_000;
const ROUNDS = 5;

/** Claims a second, 64 at once, with the embedded database and with PostgreSQL on this machine, if it is installed. */
export async function claimRows(): Promise<readonly BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), "tradewire-bench-"));
  const rows = [await rowOf("the embedded database", folder, undefined, "")];
  const postgres = await startPostgres();
  if (postgres === undefined) rows.push(["claims a second, PostgreSQL", "not installed here", "", "≥ 4000/s"]);
  else {
    rows.push(await rowOf("PostgreSQL", folder, await postgres.createDatabase(), "≥ 4000/s"));
    await postgres.stop();
  }
  rmSync(folder, { recursive: true });
  return rows;
}

async function rowOf(
  name: string,
  dataDir: string,
  databaseUrl: string | undefined,
  promise: string,
): Promise<BenchRow> {
  const store = await openStore({ dataDir, databaseUrl });
  const submissions = createSubmissions(store, Date.now);
  const lease = { owner: "bench", untilMs: Date.now() + 600_000 };
  const rates: number[] = [];
  const times: number[] = [];
  for (let round = -1; round < ROUNDS; round++) {
    const claims = Array.from({ length: CLAIMS }, newClaim);
    const [startMs, before] = [performance.now(), cpuMicros()];
    let next = 0;
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        while (next < CLAIMS) await submissions.claim(claims[next++]!, lease);
      }),
    );
    if (round < 0) continue;
    rates.push((CLAIMS * 1_000) / (performance.now() - startMs));
    times.push((cpuMicros() - before) / CLAIMS);
  }
  await store.close();
  const each = `${median(times).toFixed(0)} µs each`;
  return [`claims a second, ${AT_ONCE} at once, ${name}`, each, `${median(rates).toFixed(0)}/s`, promise];
}

function newClaim(): SubmissionClaim {
  return {
    messageHash: randomBytes(32).toString("hex"),
    signature: randomBytes(64).toString("base64url"),
    accountId: "bench",
    submissionToken: `tw1.k.${randomBytes(320).toString("base64url")}`,
    transaction: randomBytes(900),
    lastValidBlockHeight: 400_000_000n,
    claimedAtMs: Date.now(),
  };
}
