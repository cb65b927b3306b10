import { hash } from "node:crypto";
import bs58 from "bs58";
import { SIGNATURE_SIZE, wireLayout } from "../../../solana/message.ts";
import { NodeError } from "../../rpc/node-error.ts";
import type { RpcEndpoint } from "../../rpc/rpc-endpoint.ts";
import type { RpcPool } from "../../rpc/rpc-pool.ts";
import { asList, asRecord, asText } from "../../rpc/rpc-values.ts";

const WHAT = "a wallet's history";
const TIMEOUT_MS = 3_000;
/** Transactions of each node whose messages are remembered. */
const MOST_REMEMBERED = 10_000;
/** Transactions that one search asks a node for at once. */
const AT_ONCE = 100;

/**
 * The messages of finalized transactions, as each node shows them. They never change, so each is requested once: trades of a busy wallet
 * that expire together look through the same transactions, and a search that failed continues where it was.
 */
export class HistoryMessages {
  readonly #pool: Pick<RpcPool, "ask">;
  /** SHA-256 of messages by signature, in the order of the requests. */
  readonly #hashes = new WeakMap<RpcEndpoint, Map<string, Promise<Uint8Array>>>();

  constructor(pool: Pick<RpcPool, "ask">) {
    this.#pool = pool;
  }

  /**
   * The SHA-256 of each transaction's message, in the order of the signatures.
   *
   * @throws NodeError if the node lacks one of them or does not answer; answers so far stay remembered
   */
  async hashesOf(endpoint: RpcEndpoint, signatures: readonly string[]): Promise<readonly Uint8Array[]> {
    const hashes: Uint8Array[] = [];
    for (let from = 0; from < signatures.length; from += AT_ONCE) {
      const some = signatures.slice(from, from + AT_ONCE);
      hashes.push(...(await Promise.all(some.map((signature) => this.#hashOf(endpoint, signature)))));
    }
    return hashes;
  }

  /** The bytes of a finalized transaction, as the node has them. @throws NodeError also if they bear another signature */
  async bytesOf(endpoint: RpcEndpoint, signature: string): Promise<Uint8Array> {
    const config = { encoding: "base64", commitment: "finalized", maxSupportedTransactionVersion: 1 };
    const answer = asRecord(await this.#pool.ask(endpoint, "getTransaction", [signature, config], TIMEOUT_MS), WHAT);
    const [encoded] = asList(answer.transaction, WHAT);
    const transaction = Buffer.from(asText(encoded, WHAT), "base64");
    if (signatureOf(transaction) !== signature)
      throw new NodeError("malformed", `The Solana node ${endpoint.name} shows one transaction in place of another.`);
    return transaction;
  }

  #hashOf(endpoint: RpcEndpoint, signature: string): Promise<Uint8Array> {
    let hashes = this.#hashes.get(endpoint);
    if (hashes === undefined) {
      hashes = new Map();
      this.#hashes.set(endpoint, hashes);
    }
    const known = hashes.get(signature);
    if (known !== undefined) return known;
    const remembered = hashes;
    const reading = this.bytesOf(endpoint, signature).then(messageHashOf);
    remembered.set(signature, reading);
    if (remembered.size > MOST_REMEMBERED) remembered.delete(remembered.keys().next().value!);
    reading.catch(() => {
      if (remembered.get(signature) === reading) remembered.delete(signature);
    });
    return reading;
  }
}

function signatureOf(transaction: Uint8Array): string {
  const { signatureAt } = wireLayout(transaction);
  return bs58.encode(transaction.subarray(signatureAt, signatureAt + SIGNATURE_SIZE));
}

const messageHashOf = (transaction: Uint8Array): Uint8Array =>
  hash("sha256", wireLayout(transaction).message, "buffer");
