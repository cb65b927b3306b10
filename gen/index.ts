// What `import … from "@tradewire/api"` gives: every service, message and enum of the API.
export * from "./tradewire/v1/account_pb.ts";
export * from "./tradewire/v1/errors_pb.ts";
export * from "./tradewire/v1/trade_pb.ts";
export * from "./tradewire/v1/types_pb.ts";
