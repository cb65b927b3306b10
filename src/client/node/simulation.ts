import { base64Encode } from "@bufbuild/protobuf/wire";
import type { Address } from "../../primitives/address.ts";
import { encodeBase58 } from "../../primitives/encoding/base58.ts";
import { rest } from "../proof/pause.ts";
import { layoutOf, VERSION_1 } from "../signature/wire-layout.ts";
import { TradeError } from "../trade-error.ts";
import { type NodeAccount, parseAccounts } from "./node-accounts.ts";
import type { RpcCall } from "./rpc.ts";

/** A transaction that succeeded in a simulation. */
export interface Simulated {
  readonly slot: number;
  /** The accounts asked for, as the transaction leaves them. */
  readonly after: ReadonlyMap<Address, NodeAccount | undefined>;
}

/** Times that a node which does not know a new blockhash yet is asked again, and the pause between. Milliseconds. */
const RETRIES = 8;
const RETRY_PAUSE_MS = 400;

/**
 * Simulates wire bytes on the node, unsigned. A node behind the service's is asked again for a few seconds.
 * @throws TradeError SIMULATION_FAILED with the last lines of the log, NODE_UNAVAILABLE
 */
export async function simulateWire(
  call: RpcCall,
  wire: Uint8Array,
  addresses: readonly Address[],
  signal: AbortSignal | undefined,
): Promise<Simulated> {
  const config = {
    encoding: "base64",
    commitment: "processed",
    sigVerify: false,
    replaceRecentBlockhash: false,
    accounts: { encoding: "base64", addresses: addresses.map(String) },
  };
  for (let tries = 0; ; tries++) {
    const { context, value } = (await call("simulateTransaction", [base64Encode(wire), config], signal)) as {
      readonly context?: { readonly slot?: number };
      readonly value?: { readonly err?: unknown; readonly logs?: unknown; readonly accounts?: unknown };
    };
    const slot = context?.slot;
    if (value === undefined || typeof slot !== "number" || value.err === undefined) {
      throw new TradeError("NODE_UNAVAILABLE", "Your node's answer has an unknown form. Nothing was signed.");
    }
    if (value.err === null) return { slot, after: parseAccounts(value.accounts, addresses) };
    if (value.err !== "BlockhashNotFound") throw simulationFailed(value.err, value.logs);
    if (tries === RETRIES) {
      throw new TradeError(
        "NODE_UNAVAILABLE",
        "Your node does not know the transaction's blockhash: it is behind, or on another network. Nothing was signed.",
        { retryable: true },
      );
    }
    await rest(RETRY_PAUSE_MS, signal);
  }
}

/** Undefined in the place of a simulation that failed. @throws any other error */
export function undefinedIfFailed(error: unknown): undefined {
  if (!(error instanceof TradeError) || error.code !== "SIMULATION_FAILED") throw error;
}

function simulationFailed(err: unknown, logs: unknown): TradeError {
  const lines = Array.isArray(logs) ? logs.filter((line) => /error|failed|insufficient/i.test(String(line))) : [];
  const said = lines.length === 0 ? "" : `: ${String(lines.at(-1)).slice(0, 200)}`;
  return new TradeError(
    "SIMULATION_FAILED",
    `On your node the transaction fails with ${JSON.stringify(err)}${said}. Nothing was signed.`,
    { retryable: true },
  );
}

/** The fee of a message on the node, priority included. Lamports. @throws TradeError NODE_UNAVAILABLE */
export async function readFee(call: RpcCall, message: Uint8Array, signal: AbortSignal | undefined): Promise<bigint> {
  for (let tries = 0; ; tries++) {
    const answer = await call("getFeeForMessage", [base64Encode(message), { commitment: "processed" }], signal);
    const { value } = answer as { readonly value?: unknown };
    if (typeof value === "number") return BigInt(value);
    if (tries === RETRIES) {
      throw new TradeError("NODE_UNAVAILABLE", "Your node does not know the transaction's blockhash.", {
        retryable: true,
      });
    }
    await rest(RETRY_PAUSE_MS, signal);
  }
}

/** The rent of an account without data. Lamports. @throws TradeError NODE_UNAVAILABLE */
export async function readEmptyRent(call: RpcCall, signal: AbortSignal | undefined): Promise<bigint> {
  const rent = await call("getMinimumBalanceForRentExemption", [0], signal);
  if (typeof rent === "number" && Number.isSafeInteger(rent) && rent >= 0) return BigInt(rent);
  throw new TradeError("NODE_UNAVAILABLE", "Your node's answer has an unknown form. Nothing was signed.");
}

/** The recent blockhash of a wire transaction, in base58. */
export function blockhashOf(wire: Uint8Array): string {
  const { message } = layoutOf(wire);
  if (wire[0] === VERSION_1) return encodeBase58(message.subarray(8, 40));
  let at = message[0] === 0x80 ? 4 : 3;
  let count = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = message[at++]!;
    count |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return encodeBase58(message.subarray(at + 32 * count, at + 32 * count + 32));
}
