import type { Address } from "../../primitives/address.ts";

const LONGEST_MS = 10_000;

/** Asks the embedded chain for SOL, and waits until the wallet has it. @throws Error if the chain refuses */
export async function requestAirdrop(rpcUrl: string, wallet: Address, lamports: bigint): Promise<void> {
  const response = await fetch(rpcUrl, {
    method: "POST",
    signal: AbortSignal.timeout(LONGEST_MS),
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "requestAirdrop",
      params: [wallet.toString(), Number(lamports)],
    }),
  });
  const answer: unknown = await response.json();
  if (typeof answer !== "object" || answer === null || "error" in answer) {
    throw new Error(`The airdrop of the embedded chain failed: ${JSON.stringify(answer)}`);
  }
}
