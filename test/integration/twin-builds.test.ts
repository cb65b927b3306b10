import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type App, startApp } from "../../src/app/app.ts";
import { parseConfig } from "../../src/config/config.ts";
import { type BuildEntry, type History, type SubmitEntry, Trader } from "../slow/faults/trader.ts";
import { eventually } from "../support/eventually.ts";
import { type PacedSandbox, startPacedSandbox } from "../support/paced-sandbox.ts";
import { PATIENT } from "../support/service.ts";

/**
 * Builds of one order at a time by each service: some ten of their pairs are the same message. Not equally many, so that two services that
 * count by equal steps meet too.
 */
const BUILDS = [350, 450];

/** Two services on one chain and one database, and a wallet with SOL and a key. */
async function startPair() {
  const dataDir = mkdtempSync(join(tmpdir(), "tradewire-test-"));
  const sandbox = await startPacedSandbox({ slotMs: 50, confirmedAfterSlots: 1 });
  const trader = new Trader(0x7a1, { builds: [], refusedBuilds: [], submits: [], secrets: [] } satisfies History);
  const apps: App[] = [];
  const start = () =>
    startApp({
      now: Date.now,
      config: parseConfig({
        ...PATIENT,
        DATA_DIR: dataDir,
        PUBLIC_URL: "http://tradewire.test",
        SIGN_IN_CHAIN_ID: "localnet",
        SOLANA_RPC_URLS: sandbox.rpcUrl,
        SOLANA_WS_URLS: sandbox.wsUrl,
      }),
      logger: { info: () => {}, warn: () => {}, error: () => {} },
    });
  /** Starts both services anew, as after an upgrade. */
  const restart = async () => {
    await Promise.all(apps.splice(0).map((app) => app.close()));
    for (let i = 0; i < 2; i++) apps.push(await start());
  };
  await restart();
  await rpc(sandbox, "requestAirdrop", [trader.address, 5e9]);
  await trader.register(apps[0]!.url);
  const close = async () => {
    await Promise.all(apps.map((app) => app.close()));
    await sandbox.close();
    rmSync(dataDir, { recursive: true, force: true });
  };
  return { sandbox, trader, apps, restart, close };
}

async function rpc<T>(sandbox: PacedSandbox, method: string, params: readonly unknown[]): Promise<T> {
  const response = await fetch(sandbox.rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  return ((await response.json()) as { result: T }).result;
}

type Pair = Awaited<ReturnType<typeof startPair>>;

/** A purchase that opens no temporary account, whose name is random. */
function orderOf({ sandbox }: Pair) {
  const { mint } = sandbox.world.tokens.find(({ venue }) => venue === "pump_fun")!;
  return { path: "buy", body: { mint: mint.toString(), solAmount: 0.01 } } as const;
}

/** One order built by both services, of one blockhash, until two builds of it are the same message. */
async function buildTwins(pair: Pair): Promise<readonly [BuildEntry, BuildEntry]> {
  const { sandbox, trader, apps } = pair;
  const order = orderOf(pair);
  for (;;) {
    await sandbox.pause();
    const [here, there] = await Promise.all(
      apps.map(async ({ url }, at) => {
        const built: BuildEntry[] = [];
        for (let i = 0; i < BUILDS[at]!; i++) built.push((await trader.build(url, order))!);
        return built;
      }),
    );
    await sandbox.resume();
    const byMessage = new Map(here!.map((build) => [build?.messageHash, build]));
    for (const build of there!) {
      const twin = byMessage.get(build?.messageHash);
      if (twin !== undefined) return [twin, build] as const;
    }
  }
}

/** Submits again, as a client does, while the answer is one that may change. */
async function submitUntilDecided({ trader }: Pair, url: string, build: BuildEntry): Promise<SubmitEntry> {
  for (;;) {
    const answer = await trader.submit({ name: url, url }, build);
    const isOpen = [0, 503].includes(answer.status) || ["pending", "processed"].includes(answer.data?.status ?? "");
    if (!isOpen) return answer;
  }
}

const CONFLICT = { status: 409, error: { code: "CONFLICT_ERROR", retryable: false, safeToRebuild: true } };

// What the databases do is in submissions.test.ts; what processes do that die or wait for them, in twins.test.ts.
test("of two equal orders that two services built as one message, one is confirmed, and the other refused by every process, also after a restart", async () => {
  const pair = await startPair();
  try {
    const { trader, apps, sandbox } = pair;
    const builds = await buildTwins(pair);
    expect(builds[0].submissionToken).not.toBe(builds[1].submissionToken);
    expect(builds[0].signed).toBe(builds[1].signed);
    const balance = () =>
      rpc<{ value: number }>(sandbox, "getBalance", [trader.address, { commitment: "confirmed" }]).then(
        ({ value }) => value,
      );
    const before = await balance();
    // Each at its own service, at the same time.
    const answers = await Promise.all(builds.map((build, i) => submitUntilDecided(pair, apps[i]!.url, build)));
    const told = answers.findIndex(({ status }) => status === 200);
    const judge = (all: readonly SubmitEntry[]) => {
      expect(all[told]).toMatchObject({ status: 200, data: { signature: builds[0].signature } });
      expect(all[1 - told]).toMatchObject(CONFLICT);
    };
    judge(answers);
    const { tradeResult, costs } = answers[told]!.data!;
    const spent = [tradeResult!.inputAmountRaw, costs.baseFee, costs.priorityFee, costs.rentPaid];
    expect(BigInt(before - (await balance()))).toBe(spent.reduce((sum, part) => sum + BigInt(part), 0n));
    for (let round = 0; round < 2; round++) {
      for (const { url } of apps) judge(await Promise.all(builds.map((build) => submitUntilDecided(pair, url, build))));
      await eventually(async () => {
        const { status, data } = await trader.get(apps[1]!.url, "/v1/tx");
        expect([status, (data as { trades: unknown[] }).trades.length]).toEqual([200, 1]);
      });
      if (round === 0) await pair.restart();
    }
    // What was refused is traded by another build.
    let again: BuildEntry | undefined;
    while (again === undefined) again = await trader.build(apps[0]!.url, orderOf(pair));
    expect(await submitUntilDecided(pair, apps[0]!.url, again)).toMatchObject({ status: 200 });
  } finally {
    await pair.close();
  }
});
