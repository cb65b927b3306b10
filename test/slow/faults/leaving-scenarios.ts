import { setTimeout as sleep } from "node:timers/promises";
import { TradeService } from "../../../gen/tradewire/v1/trade_pb.ts";
import type { Random } from "../../../src/primitives/random.ts";
import { createWires } from "../../support/wires.ts";
import { LEAVING_CALLERS } from "./leaving-callers.ts";
import { isTerminal, type Rig } from "./rig.ts";
import { ended, onRig, type Scenario, submitUntilEnded } from "./scenario.ts";
import type { ServiceProcess } from "./service-process.ts";
import type { BuildEntry, ErrorData, SubmitData, SubmitEntry, Trader } from "./trader.ts";

/** As long as the network's: two services and the chain share two cores. Milliseconds. */
const SLOT_MS = 150;
/** Pending trades are asked for again, not waited for. */
const ENVIRONMENT = { SUBMIT_TIMEOUT_MS: "3000" };
/** Longest that a trade may take to end: as long as a message lives, and its finality. Milliseconds. */
const END_MS = 60_000;
const TRADERS = 3;
/** When callers leave: most of a submit's work is done in its first milliseconds. */
const AFTER_MS = [0, 0, 1, 1, 2, 3, 5, 8, 20, 60, 150, 300, 700] as const;
/** Blocks that a message has left when it is submitted; most: it is fresh. */
const BLOCKS_LEFT = [148, 148, 148, 8, 4, 3, 2, 2, 1, 1, 1, 0, 0, -1, -2, -30] as const;
/** For how long no node answers one of the processes: longer than it takes until another one has ended what it claimed. Milliseconds. */
const CUT_OFF_MS = 20_000;
/** How long after the callers begin that is, or before it. Milliseconds. */
const CUT_OFF_AT_MS = [-100, -20, 0, 5, 20] as const;

/** Callers who do not wait for their answers. */
export const LEAVING_SCENARIOS: readonly Scenario[] = [
  {
    row: 9.7,
    promise: "callers who leave at any point of a submit, on every wire, up to the last block of its life",
    target: "what was received ends, though nobody asks again; no process says less than another has",
    run: ({ seed, scale }) =>
      onRig(
        { seed, processes: 2, nodesEach: 1, traders: TRADERS, slotMs: SLOT_MS, environment: ENVIRONMENT },
        async (rig, expect) => {
          const met = new Map<string, number>();
          for (let i = 0; i < 12 * scale; i++) {
            const wave = await Promise.all(rig.traders.map((trader, t) => rig.built(trader, rig.buy(i + t))));
            const left = rig.random.pick(BLOCKS_LEFT);
            const cutOff = rig.random.chance(0.3) ? rig.random.u32() % rig.proxies.length : undefined;
            const cutOffAtMs = rig.random.pick(CUT_OFF_AT_MS);
            const plans = wave.map((built, t) => planFor(rig, rig.traders[t]!, built));
            await ageUntil(rig, wave, left);
            const cutting = cutOff === undefined ? undefined : cutOffAfter(rig, cutOff, Math.max(0, cutOffAtMs));
            if (cutting !== undefined) await sleep(Math.max(0, -cutOffAtMs));
            const said = await Promise.all(plans.map((plan, t) => play(rig, rig.history.secrets[t]!, plan)));
            await cutting;
            for (const { what, found } of said.flat()) {
              if (what !== undefined)
                expect(false, `${left} blocks left${cutOff === undefined ? "" : ", cut off"}: ${what}`);
              met.set(found, (met.get(found) ?? 0) + 1);
            }
          }
          return [...met].map(([found, times]) => `${found} ${times}`).join(", ");
        },
      ),
  },
];

/** What was found out about a trade; `what` is wrong with it. */
interface Finding {
  readonly what?: string | undefined;
  readonly found: string;
}

/** All that is drawn about a trade. */
interface Plan {
  readonly trader: Trader;
  /** The message under its first signature, and under further ones. */
  readonly forms: readonly [BuildEntry, ...BuildEntry[]];
  readonly callers: readonly {
    readonly way: (typeof LEAVING_CALLERS)[number];
    readonly afterMs: number;
    readonly service: ServiceProcess;
    readonly form: BuildEntry;
  }[];
  readonly isAskedFor: boolean;
  /** Where the next one submits it, and on which wire. */
  readonly next: ServiceProcess;
  readonly wire: number;
}

