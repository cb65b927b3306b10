import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, it } from "vitest";
import { createAccounts } from "../../../src/accounts/accounts.ts";
import { createKeyDirectory } from "../../../src/accounts/keys/key-directory.ts";
import type { Accounts } from "../../../src/accounts/port.ts";
import { openStore, type Store } from "../../../src/accounts/store/store.ts";
import { TradewireError } from "../../../src/errors/tradewire-error.ts";
import { Address } from "../../../src/primitives/address.ts";
import { hex } from "../../../src/primitives/bytes.ts";
import { createRandom } from "../../../src/primitives/random.ts";
import { startPostgres } from "../../support/postgres.ts";
import { createTestWallet } from "../../support/wallet.ts";
import { ms, percentile, report } from "./table.ts";

const random = createRandom(23);
const pepper = random.bytes(32);
const now = Date.now;
/** Points of small order: one constant signature fits many messages under such a key. */
const SMALL_ORDER = [
  "0100000000000000000000000000000000000000000000000000000000000000",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "0000000000000000000000000000000000000000000000000000000000000000",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
].map((digits) => Address.from(hex(digits)));

let dataDir: string;
beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), "tradewire-edge-accounts-"));
});
const postgres = await startPostgres();
if (postgres === undefined) process.stderr.write("No PostgreSQL found: rows 23 and 25 are measured on SQLite alone.\n");
afterAll(async () => {
  await postgres?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

describe.each(postgres === undefined ? ["SQLite"] : ["SQLite", "PostgreSQL"])("on %s", (database) => {
  const stores: Store[] = [];
  let databaseUrl: string | undefined;

  /** One process of the service, as far as accounts go: its own connection to the database and its own memory of keys. */
  async function startProcess(publicUrl = "https://trade.example"): Promise<{
    readonly accounts: Accounts;
    readonly keys: ReturnType<typeof createKeyDirectory>;
  }> {
    const store = await openStore({ dataDir, databaseUrl });
    stores.push(store);
    const keys = createKeyDirectory({ store, pepper, now, epochMs: now });
    const accounts = createAccounts({
      store,
      keys,
      pepper,
      publicUrl: () => publicUrl,
      chainId: "mainnet",
      maxKeysPerAccount: 1_000,
      now,
      randomBytes,
    });
    return { accounts, keys };
  }

  let processes: Awaited<ReturnType<typeof startProcess>>[];
  beforeAll(async () => {
    if (database === "PostgreSQL") databaseUrl = await postgres!.createDatabase();
    processes = [await startProcess(), await startProcess(), await startProcess()];
  });
  afterAll(async () => {
    for (const { keys } of processes) keys.close();
    for (const store of stores) await store.close();
  });

  it("23: a revoked key stops working everywhere", async () => {
    const revokedOn = processes[0]!;
    const wallet = createTestWallet();
    const registerKey = async () => {
      const { message } = await revokedOn.accounts.createChallenge(wallet.address);
      return revokedOn.accounts.register({
        wallet: wallet.address,
        message,
        signature: wallet.sign(message),
        label: "",
        revokeOthers: false,
      });
    };
    const issued = [];
    for (let i = 0; i < 40; i++) issued.push(await registerKey());
    const principal = await revokedOn.keys.authenticate(issued[0]!.apiKey);
    for (const { keys } of processes) for (const { apiKey } of issued) await keys.authenticate(apiKey);

    const delaysMs: number[] = [];
    let late = 0;
    await Promise.all(
      issued.slice(1).map(async ({ apiKey, keyId }, i) => {
        await sleep(i * 97);
        await revokedOn.accounts.revokeKey(principal, keyId);
        const revokedAtMs = performance.now();
        await Promise.all(
          processes.map(async ({ keys }) => {
            let acceptedAtMs = revokedAtMs;
            // The key is used all the time, and for a while after it was first refused.
            for (let refusals = 0; refusals < 20; ) {
              try {
                await keys.authenticate(apiKey);
                acceptedAtMs = performance.now();
                refusals = 0;
              } catch {
                refusals++;
              }
              await sleep(10);
            }
            delaysMs.push(acceptedAtMs - revokedAtMs);
            if (acceptedAtMs - revokedAtMs > 2_000) late++;
          }),
        );
      }),
    );
    const p50 = percentile(delaysMs, 0.5);
    report(
      23,
      `A revoked key stops on every process, ${database}`,
      "0 accepted > 2 s later, p50 ≤ 1 s",
      `${delaysMs.length} times: ${late} later than 2 s, p50 ${ms(p50)}, last ${ms(Math.max(...delaysMs))}`,
      late === 0 && p50 <= 1_000,
    );
  });

  it("25: forged registrations are refused", async () => {
    const here = processes[0]!.accounts;
    const there = (await startProcess("https://other.example")).accounts;
    const wallet = createTestWallet();
    const thief = createTestWallet();
    const used = await here.createChallenge(wallet.address);
    const proofOf = (message: string, signer = wallet) => ({
      wallet: wallet.address,
      message,
      signature: signer.sign(message),
      label: "",
      revokeOthers: false,
    });
    await here.register(proofOf(used.message));
    const elsewhere = await there.createChallenge(wallet.address);
    const fresh = await here.createChallenge(wallet.address);
    const forThief = await here.createChallenge(thief.address);
    const identity = new Uint8Array(64);
    identity[0] = 1;
    const forgeries: (() => Promise<unknown>)[] = [
      () => here.register(proofOf(used.message)),
      () => here.register(proofOf(elsewhere.message)),
      () => here.register(proofOf(fresh.message, thief)),
      () => here.register(proofOf(forThief.message)),
      () => here.register(proofOf(fresh.message.replace("Nonce: ", "Nonce: 0"))),
      () => here.register(proofOf(fresh.message.replace("trade.example", "evil.example"))),
      () => here.register({ ...proofOf(fresh.message), signature: random.bytes(64) }),
      () => here.register({ ...proofOf(fresh.message), signature: identity }),
      () =>
        here.register({
          ...proofOf(fresh.message),
          wallet: SMALL_ORDER[random.u32() % SMALL_ORDER.length]!,
          signature: identity,
        }),
      () => here.createChallenge(SMALL_ORDER[random.u32() % SMALL_ORDER.length]!),
    ];
    let accepted = 0;
    let crashed = 0;
    for (let i = 0; i < 10_000; i++) {
      try {
        await forgeries[i % forgeries.length]!();
        accepted++;
      } catch (error) {
        if (!(error instanceof TradewireError)) crashed++;
      }
    }
    await here.register(proofOf(fresh.message));
    report(
      25,
      `Forged registrations: replayed, other domain, other signer, small order, ${database}`,
      "0 of 10,000 accepted",
      `${accepted} of 10,000 accepted, ${crashed} crashes; the untouched challenge still works`,
      accepted === 0 && crashed === 0,
    );
  });
});
