import { Api } from "../../src/api/server.ts";
import type { ApiSettings } from "../../src/api/settings.ts";
import { monotonicMs } from "../../src/primitives/clock.ts";
import { DEFAULT_API_SETTINGS } from "./api-settings.ts";
import { createFakeAccounts, createFakeTrades, type FakeTrades } from "./fake-trades.ts";

export interface Edge extends Pick<Api, "fastify" | "limits" | "load" | "drain" | "close"> {
  readonly host: string;
  readonly port: number;
  readonly trades: FakeTrades;
  /** The facts of every error logged. */
  readonly errors: readonly object[];
  /** The messages of every warning logged. */
  readonly warnings: readonly string[];
}

/** The edge on a free port, over fakes. `nowMs` is the clock of limits and stages. */
export async function startEdge(changes: Partial<ApiSettings> = {}, nowMs = monotonicMs): Promise<Edge> {
  const trades = createFakeTrades();
  const accounts = createFakeAccounts();
  const errors: object[] = [];
  const warnings: string[] = [];
  const api = new Api({
    nowMs,
    wallMs: Date.now,
    requestIdPrefix: "test",
    trades,
    accounts,
    keys: accounts,
    logger: { warn: (_, message) => warnings.push(message), error: (facts) => errors.push(facts) },
    settings: { ...DEFAULT_API_SETTINGS, port: 0, drainMs: 2_000, ...changes },
    canBuild: () => true,
  });
  return {
    ...(await api.listen()),
    fastify: api.fastify,
    limits: api.limits,
    load: () => api.load(),
    drain: () => api.drain(),
    close: () => api.close(),
    trades,
    errors,
    warnings,
  };
}
