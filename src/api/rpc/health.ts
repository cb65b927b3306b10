import type { DescService } from "@bufbuild/protobuf";
import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import { type Health, HealthCheckResponse_ServingStatus as Status } from "../../../gen/grpc/health/v1/health_pb.ts";
import { sleep } from "../../trade/submit/waiting.ts";

/** How often a watch looks for a changed status. */
const WATCH_MS = 1_000;

/** Name under which health reports whether trades can be built. No other service pauses with it. */
const BUILDS = "builds";

/** What health is judged by. */
interface HealthSources {
  /** False once the process wants no new callers. */
  isUp(): boolean;
  canBuild(): boolean;
}

/** The gRPC health protocol. The empty name stands for the whole service, `builds` for building trades. */
export function createHealth(
  services: readonly DescService[],
  { isUp, canBuild }: HealthSources,
): Partial<ServiceImpl<typeof Health>> {
  const listed = ["", ...services.map((service) => service.typeName)];
  const known = new Set([...listed, BUILDS]);
  const status = (name: string) => (isUp() && (name !== BUILDS || canBuild()) ? Status.SERVING : Status.NOT_SERVING);
  return {
    check({ service }) {
      if (!known.has(service)) throw new ConnectError(`unknown service ${service}`, Code.NotFound);
      return { status: status(service) };
    },

    list() {
      return { statuses: Object.fromEntries(listed.map((name) => [name, { status: status(name) }])) };
    },

    async *watch({ service }, { signal }) {
      let last: Status | undefined;
      while (!signal.aborted) {
        const now = known.has(service) ? status(service) : Status.SERVICE_UNKNOWN;
        if (now !== last) yield { status: now };
        last = now;
        await sleep(WATCH_MS, signal);
      }
    },
  };
}
