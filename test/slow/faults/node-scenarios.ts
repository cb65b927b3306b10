import { setTimeout as sleep } from "node:timers/promises";
import { ComputeBudgetProgram, VersionedTransaction } from "@solana/web3.js";
import bs58 from "bs58";
import { compileMessageV1 } from "../../../src/solana/message.ts";
import { transferLamports } from "../../../src/solana/token/token-instructions.ts";
import type { Rig } from "./rig.ts";
import type { Faults, RpcProxy } from "./rpc-proxy.ts";
import {
  broadcastDelays,
  durations,
  landed,
  onRig,
  percentile,
  type Scenario,
  submitUntilEnded,
  trades,
  until,
} from "./scenario.ts";
import { SlotWatch } from "./slot-watch.ts";
import type { BuildEntry } from "./trader.ts";

/** A second, of a node that answers nothing: enough to notice when it is back. The service asks its first node some twenty times. */
const MOST_QUESTIONS = 5;
const round = (value: number) => Math.round(value);

/** Nodes that fail, are slow, or lie. */
export const NODE_SCENARIOS: readonly Scenario[] = [
  {
    row: 2,
    promise: "one of three nodes down (refused, reset, blackhole)",
    target: "0 failed builds and submits; first broadcast p99 +≤ 50 ms; not asked first after 1 s",
    run: ({ seed, scale }) =>
      onRig({ seed, endpoints: 3 }, async (rig, expect) => {
        let failed = 0;
        let normal = 0;
        let worst = 0;
        let asked = 0;
        for (const [i, connection] of (["refuse", "reset", "blackhole"] as const).entries()) {
          const victim = rig.proxies[(i + seed) % 3]!;
          // As many trades without the fault as with it, and at about the same time: the worst of a few is compared.
          const quiet = await trades(rig, 20 * scale);
          failed += quiet.length - landed(quiet);
          normal = Math.max(normal, percentile(broadcastDelays(rig, quiet), 99));
          await victim.set({ connection });
          const questions = connection === "blackhole" ? questionsAfter(victim, 1_000, 3_000) : 0;
          const entries = await trades(rig, 20 * scale);
          asked = Math.max(asked, await questions);
          failed += entries.length - landed(entries);
          worst = Math.max(worst, percentile(broadcastDelays(rig, entries), 99));
          await victim.heal();
        }
        const refused = rig.history.refusedBuilds.length;
        expect(failed === 0, `${failed} submits failed`);
        expect(refused === 0, `${refused} builds failed: ${rig.history.refusedBuilds.at(-1)?.message}`);
        expect(worst - normal <= 50, `first broadcast +${round(worst - normal)} ms`);
        expect(asked <= MOST_QUESTIONS, `a node that answers nothing was still asked ${round(asked)} times a second`);
        return `asked ${asked.toFixed(1)} × a second after 1 s; ${failed} submits and ${refused} builds failed; first broadcast p99 ${round(normal)} → ${round(worst)} ms`;
      }),
  },
  {
    row: 3,
    promise: "all nodes down for 5 s",
    target: "0 false terminals; ≥ 99 % land after; normal ≤ 2 s after",
    run: ({ seed, scale }) =>
      onRig({ seed, slotMs: 150, traders: 3 }, async (rig, expect) => {
        const builds = await Promise.all(
          Array.from({ length: 6 * scale }, (_, i) => rig.built(rig.traders[i % 3]!, rig.buy(i))),
        );
        await Promise.all(rig.proxies.map((proxy) => proxy.set({ connection: "refuse" })));
        const submits = builds.map((built, i) => submitUntilEnded(rig, rig.traders[i % 3]!, built, 30_000));
        await sleep(5_000);
        await Promise.all(rig.proxies.map((proxy) => proxy.heal()));
        const probe = rig.traders[0]!;
        const backMs = await until(
          async () => (await probe.build(rig.services[0]!.url, rig.buy())) !== undefined,
          10_000,
        );
        const entries = await Promise.all(submits);
        const share = landed(entries) / entries.length;
        expect(share >= 0.99, `${round(share * 100)} % landed`);
        expect((backMs ?? Infinity) <= 2_000, `builds again after ${backMs} ms`);
        return `${landed(entries)} of ${entries.length} landed; builds again after ${backMs} ms`;
      }),
  },
  {
    row: 4,
    promise: "one of two nodes slow (5 s)",
    target: "first broadcast p99 ≤ 100 ms; sends outside the schedule ≤ 1.1 ×",
    run: ({ seed, scale }) =>
      onRig({ seed, slotMs: 100 }, async (rig, expect) => {
        const normal = percentile(broadcastDelays(rig, await trades(rig, 12 * scale)), 99);
        await rig.proxies[seed % 2]!.set({ delayMs: 5_000 });
        const before = rig.proxies.map(({ sends }) => sends.length);
        const entries = await trades(rig, 12 * scale);
        const first = percentile(broadcastDelays(rig, entries), 99);
        // Every two slots, 25 % early at the most, from the submit to its end; and once to each node at first.
        const scheduled = durations(entries).reduce((sum, ms) => sum + 2 * (1 + ms / (2 * 100 * 0.75)), 0);
        const sent = rig.proxies.reduce((sum, { sends }, i) => sum + sends.length - before[i]!, 0);
        const amplification = sent / scheduled;
        expect(landed(entries) === entries.length, `${entries.length - landed(entries)} did not land`);
        expect(first <= 100, `first broadcast p99 ${normal} → ${first} ms`);
        expect(amplification <= 1.1, `sent ${amplification.toFixed(2)} × the schedule`);
        return `first broadcast p99 ${normal} → ${first} ms; sent ${amplification.toFixed(2)} × the schedule; ${landed(entries)} of ${entries.length} landed`;
      }),
  },
  {
    row: 5,
    promise: "a node that lies (±200 slots, wrong last valid height, foreign or old blockhash, false null)",
    target: "0 wrong terminals; trades again ≤ 2 s; no blockhash > 10 slots old",
    run: ({ seed, scale }) =>
      onRig({ seed, endpoints: 3 }, async (rig, expect) => {
        const lies: readonly Partial<Faults>[] = [
          { slotShift: -200 },
          { slotShift: 200 },
          { lastValidShift: -200 },
          { lastValidShift: 200 },
          { foreignBlockhash: true },
          { oldBlockhash: true },
          { hidesStatuses: true },
        ];
        let failed = 0;
        let count = 0;
        let slowest = 0;
        let oldest = 0;
        for (const lie of lies) {
          const liar = rig.random.pick(rig.proxies);
          await liar.set(lie);
          const backMs = await until(() => buildsWell(rig), 10_000);
          slowest = Math.max(slowest, backMs ?? Number.POSITIVE_INFINITY);
          const from = rig.history.builds.length;
          const entries = await trades(rig, 6 * scale);
          count += entries.length;
          failed += entries.length - landed(entries);
          for (const build of rig.history.builds.slice(from))
            oldest = Math.max(oldest, await ageOf(rig, build.lastValidBlockHeight, build.blockhash));
          await liar.heal();
        }
        expect(failed === 0, `${failed} of ${count} trades did not land`);
        expect(slowest <= 2_000, `a lie kept builds away for ${slowest} ms`);
        expect(oldest <= 10, `a blockhash was ${oldest} slots old, or its last valid height wrong by that`);
        return `${count - failed} of ${count} landed; builds at most ${slowest} ms away; last valid heights off by ≤ ${oldest}`;
      }),
  },
  {
    row: 6,
    promise: "WebSockets dropped every second, or never speaking",
    target: "0 missed confirmations; p99 +≤ 400 ms",
    run: ({ seed, scale }) =>
      onRig({ seed }, async (rig, expect) => {
        const quiet = await trades(rig, 10 * scale);
        const normal = percentile(durations(quiet), 99);
        const cutter = setInterval(() => {
          for (const proxy of rig.proxies) proxy.cutSockets();
        }, 1_000);
        const cut = await trades(rig, 12 * scale);
        clearInterval(cutter);
        for (const proxy of rig.proxies) await proxy.set({ notices: "silent" });
        const silent = await trades(rig, 12 * scale);
        const missed = cut.length + silent.length - landed(cut) - landed(silent);
        const worst = Math.max(percentile(durations(cut), 99), percentile(durations(silent), 99));
        expect(missed === 0, `${missed} confirmations missed`);
        expect(worst - normal <= 400, `p99 +${round(worst - normal)} ms`);
        return `${missed} missed; submit p99 ${round(normal)} → ${round(worst)} ms`;
      }),
  },
  {
    row: 34,
    promise: "hostile answers (12 MB, bad types, cut short, other ids, redirects, 429, 503)",
    target: "0 crashes; trades go on ≤ 1 s later",
    run: ({ seed, scale }) =>
      onRig({ seed, endpoints: 3 }, async (rig, expect) => {
        const horrors: readonly Partial<Faults>[] = [
          { answers: "huge" },
          { answers: "badTypes" },
          { answers: "truncated" },
          { answers: "wrongId" },
          { answers: "redirect" },
          { httpStatus: 429 },
          { httpStatus: 503 },
        ];
        let failed = 0;
        let count = 0;
        let slowest = 0;
        for (const horror of horrors) {
          const villain = rig.random.pick(rig.proxies);
          await villain.set(horror);
          slowest = Math.max(slowest, (await until(() => buildsWell(rig), 10_000)) ?? Number.POSITIVE_INFINITY);
          const entries = await trades(rig, 4 * scale);
          count += entries.length;
          failed += entries.length - landed(entries);
          await villain.heal();
        }
        expect(
          rig.services.every(({ isRunning }) => isRunning),
          "the service ended",
        );
        expect(failed === 0, `${failed} of ${count} trades did not land`);
        expect(slowest <= 1_000, `builds away for ${slowest} ms`);
        return `${count - failed} of ${count} landed; builds at most ${slowest} ms away`;
      }),
  },
  {
    row: 37,
    promise: "the chain changes: slots 200 → 100 ms, rent, version 1 in blocks",
    target: "expiresAt right within 1 s after 10 s; 0 × -32015; 0 rent errors",
    run: ({ seed, scale }) =>
      onRig({ seed, slotMs: 200 }, async (rig, expect) => {
        await trades(rig, 2);
        await rig.sandbox.setSlotMs(100);
        await rig.setRent(3_480n);
        await sendVersion1(rig);
        await sleep(10_000);
        const trader = rig.traders[0]!;
        const watch = await SlotWatch.start(rig.sandbox);
        const builds: BuildEntry[] = [];
        for (let i = 0; i < 5; i++) builds.push(await rig.built(trader, rig.buy(i)));
        const fresh = await rig.addTrader();
        const entries = [...(await trades(rig, 6 * scale))];
        await sendVersion1(rig);
        let worst = 0;
        for (const { lastValidBlockHeight, expiresAtMs } of builds)
          worst = Math.max(worst, Math.abs(expiresAtMs - ((await watch.endOf(lastValidBlockHeight)) - 2_000)));
        watch.close();
        const unsupported = rig.proxies.reduce((sum, { errors }) => sum + (errors.get(-32015) ?? 0), 0);
        expect(worst <= 1_000, `expiresAt off by ${round(worst)} ms`);
        expect(unsupported === 0, `${unsupported} × -32015`);
        expect(landed(entries) === entries.length, `${entries.length - landed(entries)} did not land`);
        expect(
          rig.history.submits.some(
            ({ messageHash }) =>
              rig.history.builds.find((build) => build.messageHash === messageHash)?.wallet === fresh.address,
          ),
          "no trade of a new wallet",
        );
        return `expiresAt off by ≤ ${round(worst)} ms; ${unsupported} × -32015; ${landed(entries)} of ${entries.length} landed`;
      }),
  },
  {
    row: 38,
    promise: "fees spike 1,000 ×",
    target: "priorityCost ≤ the level's cap, always",
    run: ({ seed }) =>
      onRig({ seed }, async (rig, expect) => {
        const spike = Array.from({ length: 150 }, () => 5_000_000_000);
        for (const proxy of rig.proxies) await proxy.set({ priorityFees: spike });
        await sleep(5_000);
        const caps = { economy: 100_000n, fast: 1_000_000n, faster: 5_000_000n, fastest: 20_000_000n };
        const costs: string[] = [];
        for (const [priority, cap] of Object.entries(caps)) {
          const order = rig.buy();
          const built = await rig.built(rig.traders[0]!, { ...order, body: { ...order.body, priority } });
          const { price, limit } = budgetOf(built);
          const most = (cap * limit + 999_999n) / 1_000_000n;
          // The spike is above every cap.
          expect(price === cap, `${priority} bids ${price} a unit`);
          expect(
            built.priorityCostLamports === most,
            `${priority} cost ${built.priorityCostLamports} of ${most} lamports`,
          );
          await rig.traders[0]!.submit(rig.services[0]!, built);
          costs.push(`${priority} ${built.priorityCostLamports}`);
        }
        return `${costs.join(", ")} lamports`;
      }),
  },
];

