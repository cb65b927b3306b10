import { expect } from "vitest";
import type { BuildEntry, SubmitEntry } from "../slow/faults/trader.ts";
import { eventually } from "./eventually.ts";
import type { ServicePair } from "./service-pair.ts";

/**
 * Builds of one order at a time by each service: some ten of their pairs are the same message. Not equally many, so that two services that
 * count by equal steps meet too.
 */
const BUILDS = [350, 450];

const CONFLICT = { status: 409, error: { code: "CONFLICT_ERROR", retryable: false, safeToRebuild: true } };

/** A purchase that opens no temporary account, whose name is random. */
function orderOf({ sandbox }: ServicePair) {
  const { mint } = sandbox.world.tokens.find(({ venue }) => venue === "pump_fun")!;
  return { path: "buy", body: { mint: mint.toString(), solAmount: 0.01 } } as const;
}

/** One order built by both services, of one blockhash, until two builds of it are the same message. */
async function buildTwins(pair: ServicePair): Promise<readonly [BuildEntry, BuildEntry]> {
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
async function submitUntilDecided({ trader }: ServicePair, url: string, build: BuildEntry): Promise<SubmitEntry> {
  for (;;) {
    const answer = await trader.submit({ name: url, url }, build);
    const isOpen = [0, 503].includes(answer.status) || ["pending", "processed"].includes(answer.data?.status ?? "");
    if (!isOpen) return answer;
  }
}

/**
 * Submits two builds of one message at the same time, each at its own service: one is confirmed, exact on the chain, and the other refused
 * by both services, also after a restart.
 */
export async function tradeTwins(pair: ServicePair): Promise<void> {
  const { trader, apps, rpc } = pair;
  const builds = await buildTwins(pair);
  expect(builds[0].submissionToken).not.toBe(builds[1].submissionToken);
  expect(builds[0].signed).toBe(builds[1].signed);
  const balance = () =>
    rpc<{ value: number }>("getBalance", [trader.address, { commitment: "confirmed" }]).then(({ value }) => value);
  const before = await balance();
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
}
