import { create, toBinary } from "@bufbuild/protobuf";
import { BuyRequestSchema } from "../../../gen/tradewire/v1/trade_pb.ts";
import { Priority } from "../../../gen/tradewire/v1/types_pb.ts";
import type { Random } from "../../../src/primitives/random.ts";
import { randomLamports, randomSlippage } from "../spread/spread-requests.ts";
import type { SpreadFacts } from "../spread/spread-service.ts";

export const WIRES = ["REST", "Connect JSON", "Connect proto", "gRPC-Web", "gRPC"] as const;
export type WireName = (typeof WIRES)[number];

/** One request as its wire sends it. */
export interface WireRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly path: string;
  readonly body: Uint8Array;
}

const RPC_PATH = "/tradewire.v1.TradeService/Buy";

/** A buy of random pair, amount and slippage; of the first pair, if `isOnePair`. */
export function randomWireRequest(wire: WireName, facts: SpreadFacts, random: Random, isOnePair: boolean): WireRequest {
  const [wallet, mint] = isOnePair ? facts.pairs[0]! : random.pick(facts.pairs);
  const solAmount = Number(randomLamports(random)) / 1e9;
  const asked = { mint: facts.mints[mint]!, solAmount, slippage: randomSlippage(random) };
  const authorization = `Bearer ${facts.keys[wallet]!}`;
  const proto = () => toBinary(BuyRequestSchema, create(BuyRequestSchema, { ...asked, priority: Priority.FAST }));
  switch (wire) {
    case "REST":
      return {
        path: "/v1/tx/buy",
        headers: { authorization, "content-type": "application/json" },
        body: Buffer.from(JSON.stringify({ ...asked, priority: "fast" })),
      };
    case "Connect JSON":
      return {
        path: RPC_PATH,
        headers: { authorization, "content-type": "application/json", "connect-protocol-version": "1" },
        body: Buffer.from(JSON.stringify({ ...asked, priority: "PRIORITY_FAST" })),
      };
    case "Connect proto":
      return {
        path: RPC_PATH,
        headers: { authorization, "content-type": "application/proto", "connect-protocol-version": "1" },
        body: proto(),
      };
    case "gRPC-Web":
      return {
        path: RPC_PATH,
        headers: { authorization, "content-type": "application/grpc-web+proto" },
        body: framed(proto()),
      };
    case "gRPC":
      return {
        path: RPC_PATH,
        headers: { authorization, "content-type": "application/grpc+proto", te: "trailers" },
        body: framed(proto()),
      };
  }
}

/** The message behind its flag and length. */
function framed(message: Uint8Array): Uint8Array {
  const out = Buffer.alloc(5 + message.length);
  out.writeUInt32BE(message.length, 1);
  out.set(message, 5);
  return out;
}
