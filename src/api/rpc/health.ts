import type { DescService } from "@bufbuild/protobuf";
import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import { type Health, HealthCheckResponse_ServingStatus as Status } from "../../../gen/grpc/health/v1/health_pb.ts";

/** How often a watch looks for a changed status. */
const WATCH_MS = 1_000;

/** The gRPC health protocol. The empty name stands for the whole service. */
export function createHealth(
  services: readonly DescService[],
  serving: () => boolean,
): Partial<ServiceImpl<typeof Health>> {
  const known = new Set(["", ...services.map((service) => service.typeName)]);
  const status = () => (serving() ? Status.SERVING : Status.NOT_SERVING);
  return {
    check({ service }) {
      if (!known.has(service)) throw new ConnectError(`unknown service ${service}`, Code.NotFound);
      return { status: status() };
    },

    list() {
      const now = status();
      return { statuses: Object.fromEntries(Array.from(known, (service) => [service, { status: now }])) };
    },

    async *watch({ service }, { signal }) {
      let last: Status | undefined;
      while (!signal.aborted) {
        const now = known.has(service) ? status() : Status.SERVICE_UNKNOWN;
        if (now !== last) yield { status: now };
        last = now;
        await pause(WATCH_MS, signal);
      }
    },
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}