function planFor({ random, services }: Rig, trader: Trader, built: BuildEntry): Plan {
  const again = random.chance(0.3) ? [trader.signAgain(built, BigInt(random.u32()) + 1_000_003n)] : [];
  const forms = [built, ...again] as const;
  const callers = Array.from({ length: 1 + (random.u32() % 3) }, () => ({
    way: random.pick(LEAVING_CALLERS),
    afterMs: random.pick(AFTER_MS),
    service: random.pick(services),
    form: pickForm(random, forms),
  }));
  return { trader, forms, callers, isAskedFor: random.chance(0.5), next: random.pick(services), wire: random.u32() };
}

const pickForm = (random: Random, forms: Plan["forms"]): BuildEntry => random.pick(forms);

/** Lets blocks pass until the messages have as many left. */
async function ageUntil(rig: Rig, wave: readonly BuildEntry[], left: number): Promise<void> {
  const height = await rig.rpc<number>("getBlockHeight", [{ commitment: "processed" }]);
  const last = Math.min(...wave.map(({ lastValidBlockHeight }) => lastValidBlockHeight));
  if (last - height > left) await rig.sandbox.advanceSlots(last - height - left);
  await sleep(rig.random.u32() % SLOT_MS);
}

/** No node answers a process for a while. */
async function cutOffAfter(rig: Rig, place: number, afterMs: number): Promise<void> {
  const proxy = rig.proxies[place]!;
  if (afterMs > 0) await sleep(afterMs);
  await proxy.set({ connection: "blackhole" });
  proxy.cutSockets();
  await sleep(CUT_OFF_MS);
  await proxy.heal();
}

async function play(rig: Rig, apiKey: string, plan: Plan): Promise<Finding[]> {
  const { trader, forms, callers, isAskedFor } = plan;
  const [built] = forms;
  await Promise.all(
    callers.map(({ way: [, leaves], afterMs, service, form }) => leaves(service.url, apiKey, form, afterMs)),
  );
  const how = callers.map(({ way: [name], afterMs, service }) => `${name} after ${afterMs} ms (${service.name})`);
  const findings = isAskedFor ? [] : [await endsAlone(rig, plan)];
  await submitOnWire(rig, apiKey, plan);
  for (const service of rig.services) {
    const entry = await submitUntilEnded(rig, trader, built, END_MS, service);
    const what = ended(entry) ? undefined : `${service.name} never decided, ${entry.status} ${entry.text}`;
    findings.push({ what, found: entry.error?.code ?? entry.data?.status ?? "no answer" });
  }
  return findings.map(({ what, found }) => ({
    what: what === undefined ? undefined : `${what}; ${how.join(", ")}`,
    found,
  }));
}

/** Looks on until every process knows the end, or none knows the trade: then nothing of it may have been sent. */
async function endsAlone(rig: Rig, { trader, forms }: Plan): Promise<Finding> {
  let answers: SubmitEntry[] = [];
  const isDone = () =>
    answers.length > 0 && answers.every(({ status, data }) => status >= 400 || isTerminal(data, undefined));
  for (const until = Date.now() + END_MS; !isDone() && Date.now() < until; await sleep(200)) {
    const asked = forms.flatMap((form) => rig.services.map((service) => trader.find(service, form)));
    answers = await Promise.all(asked);
  }
  if (!isDone()) return { what: `never ended by itself: ${JSON.stringify(answers).slice(0, 300)}`, found: "pending" };
  if (answers.some(({ status }) => status !== 404)) return { found: "ended by itself" };
  const signed = forms.map((form) => form.signed);
  const isSent = rig.proxies.some(({ sends }) => sends.some(({ transaction }) => signed.includes(transaction)));
  return { what: isSent ? "was sent, and no process knows of it" : undefined, found: "not received" };
}

/** Submits it again on any wire. The answer is held against the others, in the form that REST has. */
async function submitOnWire(rig: Rig, apiKey: string, { forms, next, wire: place }: Plan): Promise<void> {
  const [{ messageHash, submissionToken, signed }] = forms;
  const wires = createWires(next.url);
  const wire = wires[place % wires.length]!;
  const startedAtMs = Date.now();
  const request = { submissionToken, signedTransaction: signed };
  const outcome = await wire.call(TradeService.method.submit, request, `Bearer ${apiKey}`);
  const endedAtMs = Date.now();
  for (const one of wires) one.close();
  const data = "value" in outcome ? (outcome.value as SubmitData) : undefined;
  const error = "value" in outcome ? undefined : (outcome as unknown as ErrorData);
  const service = `${next.name}, ${wire.name}`;
  const text = JSON.stringify(data) ?? "";
  rig.history.submits.push({ messageHash, service, startedAtMs, endedAtMs, status: 200, data, error, text });
}
