import type { Address } from "../../primitives/address.ts";

const LONGEST_MS = 10_000;
/** The chain's code for parameters at fault. @see JSON-RPC 2.0 */
const INVALID_PARAMS = -32602;

/**
 * Asks the embedded chain for SOL, and waits until the wallet has it.
 * @returns false if the address is none that the chain lets receive any
 * @throws Error if the chain fails otherwise
 */
export async function requestAirdrop(rpcUrl: string, wallet: Address, lamports: bigint): Promise<boolean> {
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
  if (errorCodeOf(answer) === INVALID_PARAMS) return false;
  if (typeof answer !== "object" || answer === null || "error" in answer) {
    throw new Error(`The airdrop of the embedded chain failed: ${JSON.stringify(answer)}`);
  }
  return true;
}

function errorCodeOf(answer: unknown): unknown {
  return (answer as { readonly error?: { readonly code?: unknown } } | null)?.error?.code;
}
