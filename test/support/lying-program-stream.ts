import type { AddressInfo } from "node:net";
import { WebSocket, WebSocketServer } from "ws";
import { UPGRADEABLE_LOADER } from "../../src/solana/programs.ts";

/** A node's WebSocket that reports a deployment which never was. */
export interface LyingProgramStream {
  readonly wsUrl: string;
  /** The code account to lie about, with each slot from now on; undefined: the truth. */
  lieAbout(codeAddress: string | undefined): void;
  /** False deployments reported so far. */
  lies(): number;
  close(): void;
}

/** How far after the true slot each false deployment lies, so that every one of them is another. */
const AHEAD = 1_000;

/** Carries a node's WebSocket. While it lies, each notice of a slot is followed by one of a new build of a program. */
export async function startLyingProgramStream(target: string): Promise<LyingProgramStream> {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  const outsides = new Set<WebSocket>();
  let codeAddress: string | undefined;
  let lies = 0;
  server.on("connection", (inside) => {
    const outside = new WebSocket(target);
    outsides.add(outside);
    const waiting: string[] = [];
    /** Code accounts and others: the address of each subscription, by the request's number and then by the node's. */
    const asked = new Map<number, string>();
    const subscribed = new Map<string, number>();
    inside.on("message", (data) => {
      const text = String(data);
      const { id, method, params } = JSON.parse(text);
      if (method === "accountSubscribe") asked.set(id, params[0]);
      if (outside.readyState === WebSocket.OPEN) outside.send(text);
      else waiting.push(text);
    });
    outside.on("open", () => {
      for (const text of waiting.splice(0)) outside.send(text);
    });
    outside.on("message", (data) => {
      const text = String(data);
      const { id, result, method, params } = JSON.parse(text);
      const address = asked.get(id);
      if (address !== undefined && typeof result === "number") subscribed.set(address, result);
      inside.send(text);
      const subscription = method === "slotNotification" && codeAddress ? subscribed.get(codeAddress) : undefined;
      if (subscription === undefined) return;
      lies += 1;
      inside.send(falseDeployment(subscription, params.result.slot));
    });
    for (const [one, other] of [
      [inside, outside],
      [outside, inside],
    ] as const) {
      one.on("close", () => other.terminate());
      one.on("error", () => other.terminate());
    }
  });
  await new Promise((resolve) => server.once("listening", resolve));
  return {
    wsUrl: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lieAbout(address) {
      codeAddress = address;
    },
    lies: () => lies,
    close() {
      for (const outside of outsides) outside.terminate();
      for (const inside of server.clients) inside.terminate();
      server.close();
    },
  };
}

/** A notice of the header of a code account, as a node sends it when the program was replaced. */
function falseDeployment(subscription: number, slot: number): string {
  const header = Buffer.alloc(45);
  header.writeUInt32LE(3, 0);
  header.writeBigUInt64LE(BigInt(slot + AHEAD), 4);
  const value = {
    data: [header.toString("base64"), "base64"],
    owner: UPGRADEABLE_LOADER.toString(),
    lamports: 1,
    executable: false,
    rentEpoch: 0,
    space: header.length,
  };
  const params = { subscription, result: { context: { slot }, value } };
  return JSON.stringify({ jsonrpc: "2.0", method: "accountNotification", params });
}
