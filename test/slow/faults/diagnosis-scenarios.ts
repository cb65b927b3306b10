import bs58 from "bs58";
import { signTransfer } from "../../support/transfer.ts";
import { createTestWallet, type TestWallet } from "../../support/wallet.ts";
import type { Rig } from "./rig.ts";
import { onRig, type Scenario, submitUntilEnded, until } from "./scenario.ts";
import type { BuildEntry, SubmitEntry } from "./trader.ts";

/** Longest that a trade that never lands may take to be reported. Milliseconds. */
const END_MS = 90_000;
/** Longest that the chain may take to pass a message's life. Milliseconds. */
const LIFE_MS = 90_000;
const TRADES = 4;
/** Blocks after that of its blockhash in which a message may land. */
const LIFETIME_BLOCKS = 150;
/** Lamports of a transfer's signature. */
const FEE = 5_000n;

const causeOf = ({ error }: SubmitEntry) => error?.details?.diagnosis;
const isSure = ({ error }: SubmitEntry) => error?.details?.sure === true;

/** Sends away all that the wallet holds, and waits until that is confirmed. */
async function empty(rig: Rig, wallet: TestWallet): Promise<void> {
  const held = () => rig.rpc<{ value: number }>("getBalance", [wallet.address.toString(), { commitment: "confirmed" }]);
  const { value: lamports } = await held();
  const { value: newest } = await rig.rpc<{ value: { blockhash: string } }>("getLatestBlockhash", []);
  const to = createTestWallet(new Uint8Array(32).fill(99)).address;
  const order = { from: wallet, to, lamports: BigInt(lamports) - FEE, blockhash: bs58.decode(newest.blockhash) };
  const encoded = Buffer.from(signTransfer(order).transaction).toString("base64");
  await rig.rpc("sendTransaction", [encoded, { encoding: "base64", skipPreflight: true }]);
  await until(async () => (await held()).value === 0, LIFE_MS);
}

/** What the service says of trades that never landed, on real processes: the judge beside `npm run slow:diagnosis`. */
export const DIAGNOSIS_SCENARIOS: readonly Scenario[] = [
  {
    row: 13,
    promise: "a trade that expired names its cause",
    target:
      "refused by all nodes, submitted too late: named, surely; wallet emptied: named; taken and lost: nothing surely",
    run: ({ seed, scale }) =>
      onRig({ seed }, async (rig, expect) => {
        const build = () =>
          Promise.all(Array.from({ length: TRADES * scale }, (_, i) => rig.built(rig.traders[i % 2]!, rig.buy(i))));
        const submit = (builds: readonly BuildEntry[]) =>
          Promise.all(builds.map((built, i) => submitUntilEnded(rig, rig.traders[i % 2]!, built, END_MS)));
        const setAll = (faults: Parameters<(typeof rig.proxies)[0]["set"]>[0]) =>
          Promise.all(rig.proxies.map((proxy) => proxy.set(faults)));

        const begunAt = await rig.rpc<number>("getBlockHeight", [{ commitment: "processed" }]);
        let late: readonly BuildEntry[] = [];
        // Whether nodes that have forgotten a message show the whole history of its wallet, only something older than its blockhash proves.
        await until(async () => {
          late = await build();
          return late.every(({ lastValidBlockHeight }) => lastValidBlockHeight > begunAt + LIFETIME_BLOCKS);
        }, LIFE_MS);
        const last = Math.max(...late.map(({ lastValidBlockHeight }) => lastValidBlockHeight));
        await setAll({ refusedMethods: ["sendTransaction"] });
        const refused = await submit(await build());
        await setAll({ refusedMethods: [], sends: "drop" });
        const lost = await submit(await build());
        await setAll({ sends: "forward" });
        const isOver = async () =>
          (await rig.rpc<number>("getBlockHeight", [{ commitment: "processed" }])) > last + TRADES;
        await until(isOver, LIFE_MS);
        const delayed = await submit(late);

        const unpaid = await build();
        await Promise.all(rig.traders.map(({ wallet }) => empty(rig, wallet)));
        const drained = await submit(unpaid);

        const all = [...refused, ...lost, ...delayed, ...drained];
        const others = all.filter(({ error }) => error?.code !== "TX_EXPIRED");
        const named = (entries: readonly SubmitEntry[], cause: string) =>
          entries.filter((entry) => causeOf(entry) === cause && isSure(entry)).length;
        const [byRefusal, byDelay] = [named(refused, "senders_refused"), named(delayed, "submitted_late")];
        const byWallet = drained.filter((entry) => causeOf(entry) === "insufficient_sol").length;
        const wrong = [...lost, ...drained].filter(isSure).length;
        expect(
          others.length === 0,
          `not reported expired: ${others.map(({ data, error }) => error?.code ?? data?.status).join(", ")}`,
        );
        expect(byRefusal === refused.length, `refused: ${refused.map(causeOf).join(", ")}`);
        expect(byDelay === delayed.length, `submitted late: ${delayed.map(causeOf).join(", ")}`);
        expect(byWallet === drained.length, `wallet emptied: ${drained.map(causeOf).join(", ")}`);
        expect(wrong === 0, `${wrong} causes of lost or unpaid trades stated as sure`);
        return `${byRefusal} of ${refused.length} refused, ${byDelay} of ${delayed.length} late, ${byWallet} of ${drained.length} with an emptied wallet, lost: ${[...new Set(lost.map(causeOf))].join(", ")}`;
      }),
  },
];
