import { randomBytes } from "node:crypto";
import { openDatabaseClock } from "../accounts/database-clock.ts";
import { createKeyDirectory } from "../accounts/keys/key-directory.ts";
import { requirePepper } from "../accounts/keys/require-pepper.ts";
import { StoredMarketIndex } from "../accounts/market-index.ts";
import { loadSecrets } from "../accounts/secrets.ts";
import { startSweeping } from "../accounts/store/retention.ts";
import { openStore } from "../accounts/store/store.ts";
import { monotonicMs } from "../primitives/clock.ts";
import type { AppContext } from "./context.ts";

const DAY_MS = 24 * 3_600_000;

/** The database, its clock, the secrets and the API keys in memory. */
export type AccountParts = Awaited<ReturnType<typeof openAccounts>>;

/** Opens the database. @throws Error if it cannot be used, or if its keys were hashed with another pepper */
export async function openAccounts({ config, wallMs, steadyMs, warn, closers }: AppContext) {
  const { keyPepper, tokenKeys } = config;
  const secrets = loadSecrets(config.dataDir, { keyPepper, tokenKeys }, randomBytes);
  const store = closers.keep(await openStore({ dataDir: config.dataDir, databaseUrl: config.databaseUrl }));
  await requirePepper(store, secrets.keyPepper);
  const lives = {
    tradesMs: config.keepTradesHours * 3_600_000,
    revokedMs: config.revokedKeyDays * DAY_MS,
    idleMs: config.idleKeyDays * DAY_MS,
    unusedMs: config.unusedKeyDays * DAY_MS,
    marketsMs: config.keepMarketsDays * DAY_MS,
  };
  const clock = closers.keep(await openDatabaseClock(store, wallMs, monotonicMs));
  closers.add(startSweeping(store, lives, { now: clock.now, randomBytes, warn }));
  const keys = closers.keep(
    createKeyDirectory({ store, pepper: secrets.keyPepper, now: monotonicMs, epochMs: clock.now }),
  );
  /** Opens the index of the markets of a chain. @param network its genesis hash */
  const openMarketIndex = (network: string) =>
    closers.keep(new StoredMarketIndex({ store, now: clock.now, steadyMs, warn, network }));
  return { secrets, store, clock, keys, openMarketIndex };
}
