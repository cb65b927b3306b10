import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Server, ServerCredentials, type ServerDuplexStream } from "@grpc/grpc-js";
import { loadSync, type ServiceDefinition } from "@grpc/proto-loader";
import { afterEach, describe, it } from "vitest";
import { SlotTree } from "../../../src/chain/state/slots/slot-tree.ts";
import { FeedStream } from "../../../src/chain/yellowstone/feed-stream.ts";
import { decodeSubscribeUpdate } from "../../../src/chain/yellowstone/yellowstone-wire.ts";
import { eventually } from "../../support/eventually.ts";
import { report } from "./table.ts";

const PART = "recorded stream";
const PROTO = fileURLToPath(new URL("../../support/yellowstone.proto", import.meta.url));

const path = process.env.STREAM_SAMPLE ?? "";
const hasSample = existsSync(path);
if (!hasSample)
  console.warn("No STREAM_SAMPLE: a file of recorded Yellowstone updates, see docs/mainnet.md. None is replayed.");

/** An update as gRPC's own decoder reads it. */
interface ReadUpdate {
  readonly update?: "account" | "slot" | "transaction" | "ping" | "block_meta" | "pong";
  readonly slot?: { readonly slot: string; readonly parent?: string; readonly status?: number };
  readonly block_meta?: { readonly slot: string; readonly parent_slot: string };
}

describe.skipIf(!hasSample)("updates recorded from a public Yellowstone stream", () => {
  const ends: (() => void)[] = [];
  afterEach(() => {
    for (const end of ends.splice(0)) end();
  });

  it("decodes every one as gRPC's own decoder does, and follows the chain that their blocks form", async () => {
    const messages = readMessages(path);
    const read = messages.map(readerOf());
    const wrong = messages.flatMap((message, i) => describeDifference(message, read[i]!));
    const slots = read.flatMap(({ slot }) => slot ?? []);
    report(PART, "decoder", `${messages.length} updates, ${slots.length} of slots`, [
      ...wrong.slice(0, 3),
      ...(slots.length > 0 ? [] : ["no slots in it"]),
    ]);

    const url = await serveRaw(messages, ends);
    const followed = followTree(url, ends);
    const rooted = BigInt(Math.max(...slots.filter(({ status }) => status === 2).map(({ slot }) => Number(slot))));
    await eventually(() => {
      if (followed.tree.root < rooted) throw new Error("not at its end yet");
    });
    const { tree, parents, gaps, turned, warnings } = followed;
    // What began before the stream did is not reported by it.
    const blocks = read.flatMap(({ block_meta }) => block_meta ?? []).filter(({ slot }) => parents.has(BigInt(slot)));
    const faults = [
      ...blocks.flatMap(({ slot, parent_slot }) => {
        const isLinked = parents.get(BigInt(slot)) === BigInt(parent_slot);
        return isLinked && tree.isOnChain(BigInt(slot)) ? [] : [`block ${slot} on ${parent_slot} is not in the tree`];
      }),
      ...(blocks.length > 0 ? [] : ["no blocks in it"]),
      ...(gaps === 0 ? [] : [`${gaps} gaps`]),
      ...warnings,
    ];
    report(PART, "slot tree", `${blocks.length} blocks, each on its parent; ${gaps} gaps, ${turned} turns`, faults);
  });
});

/** Updates, each after its length in four bytes. */
function readMessages(file: string): readonly Buffer[] {
  const bytes = readFileSync(file);
  const messages: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    messages.push(bytes.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return messages;
}

function readerOf(): (message: Buffer) => ReadUpdate {
  const service = loadSync(PROTO, { keepCase: true, longs: String, oneofs: true })[
    "geyser.Geyser"
  ] as ServiceDefinition;
  const { responseDeserialize } = service.Subscribe!;
  return (message) => responseDeserialize(message) as ReadUpdate;
}

function describeDifference(message: Buffer, { update, slot }: ReadUpdate): readonly string[] {
  const ours = decodeSubscribeUpdate(message);
  const expected = update === "slot" || update === "account" || update === "ping" ? update : "other";
  if (ours.kind !== expected) return [`${ours.kind} where gRPC reads ${expected}`];
  if (ours.kind !== "slot") return [];
  const said = `${ours.slot} on ${ours.parent}: ${ours.status}`;
  const was = `${slot!.slot} on ${slot!.parent}: ${slot!.status ?? 0}`;
  return said === was ? [] : [`${said}, gRPC reads ${was}`];
}

/** Serves the bytes as they were recorded, to each subscription. */
async function serveRaw(messages: readonly Buffer[], ends: (() => void)[]): Promise<string> {
  const server = new Server();
  const raw = (bytes: Buffer) => bytes;
  const method = { path: "/geyser.Geyser/Subscribe", requestStream: true, responseStream: true };
  const codec = { requestSerialize: raw, requestDeserialize: raw, responseSerialize: raw, responseDeserialize: raw };
  server.addService(
    { Subscribe: { ...method, ...codec } },
    {
      Subscribe(call: ServerDuplexStream<Buffer, Buffer>) {
        call.on("error", () => {});
        for (const message of messages) call.write(message);
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  ends.push(() => server.forceShutdown());
  return `http://127.0.0.1:${port}`;
}

/** Follows the stream as the service does, into a slot tree. */
function followTree(url: string, ends: (() => void)[]) {
  const tree = new SlotTree();
  const followed = { tree, parents: new Map<bigint, bigint>(), gaps: 0, turned: 0, warnings: [] as string[] };
  const listener = {
    onSlot(slot: bigint, parent: bigint) {
      const { turned, isGap } = tree.begin(slot, parent);
      followed.parents.set(slot, parent);
      if (isGap) followed.gaps += 1;
      followed.turned += turned.length;
    },
    onConfirmed: (slot: bigint) => void tree.confirm(slot),
    onRoot: (slot: bigint) => tree.rootAt(slot),
    onDead: (slot: bigint) => void tree.kill(slot),
    onRestart: () => tree.restart(),
    onAccount: () => {},
    onReplaced: () => {},
    onCovered: () => {},
    onUncovered: () => {},
  };
  const warn = (message: string) => followed.warnings.push(message);
  const options = { url, token: undefined, now: Date.now, random: () => 0.5, warn, silentMs: 600_000 };
  const stream = new FeedStream(options, { listener, nextEpoch: () => 1 });
  ends.push(() => stream.close());
  return followed;
}
