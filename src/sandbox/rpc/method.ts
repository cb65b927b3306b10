import type { Address } from "../../primitives/address.ts";
import type { Chain } from "../chain/chain.ts";
import type { HeldAnswers } from "../held-answers.ts";
import type { Params } from "./params.ts";

/** What the methods answer from. */
export interface Node {
  readonly chain: Chain;
  readonly identity: Address;
  /** While true, what `sendTransaction` takes never reaches a leader. */
  readonly drops: boolean;
  readonly held: HeldAnswers;
  /** The time that each slot is given (ms); undefined while time stands still. */
  readonly slotMs: number | undefined;
}

/** One JSON-RPC method: its result, or RpcError thrown. Results may hold `bigint`. */
export type Method = (node: Node, params: Params) => unknown;
