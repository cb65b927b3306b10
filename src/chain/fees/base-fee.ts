import { maxOf } from "../../primitives/integer.ts";
import { compileMessage } from "../../solana/message.ts";
import { INCINERATOR } from "../../solana/programs.ts";
import { transferLamports } from "../../solana/token/token-instructions.ts";
import type { ChainHead } from "../port.ts";
import type { RpcEndpoint } from "../rpc/rpc-endpoint.ts";
import type { RpcPool } from "../rpc/rpc-pool.ts";
import { asContext, asInteger } from "../rpc/rpc-values.ts";
import { saidMost } from "../rpc/said-most.ts";

/** The chain's fee for a transaction with one signature, without priority. Answers from memory. */
export interface LiveBaseFee {
  /** Lamports. */
  lamports(): bigint;
  close(): void;
}

interface BaseFeeOptions {
  readonly pool: Pick<RpcPool, "endpoints" | "ask">;
  readonly head: Pick<ChainHead, "lifetime">;
  readonly warn: (message: string) => void;
}

const METHOD = "getFeeForMessage";
/** The fee has never changed so far. If it does, estimates are off by the difference for up to this long. Milliseconds. */
const REFRESH_MS = 60_000;
/** The fee of every cluster so far; used until a node reports it. */
const DEFAULT_LAMPORTS = 5_000n;
/** More than any chain charges: a higher answer is discarded. */
const MAX_LAMPORTS = 100_000_000n;

/**
 * Reads the fee of a message with one signature, and again every minute in the background. While no node reports it, the fee is 5,000
 * lamports, with one warning. The fee that most nodes report counts. If they are divided, the known fee stays; without one, the higher
 * counts.
 */
export async function createBaseFee(options: BaseFeeOptions): Promise<LiveBaseFee> {
  const fee = new PolledBaseFee(options);
  await fee.start();
  return fee;
}

class PolledBaseFee implements LiveBaseFee {
  readonly #options: BaseFeeOptions;
  #lamports = DEFAULT_LAMPORTS;
  #isFailing = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: BaseFeeOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    await this.#read();
    this.#timer = setInterval(() => void this.#read(), REFRESH_MS);
    this.#timer.unref();
  }

  lamports(): bigint {
    return this.#lamports;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #read(): Promise<void> {
    const { pool, head, warn } = this.#options;
    try {
      const params = [sampleMessage(head.lifetime().blockhash), { encoding: "base64", commitment: "processed" }];
      // The start does not wait for unavailable nodes, unless all are.
      const ready = pool.endpoints.filter((endpoint) => !endpoint.isCooling());
      const asked = ready.length === 0 ? pool.endpoints : ready;
      const settled = await Promise.allSettled(asked.map((endpoint) => readFee(pool, endpoint, params)));
      const answers = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      if (answers.length === 0) throw settled.find((one) => one.status === "rejected")?.reason;
      const fees = saidMost(
        answers.filter((fee) => fee !== null),
        String,
      );
      // No node knows the blockhash yet, so none can name a fee.
      if (fees.length === 0) return;
      if (!fees.includes(this.#lamports)) this.#lamports = fees.reduce(maxOf);
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing)
        warn(`Cannot read the base fee from the chain; ${this.#lamports} lamports are assumed: ${error}`);
      this.#isFailing = true;
    }
  }
}

/** The fee by one node's word; null if it does not know the blockhash. @throws NodeError, RangeError */
async function readFee(
  pool: Pick<RpcPool, "ask">,
  endpoint: RpcEndpoint,
  params: readonly unknown[],
): Promise<bigint | null> {
  const { value } = asContext(await pool.ask(endpoint, METHOD, params), METHOD);
  if (value === null) return null;
  const fee = asInteger(value, METHOD);
  if (fee > MAX_LAMPORTS) throw new RangeError(`${fee} lamports are not plausible`);
  return fee;
}

/** The smallest message: one lamport from the incinerator to itself. Without a priority fee, its fee is the base fee. */
function sampleMessage(blockhash: Uint8Array): string {
  const instructions = [transferLamports(INCINERATOR, INCINERATOR, 1n)];
  const message = compileMessage({ payer: INCINERATOR, instructions, blockhash, lookupTables: [] });
  return Buffer.from(message).toString("base64");
}
