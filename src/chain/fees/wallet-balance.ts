import type { Address } from "../../primitives/address.ts";
import type { Now } from "../../primitives/clock.ts";
import { maxOf } from "../../primitives/integer.ts";
import type { WalletBalanceReader } from "../port.ts";
import type { RpcPool } from "../rpc/rpc-pool.ts";
import { asContext, asInteger } from "../rpc/rpc-values.ts";
import { CallBudget } from "../state/compare/call-budget.ts";

interface WalletBalanceOptions {
  readonly pool: Pick<RpcPool, "endpoints" | "ask">;
  readonly now: Now;
}

const WHAT = "a balance";
const TIMEOUT_MS = 2_000;
/** Nodes asked per read, so that another contradicts a node that understates. */
const NODES = 2;
/** Upper bound of calls, over all wallets and nodes. */
const CALLS_PER_SECOND = 8;

/** Reads wallets' balances from two nodes, within a budget of its own: it must not take calls from trades in flight. */
export function createWalletBalances({ pool, now }: WalletBalanceOptions): WalletBalanceReader {
  const budget = new CallBudget(CALLS_PER_SECOND, now);
  return {
    async read(wallet: Address) {
      const nodes = pool.endpoints.filter((node) => !(node.isAside() || node.isCooling())).slice(0, NODES);
      if (nodes.length === 0 || !budget.take(nodes.length)) return undefined;
      const params = [wallet.toString(), { commitment: "confirmed" }];
      const settled = await Promise.allSettled(
        nodes.map(async (node) =>
          asInteger(asContext(await pool.ask(node, "getBalance", params, TIMEOUT_MS), WHAT).value, WHAT),
        ),
      );
      const said = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      if (said.length === 0) return undefined;
      return { lamports: said.reduce(maxOf), nodes: said.length };
    },
  };
}
