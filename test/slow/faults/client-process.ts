/**
 * A caller with a clock of its own: the client library in a process that may be loaded with a skewed clock.
 *
 *   node [--import skewed-clock.ts] client-process.ts <url of the service> <seed, base58>
 *
 * Registers, then buys of the mint on each line that comes in, and answers each with a line: what was signed, and how it ended.
 */
import { createInterface } from "node:readline";
import { TradeError } from "../../../src/client/trade-error.ts";
import { Tradewire } from "../../../src/client/tradewire.ts";

/** One trade as the client library saw it. */
export interface ClientTrade {
  /** Base64. */
  readonly signed: string;
  readonly submissionToken: string;
  readonly expiresAt: string;
  readonly lastValidBlockHeight: number;
  /** How it ended: a status, or the code of an error. */
  readonly outcome: string;
  readonly slot: number | null;
  readonly safeToRebuild: boolean;
}

const [baseUrl, wallet] = process.argv.slice(2) as [string, string];
const client = Tradewire.connect({ baseUrl, wallet, domain: "tradewire.test" });
await client.register();
process.stdout.write("ready\n");

for await (const mint of createInterface({ input: process.stdin })) {
  const built = await client.buildBuy({ mint, solAmount: 0.01, slippage: 0.5, priority: "fast" });
  const signed = await client.sign(built);
  const known = {
    signed: Buffer.from(signed).toString("base64"),
    submissionToken: built.submissionToken,
    expiresAt: built.expiresAt,
    lastValidBlockHeight: Number(built.lastValidBlockHeight),
  };
  let ended: Pick<ClientTrade, "outcome" | "slot" | "safeToRebuild">;
  try {
    const { status, slot } = await client.submit(built.submissionToken, signed);
    ended = { outcome: status, slot: slot ?? null, safeToRebuild: false };
  } catch (error) {
    if (!(error instanceof TradeError)) throw error;
    ended = { outcome: error.code, slot: null, safeToRebuild: error.safeToRebuild === true };
  }
  process.stdout.write(`${JSON.stringify({ ...known, ...ended } satisfies ClientTrade)}\n`);
}
client.close();
