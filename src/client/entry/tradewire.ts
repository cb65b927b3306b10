// What `import … from "tradewire"` gives.
export type { Transport } from "@connectrpc/connect";
export type { ApiKey, BuiltResponse, ListedTrades, PriceQuote, PriorityPrices } from "../answers/answers.ts";
export type { Plain, TradeEventName, TradeStatusName } from "../answers/plain-answer.ts";
export { MIDDLE_MINTS, type RouteLimits, type TradeLimits } from "../order/limits.ts";
export type {
  CallControl,
  ConnectOptions,
  LookupTableReader,
  ProofOptions,
  RebuildPolicy,
  TradeOptions,
  TradeStep,
} from "../order/options.ts";
export type { BuyOrder, PriorityName, SellOrder, SwapModeName, SwapOrder } from "../order/order.ts";
export type { Unproven } from "../proof/prove-trade.ts";
export type { PriceAsk, PriceReference, ReferenceOptions } from "../proof/reference.ts";
export type { TradeReview } from "../proof/review.ts";
export type { SlippageBasis } from "../proof/slippage-basis.ts";
export type { NodeFindings, TradeNode } from "../proof/trade-node.ts";
export type { Trade, TradeCosts, TradeLeg, TradeResult, TradeUpdate, WatchedEvent } from "../trade.ts";
export { TradeError, type TradeErrorFacts } from "../trade-error.ts";
export { Tradewire } from "../tradewire.ts";
export type { TradeFilter } from "../trading/requests.ts";
export type { ProvenTrade } from "../trading/trade-desk.ts";
export { describeProblem, type Problem, UnexpectedTransactionError } from "../verify/problem.ts";
export type { TradeOrder } from "../verify/trade-expectation.ts";
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
