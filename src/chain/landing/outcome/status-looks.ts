import { nextTick } from "node:process";
import { NodeError } from "../../rpc/node-error.ts";
import type { RpcEndpoint } from "../../rpc/rpc-endpoint.ts";
import type { RpcPool } from "../../rpc/rpc-pool.ts";
import { asStatuses, decodeStatus, MAX_SIGNATURES_PER_CALL, type SignatureStatus } from "../../rpc/signature-status.ts";

/** Longest wait for a status. Milliseconds. */
const TIMEOUT_MS = 1_000;
/** How long an unanswered call delays later look-ups. Milliseconds. */
const SLOW_MS = 100;

interface Look {
  readonly signature: string;
  readonly status: PromiseWithResolvers<SignatureStatus | null>;
}

/** The look-ups of one node's statuses. */
interface NodeLooks {
  waiting: Look[];
  /** True while new look-ups wait for earlier ones to be answered, or for the end of this turn. */
  isBusy: boolean;
}

/**
 * Looks up nodes' statuses of transactions. Look-ups that arrive while a call to the node is pending share the next call, so the node gets
 * one call after another however many trades are followed. An idle node is asked at once.
 */
export class StatusLooks {
  readonly #pool: RpcPool;
  readonly #nodes = new Map<RpcEndpoint, NodeLooks>();

  constructor(pool: RpcPool) {
    this.#pool = pool;
  }

  /**
   * A node's status of a transaction; null if it does not know the signature.
   *
   * @param mayBeOld whether a node may know it from its history alone, which is then searched in a call of its own
   * @throws TradewireError UPSTREAM_ERROR
   */
  async look(endpoint: RpcEndpoint, signature: string, mayBeOld: boolean): Promise<SignatureStatus | null> {
    const status = await this.#recent(endpoint, signature);
    if (status !== null || !mayBeOld) return status;
    return (await fetchStatusAt(this.#pool, endpoint, signature)).status;
  }

  #recent(endpoint: RpcEndpoint, signature: string): Promise<SignatureStatus | null> {
    let node = this.#nodes.get(endpoint);
    if (node === undefined) {
      node = { waiting: [], isBusy: false };
      this.#nodes.set(endpoint, node);
    }
    const status = Promise.withResolvers<SignatureStatus | null>();
    node.waiting.push({ signature, status });
    if (!node.isBusy) void this.#call(endpoint, node);
    return status.promise;
  }

  async #call(endpoint: RpcEndpoint, node: NodeLooks): Promise<void> {
    node.isBusy = true;
    // Runs after everything that this turn asks for.
    await new Promise<void>((resolve) => nextTick(resolve));
    const looks = node.waiting;
    node.waiting = [];
    const calls: Promise<void>[] = [];
    for (let from = 0; from < looks.length; from += MAX_SIGNATURES_PER_CALL)
      calls.push(this.#read(endpoint, looks.slice(from, from + MAX_SIGNATURES_PER_CALL)));
    await new Promise<void>((resolve) => {
      const slow = setTimeout(resolve, SLOW_MS);
      void Promise.all(calls).then(() => {
        clearTimeout(slow);
        resolve();
      });
    });
    node.isBusy = false;
    if (node.waiting.length > 0) void this.#call(endpoint, node);
  }

  /** Reads the statuses of some look-ups. A status that cannot be read fails alone. */
  async #read(endpoint: RpcEndpoint, looks: readonly Look[]): Promise<void> {
    try {
      const params = [looks.map(({ signature }) => signature), { searchTransactionHistory: false }];
      const answer = await this.#pool.ask(endpoint, "getSignatureStatuses", params, TIMEOUT_MS);
      const { entries } = asStatuses(answer, looks.length);
      looks.forEach(({ status }, i) => {
        try {
          status.resolve(decodeStatus(entries[i]));
        } catch (error) {
          status.reject(error);
        }
      });
    } catch (error) {
      // A node's answer to all of them may be caused by a single one.
      const isAnswer = error instanceof NodeError && (error.kind === "answered" || error.kind === "malformed");
      for (const { signature, status } of looks) {
        if (!isAnswer || looks.length === 1) status.reject(error);
        else status.resolve(fetchStatusAt(this.#pool, endpoint, signature).then((alone) => alone.status));
      }
    }
  }
}

/**
 * One node's status of a transaction, its whole history searched, with the slot that the node had come to; null if the node does
 * not know the signature.
 *
 * @throws TradewireError UPSTREAM_ERROR
 */
export async function fetchStatusAt(
  pool: RpcPool,
  endpoint: RpcEndpoint,
  signature: string,
): Promise<{ readonly slot: bigint; readonly status: SignatureStatus | null }> {
  const params = [[signature], { searchTransactionHistory: true }];
  const answer = await pool.ask(endpoint, "getSignatureStatuses", params, TIMEOUT_MS);
  const { slot, entries } = asStatuses(answer, 1);
  return { slot, status: decodeStatus(entries[0]) };
}
