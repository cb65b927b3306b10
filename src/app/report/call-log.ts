import type { CallRecord } from "../../api/call/call-record.ts";
import type { AppContext } from "../context.ts";

/** Logs every submit and, at level debug or below, every call. Never logs keys, tokens or transaction bytes. */
export function logCall({ config, logger }: Pick<AppContext, "config" | "logger">, record: CallRecord): void {
  const isSubmit = record.method === "Submit";
  if (!isSubmit && config.logLevel !== "debug" && config.logLevel !== "trace") return;
  const { requestId, method, code, durationMs, keyId, stages } = record;
  const facts = {
    requestId,
    method,
    code,
    ms: Math.round(durationMs * 1_000) / 1_000,
    keyId,
    stages: stages.describe(),
  };
  if (isSubmit) logger.info(facts, "submit");
  else logger.debug?.(facts, "call");
}
