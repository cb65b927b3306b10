import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { Health } from "../../../gen/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "../../../gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionAlpha } from "../../../gen/grpc/reflection/v1alpha/reflection_pb.ts";
import { AccountService } from "../../../gen/tradewire/v1/account_pb.ts";
import { TradeService } from "../../../gen/tradewire/v1/trade_pb.ts";

const OPEN_SERVICES: ReadonlySet<DescService> = new Set([Health, ServerReflection, ServerReflectionAlpha]);
const OPEN_METHODS: ReadonlySet<DescMethod> = new Set([
  TradeService.method.getPriority,
  AccountService.method.createChallenge,
  AccountService.method.register,
]);

/** True when a call needs an API key. Whatever is not listed as open does. */
export function needsKey(method: DescMethod): boolean {
  return !OPEN_METHODS.has(method) && !OPEN_SERVICES.has(method.parent);
}
