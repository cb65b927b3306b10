// What `import … from "tradewire"` gives.
export type { Transport } from "@connectrpc/connect";
export type { BuyOrder, PriorityName, SellOrder, SwapModeName, SwapOrder } from "../order.ts";
export type { Trade, TradeAmounts, TradeCosts, TradeLeg, TradeStatusName } from "../trade.ts";
export { TradeError, type TradeErrorFacts } from "../trade-error.ts";
export {
  type BuiltResponse,
  type CallControl,
  type ConnectOptions,
  type LookupTableReader,
  type RebuildPolicy,
  type TradeOptions,
  type TradeStep,
  Tradewire,
} from "../tradewire.ts";
export type { TradeLimits, TradeOrder } from "../verify/trade-expectation.ts";
export { describeProblem, type Problem, UnexpectedTransactionError } from "../verify/verify-transaction.ts";
export {
  fromBase58,
  type KeypairLike,
  type KitSignerLike,
  type MessageSigner,
  type StandardWalletLike,
  toWallet,
  type Wallet,
  type WalletLike,
} from "../wallet.ts";
