import { randomBytes } from "node:crypto";
import { performance } from "node:perf_hooks";
import type { CallObserver } from "../../api/call/call-record.ts";
import { type Admin, type AdminParts, startAdmin } from "../../api/observe/admin.ts";
import type { Metrics } from "../../api/observe/metrics.ts";
import { Tracing } from "../../api/observe/tracing.ts";
import type { AppContext } from "../context.ts";
import { CallLog } from "./call-log.ts";

/** Everything that sees each finished call: metrics, traces if a collector is set, and the log. */
export function observeCalls(context: AppContext, metrics: Metrics): CallObserver {
  const { config, warn, closers } = context;
  const tracing =
    config.otelExporterOtlpEndpoint === undefined
      ? undefined
      : closers.keep(
          new Tracing({
            endpoint: config.otelExporterOtlpEndpoint,
            headers: config.otelExporterOtlpHeaders,
            serviceName: config.otelServiceName,
            percent: config.tracePercent,
            epochOffsetMs: performance.timeOrigin,
            randomBytes,
            warn,
          }),
        );
  const log = closers.keep(new CallLog(context));
  return (record) => {
    metrics.record(record);
    tracing?.record(record);
    log.add(record);
  };
}

/** Starts the admin port. If it is taken, logs an error and uses a free one: trading matters more than metrics. */
export async function openAdmin(
  { config, logger, closers }: AppContext,
  parts: Pick<AdminParts, "metrics" | "readiness">,
): Promise<Admin> {
  const options = { ...parts, host: config.adminHost, port: config.adminPort };
  try {
    return closers.keep(await startAdmin(options));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    const admin = closers.keep(await startAdmin({ ...options, port: 0 }));
    logger.error({ wanted: options.port, port: admin.port }, "the admin port is taken; using a free one");
    return admin;
  }
}
