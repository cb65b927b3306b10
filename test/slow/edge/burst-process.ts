/**
 * A Yellowstone server that sends bursts: every account of every stream changes in one slot, all of it written at once. Sends its
 * port. The message `{ slot, from, value }` begins the slots up to that one and changes each account's data to the value in the
 * last, `{ root }` makes a slot final, "cut" ends every connection, and "count" does nothing; each is answered with the number of
 * accounts concerned.
 */
import { createServer, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { loadPackageDefinition, type ServiceDefinition } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import bs58 from "bs58";

interface Request {
  readonly accounts?: Record<string, { readonly account: string[] }>;
  readonly slots: Record<string, object>;
  readonly ping?: object;
}

export type BurstOrder = Burst | { readonly root: number } | "count" | "cut";

const STATUS = { finalized: 2, firstShredReceived: 3, createdBank: 5 } as const;
const DATA_BYTES = 165;
/** A chunk of this size is rarely the last of a request. */
const FULL_FRAME = 16 * 1024;
const OWNER = new Uint8Array(32);

const definition = loadSync(fileURLToPath(new URL("../../support/yellowstone.proto", import.meta.url)), {
  longs: String,
});
const { geyser } = loadPackageDefinition(definition) as unknown as {
  geyser: { Geyser: { service: ServiceDefinition } };
};
const { responseSerialize, requestDeserialize } = geyser.Geyser.service.Subscribe!;
const streams = new Map<ServerHttp2Stream, Request>();

function framed(update: object): Buffer {
  const message = responseSerialize(update);
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

const server = createServer({ settings: { initialWindowSize: 16 * 1024 * 1024 } });
server.on("session", (session) => session.setLocalWindowSize(16 * 1024 * 1024));
server.on("stream", (stream) => {
  stream.respond({ ":status": 200, "content-type": "application/grpc+proto" });
  stream.on("error", () => {});
  stream.on("close", () => streams.delete(stream));
  let held = Buffer.alloc(0);
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    if (chunks.length > 1 || chunk.length === FULL_FRAME) return void setImmediate(take);
    take();
  });
  const take = () => {
    held = Buffer.concat([held, ...chunks.splice(0)]);
    while (held.length >= 5 && held.length >= 5 + held.readUInt32BE(1)) {
      const end = 5 + held.readUInt32BE(1);
      const request = requestDeserialize(held.subarray(5, end)) as Request;
      held = held.subarray(end);
      if (request.ping == null) streams.set(stream, request);
    }
  };
});

interface Burst {
  readonly slot: number;
  readonly from: number;
  readonly value: number;
  /** Everything is written for one bank of the slot first, with another value, and again for the bank that replaces it. */
  readonly isReplaced?: boolean;
}

function burst({ slot, from, value, isReplaced = false }: Burst): number {
  let writes = 0;
  const changes = (accounts: Request["accounts"], fill: number, bankId: number) => {
    const data = Buffer.alloc(DATA_BYTES, fill);
    return Object.entries(accounts ?? {}).flatMap(([name, { account }]) =>
      account.map((address) => {
        const info = { pubkey: bs58.decode(address), lamports: 1, owner: OWNER, data, writeVersion: ++writes };
        return framed({ filters: [name], account: { slot, account: info, bankId } });
      }),
    );
  };
  const all = [...streams].map(([stream, { accounts, slots }]) => {
    const filters = Object.keys(slots);
    const begun = Array.from({ length: slot - from + 1 }, (_, i) => {
      const status = STATUS.firstShredReceived;
      return framed({ filters, slot: { slot: from + i, parent: from + i - 1, status } });
    });
    const bank = (bankId: number) => framed({ filters, slot: { slot, status: STATUS.createdBank, bankId } });
    const replaced = isReplaced ? [bank(1), ...changes(accounts, 255, 1)] : [];
    return { stream, bytes: Buffer.concat([...begun, ...replaced, bank(2), ...changes(accounts, value, 2)]) };
  });
  for (const { stream, bytes } of all) stream.write(bytes);
  return writes;
}

function cut(): number {
  for (const stream of streams.keys()) stream.session?.destroy();
  return 0;
}

function finalize(slot: number): number {
  for (const [stream, { slots }] of streams)
    stream.write(framed({ filters: Object.keys(slots), slot: { slot, status: STATUS.finalized } }));
  return 0;
}

const count = () => [...streams.values()].reduce((sum, { accounts }) => sum + addressesOf(accounts).length, 0);
const addressesOf = (accounts: Request["accounts"]) => Object.values(accounts ?? {}).flatMap(({ account }) => account);

process.on("message", (order: BurstOrder) => {
  if (typeof order === "string") process.send!(order === "count" ? count() : cut());
  else process.send!("root" in order ? finalize(order.root) : burst(order));
});
process.on("disconnect", () => process.exit(0));
server.listen(0, "127.0.0.1", () => process.send!((server.address() as AddressInfo).port));
