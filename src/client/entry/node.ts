// What `import … from "tradewire/node"` gives: the caller's own RPC node, for option `node` of `Tradewire.connect`.
export type { RpcNodeOptions } from "../node/rpc.ts";
export { rpcNode } from "../node/rpc-node.ts";
export type { NodeFindings, NodeTrade, NodeVerdict, TradeNode } from "../proof/trade-node.ts";
export { TradeError, type TradeErrorFacts } from "../trade-error.ts";
