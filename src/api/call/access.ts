import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { Health } from "../../../gen/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "../../../gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionAlpha } from "../../../gen/grpc/reflection/v1alpha/reflection_pb.ts";
import { AccountService } from "../../../gen/tradewire/v1/account_pb.ts";
import { TradeService } from "../../../gen/tradewire/v1/trade_pb.ts";

/** How a call is rate-limited and admitted. */
export type CallKind = "build" | "submit" | "read" | "query" | "open" | "register";

/** What the gate asks of the calls of one method. */
export interface Access {
  /** Undefined for calls about the server itself, such as health and reflection: they are neither limited nor observed. */
  readonly kind: CallKind | undefined;
  readonly needsKey: boolean;
}

const { buy, sell, swap, quote, submit, listTrades, getPriority } = TradeService.method;
const { createChallenge, register, getBalances } = AccountService.method;

const OPEN_SERVICES: ReadonlySet<DescService> = new Set([Health, ServerReflection, ServerReflectionAlpha]);
const KINDS: ReadonlyMap<DescMethod, CallKind> = new Map<DescMethod, CallKind>([
  [buy, "build"],
  [sell, "build"],
  [swap, "build"],
  [quote, "build"],
  [submit, "submit"],
  [createChallenge, "register"],
  [register, "register"],
  // One asks a node, the other reads up to hundreds of records.
  [getBalances, "query"],
  [listTrades, "query"],
  [getPriority, "open"],
]);

/** Names of the methods whose calls are observed. */
export const OBSERVED_METHODS: readonly string[] = [TradeService, AccountService].flatMap(({ methods }) =>
  methods.map(({ name }) => name),
);

/** What a method requires. A method that is not listed as open needs an API key. */
export function accessOf(method: DescMethod): Access {
  if (OPEN_SERVICES.has(method.parent)) return { kind: undefined, needsKey: false };
  if (method.parent !== TradeService && method.parent !== AccountService) return { kind: undefined, needsKey: true };
  const kind = KINDS.get(method) ?? "read";
  return { kind, needsKey: kind !== "open" && kind !== "register" };
}