/** What a signed transaction bids, in micro-lamports a compute unit, and for how many units. */
function budgetOf({ signed }: BuildEntry): { readonly price: bigint; readonly limit: bigint } {
  const { message } = VersionedTransaction.deserialize(Buffer.from(signed, "base64"));
  const budget = message.compiledInstructions
    .filter(({ programIdIndex }) => message.staticAccountKeys[programIdIndex]!.equals(ComputeBudgetProgram.programId))
    .map(({ data }) => Buffer.from(data));
  const [limit, price] = [2, 3].map((kind) => budget.find((data) => data[0] === kind)!);
  return { price: price!.readBigUInt64LE(1), limit: BigInt(limit!.readUInt32LE(1)) };
}

/** Calls a second that a node gets, broadcasts apart, from so long after now on and for so long. */
async function questionsAfter(proxy: RpcProxy, afterMs: number, forMs: number): Promise<number> {
  const count = () =>
    [...proxy.calls].reduce((sum, [method, calls]) => sum + (method === "sendTransaction" ? 0 : calls), 0);
  await sleep(afterMs);
  const before = count();
  await sleep(forMs);
  return ((count() - before) * 1_000) / forMs;
}

/** Puts a version 1 transaction of a caller into a block, past the service. */
async function sendVersion1(rig: Rig): Promise<void> {
  const { wallet } = rig.traders[0]!;
  const { value } = await rig.rpc<{ value: { blockhash: string } }>("getLatestBlockhash", [
    { commitment: "confirmed" },
  ]);
  const message = compileMessageV1(
    {
      payer: wallet.address,
      blockhash: bs58.decode(value.blockhash),
      instructions: [transferLamports(wallet.address, wallet.address, 1n)],
    },
    { priorityFeeLamports: 10n, computeUnitLimit: 1_000, loadedBytesLimit: 65_536 },
  );
  const wire = Buffer.concat([message, wallet.sign(message)]).toString("base64");
  const signature = await rig.rpc<string>("sendTransaction", [wire, { encoding: "base64", skipPreflight: true }]);
  const isIn = async () => {
    const answer = await rig.rpc<{ value: unknown[] }>("getSignatureStatuses", [[signature]]);
    return answer.value[0] !== null;
  };
  if ((await until(isIn, 5_000)) === undefined) throw new Error("a version 1 transaction did not land");
}

async function buildsWell(rig: Rig): Promise<boolean> {
  return (await rig.traders[0]!.build(rig.services[0]!.url, rig.buy())) !== undefined;
}

/** Blocks by which the reported last valid height differs from what the chain says of the blockhash; or its age where that is more than new. */
async function ageOf(rig: Rig, lastValidBlockHeight: number, blockhash: string): Promise<number> {
  const slots = await rig.rpc<number[]>("getBlocks", [rig.startSlot, null, { commitment: "confirmed" }]);
  for (const slot of slots.toReversed()) {
    const block = await rig.rpc<{ blockhash: string; blockHeight: number }>("getBlock", [
      slot,
      { transactionDetails: "none", rewards: false, maxSupportedTransactionVersion: 1, commitment: "confirmed" },
    ]);
    if (block.blockhash === blockhash) return Math.abs(lastValidBlockHeight - 150 - block.blockHeight);
    // However long ago the build was: a busy machine takes minutes for these trades.
    if (block.blockHeight < lastValidBlockHeight - 150 - 200) break;
  }
  return Number.POSITIVE_INFINITY;
}
