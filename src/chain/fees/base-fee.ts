import { compileMessage } from "../../solana/message.ts";
import { INCINERATOR } from "../../solana/programs.ts";
import { transferLamports } from "../../solana/token-instructions.ts";
import type { ChainHead } from "../port.ts";
import type { RpcPool } from "../rpc/rpc-pool.ts";
import { asContext, asInteger } from "../rpc/rpc-values.ts";

/** What the chain takes for a transaction with one signature, priority apart. Answers from memory. */
export interface LiveBaseFee {
  /** Lamports. */
  lamports(): bigint;
  close(): void;
}

const METHOD = "getFeeForMessage";
/** The fee has never changed since the chain exists; when it does, a minute of estimates is off by the difference. */
const REFRESH_MS = 60_000;
/** What it is since the chain exists: until a node has told, and where none tells. */
const USUAL_LAMPORTS = 5_000n;
/** More than any chain takes: an answer beyond is not believed. */
const MOST_LAMPORTS = 100_000_000n;

/**
 * Asks what a message with one signature costs, and again every minute in the background. Where no node tells, 5,000 lamports
 * are taken, and the log says so once.
 */
export async function createBaseFee(options: {
  readonly pool: Pick<RpcPool, "read">;
  readonly head: Pick<ChainHead, "lifetime">;
  readonly warn: (message: string) => void;
}): Promise<LiveBaseFee> {
  const { pool, head, warn } = options;
  let lamports = USUAL_LAMPORTS;
  let told = false;

  async function read(): Promise<void> {
    try {
      const params = [sampleMessage(head.lifetime().blockhash), { encoding: "base64", commitment: "processed" }];
      const answer = await pool.read(METHOD, params, { isLacking: (result) => feeIn(result) === null });
      const value = feeIn(answer);
      // A node that does not know the blockhash yet says nothing of the fee.
      if (value === null) return;
      const fee = asInteger(value, METHOD);
      if (fee < 0n || fee > MOST_LAMPORTS) throw new RangeError(`${fee} lamports are not believed`);
      lamports = fee;
      told = false;
    } catch (error) {
      if (!told)
        warn(`The base fee could not be read from the chain; ${lamports} lamports are reckoned with: ${error}`);
      told = true;
    }
  }

  await read();
  const timer = setInterval(() => void read(), REFRESH_MS);
  timer.unref();
  return { lamports: () => lamports, close: () => clearInterval(timer) };
}

const feeIn = (result: unknown): unknown => asContext(result, METHOD).value;

/** The least message there is: nobody's lamport to nobody. It asks for no priority, so that its fee is the base fee. */
function sampleMessage(blockhash: Uint8Array): string {
  const instructions = [transferLamports(INCINERATOR, INCINERATOR, 1n)];
  const message = compileMessage({ payer: INCINERATOR, instructions, blockhash, lookupTables: [] });
  return Buffer.from(message).toString("base64");
}
