import { type Api, createApi } from "../../src/api/server.ts";
import type { ApiSettings } from "../../src/api/settings.ts";
import { DEFAULT_API_SETTINGS } from "./api-settings.ts";
import { createFakeAccounts, createFakeTrades, type FakeTrades } from "./fake-trades.ts";

export interface Edge extends Api {
  readonly host: string;
  readonly port: number;
  readonly trades: FakeTrades;
  /** What was logged as an error. */
  readonly errors: readonly object[];
}

/** The edge on a free port, over fakes. */
export async function startEdge(changes: Partial<ApiSettings> = {}): Promise<Edge> {
  const trades = createFakeTrades();
  const accounts = createFakeAccounts();
  const errors: object[] = [];
  const api = await createApi({
    trades,
    accounts,
    keys: accounts,
    logger: { warn() {}, error: (facts) => errors.push(facts) },
    settings: { ...DEFAULT_API_SETTINGS, port: 0, drainMs: 2_000, ...changes },
    serving: () => true,
  });
  return { ...api, ...(await api.listen()), trades, errors };
}
