import { fileURLToPath } from "node:url";
import {
  loadPackageDefinition,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServiceDefinition,
} from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import bs58 from "bs58";
import type { Address } from "../../src/primitives/address.ts";
import { COMPUTE_BUDGET_PROGRAM } from "../../src/solana/programs.ts";

/** Events of the server: an account write, a slot with its status, or a transaction with its priority price. */
export type StreamEvent =
  | {
      readonly kind: "account";
      readonly slot: number;
      readonly address: Address;
      readonly lamports?: number;
      readonly owner?: Address | undefined;
      readonly data: Uint8Array;
      readonly writeVersion: number;
      readonly bankId?: number;
    }
  | {
      readonly kind: "slot";
      readonly slot: number;
      readonly parent?: number;
      readonly status: number;
      readonly bankId?: number;
    }
  | {
      readonly kind: "transaction";
      readonly slot: number;
      /** Micro-lamports per compute unit. Absent: none is asked for. */
      readonly price?: number;
      readonly writes: readonly Address[];
      readonly reads?: readonly Address[];
      /** Written to through a lookup table. */
      readonly loaded?: readonly Address[];
    };

interface Request {
  readonly accounts: Record<string, { readonly account: string[] }>;
  readonly slots: Record<string, { readonly interslotUpdates?: boolean }>;
  readonly transactions: Record<string, { readonly vote?: boolean; readonly accountInclude: string[] }>;
  readonly ping?: { readonly id: number };
  readonly fromSlot?: string;
}

type Call = ServerDuplexStream<Request, object>;

/** A Yellowstone server moved by hand, on gRPC's own implementation: what it keeps and repeats is up to the test. */
export interface YellowstoneServer {
  readonly url: string;
  /** Requests received, pings apart. */
  readonly requests: Request[];
  readonly tokens: unknown[];
  pongs: number;
  /** How a stream asks for repetition: served from memory; accepted, but nothing repeated; accounts left out; refused. */
  replay: "served" | "empty" | "withoutAccounts" | "refused";
  /** Sends an event to every stream whose filters pass it, and keeps it. */
  emit(event: StreamEvent): void;
  /** Records an event without sending it. */
  lose(event: StreamEvent): void;
  ping(): void;
  streams(): number;
  /** Ends every stream with an error. */
  cut(): void;
  close(): Promise<void>;
}

const OWNER = new Uint8Array(32).fill(9);

export async function startYellowstoneServer(): Promise<YellowstoneServer> {
  const definition = loadSync(fileURLToPath(new URL("yellowstone.proto", import.meta.url)), { longs: String });
  const { geyser } = loadPackageDefinition(definition) as unknown as {
    geyser: { Geyser: { service: ServiceDefinition } };
  };
  const server = new Server();
  const live = new Map<Call, Request>();
  const memory: StreamEvent[] = [];

  function tell(call: Call, request: Request, event: StreamEvent): void {
    if (event.kind === "slot") {
      const filters = Object.keys(request.slots);
      if (filters.length === 0) return;
      const { slot, parent, status, bankId } = event;
      call.write({ filters, slot: { slot, status, parent, bankId } });
      return;
    }
    if (event.kind === "transaction") {
      const named = [...event.writes, ...(event.reads ?? []), ...(event.loaded ?? [])].map(String);
      const wants = (name: string) =>
        request.transactions[name]!.accountInclude.some((address) => named.includes(address));
      const filters = Object.keys(request.transactions).filter(wants);
      if (filters.length > 0) call.write({ filters, transaction: transactionOf(event) });
      return;
    }
    const address = event.address.toString();
    const filters = Object.keys(request.accounts).filter((name) => request.accounts[name]!.account.includes(address));
    if (filters.length === 0) return;
    const { slot, data, writeVersion, bankId, lamports = 1 } = event;
    const owner = event.owner === undefined ? OWNER : event.owner.bytes;
    const pubkey = bs58.decode(address);
    call.write({ filters, account: { slot, bankId, account: { pubkey, lamports, owner, data, writeVersion } } });
  }

  const state: YellowstoneServer = {
    url: "",
    requests: [],
    tokens: [],
    pongs: 0,
    replay: "served",
    emit(event) {
      memory.push(event);
      for (const [call, request] of live) tell(call, request, event);
    },
    lose: (event) => void memory.push(event),
    ping() {
      for (const call of live.keys()) call.write({ filters: [], ping: {} });
    },
    streams: () => live.size,
    cut() {
      for (const call of live.keys()) call.emit("error", { code: 14, details: "cut" });
      live.clear();
    },
    close: async () => server.forceShutdown(),
  };

  server.addService(geyser.Geyser.service, {
    Subscribe(call: Call) {
      state.tokens.push(call.metadata.get("x-token")[0]);
      call.on("data", (request: Request) => {
        if (request.ping !== undefined && request.ping !== null) {
          state.pongs += 1;
          return;
        }
        state.requests.push(request);
        if (request.fromSlot !== undefined && state.replay === "refused") {
          call.emit("error", { code: 3, details: "from_slot is not available" });
          return;
        }
        live.set(call, request);
        if (request.fromSlot === undefined || state.replay === "empty") return;
        for (const event of memory) {
          if (event.slot < Number(request.fromSlot)) continue;
          if (event.kind === "slot" || state.replay === "served") tell(call, request, event);
        }
      });
      call.on("end", () => live.delete(call));
      call.on("cancelled", () => live.delete(call));
      call.on("error", () => live.delete(call));
    },
  });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  return Object.assign(state, { url: `http://127.0.0.1:${port}` });
}

function transactionOf({
  slot,
  price,
  writes,
  reads = [],
  loaded = [],
}: StreamEvent & { readonly kind: "transaction" }) {
  const payer = new Uint8Array(32).fill(77);
  const accountKeys = [payer, ...[...writes, ...reads, COMPUTE_BUDGET_PROGRAM].map(({ bytes }) => bytes)];
  const header = { numRequiredSignatures: 1, numReadonlyUnsignedAccounts: reads.length + 1 };
  const data = Buffer.alloc(9);
  data[0] = 3;
  data.writeBigUInt64LE(BigInt(price ?? 0), 1);
  const limit = { programIdIndex: accountKeys.length - 1, data: Uint8Array.of(2, 1, 0, 0, 0) };
  const instructions = price === undefined ? [limit] : [limit, { programIdIndex: accountKeys.length - 1, data }];
  const message = { header, accountKeys, recentBlockhash: payer, instructions, versioned: true };
  const meta = { fee: 5_000, loadedWritableAddresses: loaded.map(({ bytes }) => bytes) };
  return { slot, transaction: { signature: payer, transaction: { signatures: [payer], message }, meta } };
}
