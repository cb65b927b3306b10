import { compileMessage } from "../../solana/message.ts";
import { INCINERATOR } from "../../solana/programs.ts";
import { transferLamports } from "../../solana/token/token-instructions.ts";
import type { ChainHead } from "../port.ts";
import type { RpcPool } from "../rpc/rpc-pool.ts";
import { asContext, asInteger } from "../rpc/rpc-values.ts";

/** The chain's fee for a transaction with one signature, without priority. Answers from memory. */
export interface LiveBaseFee {
  /** Lamports. */
  lamports(): bigint;
  close(): void;
}

interface BaseFeeOptions {
  readonly pool: Pick<RpcPool, "read">;
  readonly head: Pick<ChainHead, "lifetime">;
  readonly warn: (message: string) => void;
}

const METHOD = "getFeeForMessage";
/** The fee has never changed so far. If it does, estimates are off by the difference for up to this long. Milliseconds. */
const REFRESH_MS = 60_000;
/** The fee so far; used until a node reports it. */
const DEFAULT_LAMPORTS = 5_000n;
/** More than any chain charges: a higher answer is discarded. */
const MAX_LAMPORTS = 100_000_000n;

/**
 * Reads the fee of a message with one signature, and again every minute in the background. While no node reports it, the fee
 * is 5,000 lamports, with one warning.
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
      const answer = await pool.read(METHOD, params, { isLacking: (result) => feeIn(result) === null });
      const value = feeIn(answer);
      // The node does not know the blockhash yet, and so no fee.
      if (value === null) return;
      const fee = asInteger(value, METHOD);
      if (fee > MAX_LAMPORTS) throw new RangeError(`${fee} lamports are not plausible`);
      this.#lamports = fee;
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing)
        warn(`Cannot read the base fee from the chain; ${this.#lamports} lamports are assumed: ${error}`);
      this.#isFailing = true;
    }
  }
}

const feeIn = (result: unknown): unknown => asContext(result, METHOD).value;

/** The smallest message: one lamport from the incinerator to itself. Without a priority fee, its fee is the base fee. */
function sampleMessage(blockhash: Uint8Array): string {
  const instructions = [transferLamports(INCINERATOR, INCINERATOR, 1n)];
  const message = compileMessage({ payer: INCINERATOR, instructions, blockhash, lookupTables: [] });
  return Buffer.from(message).toString("base64");
}
