import type { Now } from "../../primitives/clock.ts";
import { isRefusal } from "../rpc/node-error.ts";
import { createRpcEndpoint, type RpcEndpoint } from "../rpc/rpc-endpoint.ts";

/** The sender every message may use: the configured nodes, which ask for nothing in it. */
export const OWN_NODES = "rpc";

/** One way to send a transaction towards the leaders. */
export interface Sender {
  /** Shown to callers. Never a host name: those of some providers are secrets. */
  readonly name: string;
  /** The name messages allow it by: `rpc` for the configured nodes, its own for any other. */
  readonly allowedAs: string;
  /** True: it repeats what it took by itself, and is sent each transaction once. */
  readonly repeats: boolean;
  /** True for a while after failures, a long one after it said that it takes no transactions at all: repetitions go to the others. */
  isCooling(): boolean;
  /** True when one more may be sent now; a sender that limits its callers is not sent more than it takes. */
  takeTurn(): boolean;
  /** Resolves when the sender has taken the transaction. @throws TradewireError UPSTREAM_ERROR */
  send(encoded: string): Promise<void>;
}

interface SenderOptions {
  readonly now: Now;
  readonly warn?: (message: string) => void;
  /** Longest wait for the sender to take a transaction. */
  readonly timeoutMs?: number;
  /** Transactions sent in a second, at most. */
  readonly perSecond?: number;
}

const DEFAULT_TIMEOUT_MS = 1_000;
const DEFAULT_PER_SECOND = 1_000;
const REFUSAL_MS = 600_000;

/** A configured node as a sender; `index` counts from 0. */
export function createNodeSender(endpoint: RpcEndpoint, index: number, options: SenderOptions): Sender {
  return senderTo(endpoint, { ...options, name: `${OWN_NODES}-${index + 1}`, allowedAs: OWN_NODES, repeats: false });
}

/** Where a relay or block engine is reached. */
interface RelayAddress {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly repeats: boolean;
}

/** A relay or block engine that takes `sendTransaction`. */
export function createRelaySender({ name, url, headers, repeats }: RelayAddress, options: SenderOptions): Sender {
  const endpoint = createRpcEndpoint({ url, headers, now: options.now });
  return senderTo(endpoint, { ...options, name, allowedAs: name, repeats });
}

function senderTo(
  endpoint: RpcEndpoint,
  {
    name,
    allowedAs,
    repeats,
    now,
    warn = () => {},
    timeoutMs = DEFAULT_TIMEOUT_MS,
    perSecond = DEFAULT_PER_SECOND,
  }: SenderOptions & Pick<Sender, "name" | "allowedAs" | "repeats">,
): Sender {
  let turns = perSecond;
  let countedAtMs = now();
  let refusedUntilMs = 0;
  return {
    name,
    allowedAs,
    repeats,
    isCooling: () => endpoint.isCooling() || now() < refusedUntilMs,
    takeTurn() {
      const at = now();
      turns = Math.min(perSecond, turns + (Math.max(0, at - countedAtMs) * perSecond) / 1_000);
      countedAtMs = at;
      if (turns < 1) return false;
      turns -= 1;
      return true;
    },
    async send(encoded) {
      try {
        await endpoint.call(
          "sendTransaction",
          [encoded, { encoding: "base64", skipPreflight: true, maxRetries: 0 }],
          timeoutMs,
        );
        refusedUntilMs = 0;
      } catch (error) {
        if (isRefusal(error)) {
          if (now() >= refusedUntilMs)
            warn(`The sender ${name} (${endpoint.name}) does not serve sendTransaction: nothing lands through it.`);
          refusedUntilMs = now() + REFUSAL_MS;
        }
        throw error;
      }
    },
  };
}
