import { createRandom, type Random } from "../../../src/primitives/random.ts";
import { bridgeYellowstone } from "../../support/yellowstone-bridge.ts";
import { type StreamEvent, startYellowstoneServer } from "../../support/yellowstone-server.ts";
import { judgeLie, SLOT_MS } from "./price-scenarios.ts";
import { type Measure, onRig, type Scenario } from "./scenario.ts";

const TOKEN_ACCOUNT_BYTES = 165;
const TOKEN_AMOUNT = 64;
/** Share of account changes that a mutated stream reports wrongly. */
const SHARE = 0.3;

/** What a lying stream reports in place of an event; undefined: nothing. */
type Change = (event: StreamEvent, random: Random) => StreamEvent | undefined;

/** Builds priced over a Yellowstone stream that lies, with two nodes beside it. */
export const STREAM_SCENARIOS: readonly Scenario[] = [
  {
    row: 41,
    promise: "a Yellowstone stream lies, alone or with one of two nodes",
    target: "0 builds on a lie later than 2 s after it began",
    async run({ seed, scale }) {
      const measures: Measure[] = [];
      for (let i = 0; i < scale; i++) {
        const factor = (seed + i) % 2 === 0 ? 0.5 : 2;
        const scaled: Change = (event) => withBalances(event, factor);
        measures.push(await streamLies({ name: `stream × ${factor}`, seed: seed + i, change: scaled }));
        measures.push(await streamLies({ name: "stream mutated", seed: seed + i, change: mutated, isRenewed: true }));
        measures.push(
          await streamLies({ name: `stream and node × ${factor}`, seed: seed + i, change: scaled, nodeFactor: factor }),
        );
      }
      return {
        measured: measures.map(({ measured }) => measured).join("; "),
        broken: measures.flatMap(({ broken }) => broken),
      };
    },
  },
];

interface StreamLie {
  readonly name: string;
  readonly seed: number;
  readonly change: Change;
  /** The lie is another with each change. */
  readonly isRenewed?: boolean;
  /** One of the two nodes is the stream's own, and lies with it. */
  readonly nodeFactor?: 0.5 | 2;
}

async function streamLies({ name, seed, change, isRenewed, nodeFactor = undefined }: StreamLie): Promise<Measure> {
  const server = await startYellowstoneServer();
  const random = createRandom(seed);
  let isLying = false;
  let lieSentAtMs = Number.POSITIVE_INFINITY;
  try {
    const environment = { YELLOWSTONE_URL: server.url };
    return await onRig({ seed, slotMs: SLOT_MS, traders: 2, endpoints: 2, environment }, async (rig, expect) => {
      const bridge = bridgeYellowstone(server, rig.sandbox.wsUrl, (event) => {
        const sent = isLying ? change(event, random) : event;
        if (sent !== event) lieSentAtMs = Math.min(lieSentAtMs, Date.now());
        return sent;
      });
      const liar = rig.random.pick(rig.proxies);
      try {
        return await judgeLie(rig, expect, {
          name,
          isAnswering: false,
          isRenewed: isRenewed === true,
          lieSentAtMs: () => lieSentAtMs,
          // What waits for nodes that agree takes its time.
          least: 2,
          async begin() {
            isLying = true;
            if (nodeFactor !== undefined) await liar.set({ balances: nodeFactor });
          },
          async end() {
            isLying = false;
            await liar.heal();
          },
        });
      } finally {
        bridge.close();
      }
    });
  } finally {
    await server.close();
  }
}

function withBalances(event: StreamEvent, factor: number): StreamEvent {
  if (event.kind !== "account" || event.data.length !== TOKEN_ACCOUNT_BYTES) return event;
  const data = Buffer.from(event.data);
  const amount = data.readBigUInt64LE(TOKEN_AMOUNT);
  data.writeBigUInt64LE(factor === 2 ? amount * 2n : amount / 2n, TOKEN_AMOUNT);
  return { ...event, data };
}

/** Any field of an account's change is wrong, or the change is missing. */
const mutated: Change = (event, random) => {
  if (event.kind !== "account" || !random.chance(SHARE)) return event;
  return random.pick(MUTATIONS)(event, random);
};

type AccountEvent = Extract<StreamEvent, { kind: "account" }>;

const MUTATIONS: readonly ((event: AccountEvent, random: Random) => StreamEvent | undefined)[] = [
  () => undefined,
  (event, random) => withBalances(event, random.pick([0.5, 2])),
  (event, random) => ({ ...event, slot: event.slot + random.pick([-30, -3, 1, 3, 30]) }),
  (event) => ({ ...event, lamports: 0 }),
  (event) => ({ ...event, owner: undefined }),
  (event) => ({ ...event, data: event.data.subarray(0, event.data.length / 2) }),
  (event) => ({ ...event, writeVersion: 0 }),
  (event, random) => {
    const data = Buffer.from(event.data);
    if (data.length > 0) data[Number(random.below(BigInt(data.length)))]! ^= 1 << Number(random.below(8n));
    return { ...event, data };
  },
];
