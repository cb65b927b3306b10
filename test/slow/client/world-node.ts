import { getTransactionDecoder } from "@solana/kit";
import { FailedTransactionMetadata } from "litesvm";
import type { RpcCall } from "../../../src/client/node/rpc.ts";
import { readTransaction } from "../../../src/client/verify/read-transaction.ts";
import { Address } from "../../../src/primitives/address.ts";
import { unsignedTransaction } from "../../../src/solana/message.ts";
import type { ProgramWorld } from "./program-worlds.ts";
import { version1Of } from "./version-1.ts";
import { forOlderAmm } from "./world-builds.ts";

const BASE_FEE = 5_000n;

/** The caller's own node, as far as a check asks it: it runs transactions on the world's programs. */
export function worldNode({ svm }: ProgramWorld): RpcCall {
  const slot = Number(svm.clock().slot);
  const answer = (value: unknown) => Promise.resolve({ context: { slot }, value });
  const reported = (account: { owner: unknown; lamports: bigint; data: Uint8Array } | null) =>
    account === null || account.lamports === 0n
      ? null
      : {
          owner: String(account.owner),
          lamports: Number(account.lamports),
          data: [Buffer.from(account.data).toString("base64"), "base64"],
        };
  return (method, params) => {
    const [first, config] = params as [never, { accounts: { addresses: readonly string[] } }];
    switch (method) {
      case "getMinimumBalanceForRentExemption":
        return Promise.resolve(Number(svm.rent(first)));
      case "getFeeForMessage":
        return answer(Number(feeOf(unsignedTransaction(Buffer.from(first, "base64")))));
      case "getMultipleAccounts":
        return answer((first as readonly string[]).map((address) => reported(svm.get(Address.of(address)))));
      case "simulateTransaction": {
        const wire = Uint8Array.from(Buffer.from(first, "base64"));
        const done = svm.inner.simulateTransaction(getTransactionDecoder().decode(forOlderAmm(wire)));
        if (done instanceof FailedTransactionMetadata)
          return answer({ err: "failed", logs: done.meta().logs(), accounts: null });
        const changed = new Map(done.postAccounts().map((account) => [String(account.address), account]));
        const accounts = config.accounts.addresses.map((address) => {
          const account = changed.get(address);
          if (account === undefined) return reported(svm.get(Address.of(address)));
          return reported({
            owner: account.programAddress,
            lamports: account.lamports,
            data: Uint8Array.from(account.data),
          });
        });
        return answer({ err: null, accounts });
      }
      default:
        return Promise.reject(new Error(`${method} is not asked by a check`));
    }
  };
}

/** The network's fee of a transaction with one signature, priority included. Lamports. */
function feeOf(wire: Uint8Array): bigint {
  const { config } = readTransaction(wire);
  return BASE_FEE + (config?.priorityFeeLamports ?? version1Of(wire).budget.priorityFeeLamports);
}
