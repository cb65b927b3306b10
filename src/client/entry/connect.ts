// What `import … from "tradewire/connect"` gives: the services and messages of the definition, for a client of one's own.
export * from "../../../gen/tradewire/v1/account_pb.ts";
export * from "../../../gen/tradewire/v1/errors_pb.ts";
export * from "../../../gen/tradewire/v1/trade_pb.ts";
export * from "../../../gen/tradewire/v1/types_pb.ts";
export { toTradeError } from "../connection/connect-error.ts";
export { TradeError, type TradeErrorFacts } from "../trade-error.ts";
