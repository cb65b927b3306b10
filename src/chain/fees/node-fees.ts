import type { RpcPool } from "../rpc/rpc-pool.ts";
import { BorneOutFees } from "./borne-out-fees.ts";
import { createPercentileFees, createStockFees, type FeeSource, type NodeFeesOptions } from "./fee-sources.ts";

/** Priority fees as nodes report them, in order of preference: percentiles if a node has them, else the stock method. */
export function createNodeFees(pool: RpcPool, options: NodeFeesOptions): readonly FeeSource[] {
  const { trims, window } = options;
  const sources = [createPercentileFees(pool, options), createStockFees(pool, trims, window)];
  return sources.map((source) => new BorneOutFees(source, pool.endpoints, options));
}
