import type { CallRecord } from "../../api/call/call-record.ts";
import type { AppContext } from "../context.ts";

/** Lines of one code in a period, of submits that are not the first of their message. */
const MOST_OF_A_CODE = 10;
/** Milliseconds. */
const PERIOD_MS = 60_000;
/** The stage that a submit ends which follows its message to the end: one a message. */
const FOLLOWED = "claim";

interface Lines {
  written: number;
  leftOut: number;
}

/**
 * Logs submits and, at level debug or below, every call. Never logs keys, tokens or transaction bytes.
 *
 * A submit that follows its message always gets a line. Those refused before, and repetitions of one that is followed already, anybody may
 * send by the thousand in a second: of these, ten of each code in a minute, then their number.
 */
export class CallLog {
  readonly #logger: AppContext["logger"];
  readonly #logsAll: boolean;
  /** By code: as many as there are codes. */
  readonly #lines = new Map<string, Lines>();
  #timer: NodeJS.Timeout | undefined;

  constructor({
    config,
    logger,
  }: { readonly config: Pick<AppContext["config"], "logLevel"> } & Pick<AppContext, "logger">) {
    this.#logger = logger;
    this.#logsAll = config.logLevel === "debug" || config.logLevel === "trace";
  }

  /** Logs a finished call, or counts it. */
  add(record: CallRecord): void {
    const isSubmit = record.method === "Submit";
    if (!this.#logsAll && (!isSubmit || !this.#isDue(record))) return;
    const { requestId, method, code, durationMs, keyId, stages } = record;
    const facts = {
      requestId,
      method,
      code,
      ms: Math.round(durationMs * 1_000) / 1_000,
      keyId,
      stages: stages.describe(),
    };
    if (isSubmit) this.#logger.info(facts, "submit");
    else this.#logger.debug?.(facts, "call");
  }

  /** Logs what the last period left out. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const [code, { leftOut }] of this.#lines)
      if (leftOut > 0) this.#logger.info({ method: "Submit", code, leftOut }, "more submits like this were left out");
    this.#lines.clear();
  }

  #isDue({ code, stages }: CallRecord): boolean {
    if (stages.names.includes(FOLLOWED)) return true;
    this.#timer ??= setTimeout(() => this.close(), PERIOD_MS).unref();
    let lines = this.#lines.get(code);
    if (lines === undefined) {
      lines = { written: 0, leftOut: 0 };
      this.#lines.set(code, lines);
    }
    if (lines.written < MOST_OF_A_CODE) {
      lines.written += 1;
      return true;
    }
    lines.leftOut += 1;
    return false;
  }
}
