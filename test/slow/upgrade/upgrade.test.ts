import { setTimeout as sleep } from "node:timers/promises";
import bs58 from "bs58";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Tradewire } from "../../../src/client/tradewire.ts";
import { type Sandbox, startSandbox } from "../../../src/sandbox/sandbox.ts";
import { eventually } from "../../support/eventually.ts";
import { startPostgres, type TestPostgres } from "../../support/postgres.ts";
import { type RpcProxy, startRpcProxy } from "../faults/rpc-proxy.ts";
import { DOMAIN, HEAD, MOST_SOLD, OLD, type Service, start, tradeWithOldClient, type Version } from "./versions.ts";

/**
 * An upgrade as it happens in production: the last release and this version side by side on one PostgreSQL and one node,
 * each finishing what the other began.
 */
let postgres: TestPostgres;
let sandbox: Sandbox;
/** What both versions send through, so that a test can hold trades in flight. */
let node: RpcProxy;
let settings: Record<string, string>;
const services = new Map<Version, Service>();
/** A second process of the last release, for a killed one cannot start on the schema of this version. Paused until then. */
let spare: Service;
let wallets = 0;

beforeAll(async () => {
  const found = await startPostgres();
  if (found === undefined) throw new Error("slow:upgrade needs PostgreSQL: install it, or set TEST_DATABASE_URL.");
  postgres = found;
  sandbox = await startSandbox({ slotMs: 100 });
  node = await startRpcProxy(sandbox);
  settings = {
    DATABASE_URL: await postgres.createDatabase(),
    SOLANA_RPC_URL: node.url,
    SOLANA_WS_URL: node.wsUrl,
    SIGN_IN_CHAIN_ID: "localnet",
    KEY_PEPPER: "11".repeat(32),
    TOKEN_KEYS: `k1:${"22".repeat(32)}`,
    PUBLIC_URL: `http://${DOMAIN}`,
  };
  // The old one first: its database is the one that this version finds and migrates under it.
  services.set(OLD, await start(OLD, settings));
  spare = await start(OLD, settings);
  spare.pause();
  services.set(HEAD, await start(HEAD, settings));
}, 180_000);

afterAll(async () => {
  for (const service of [...services.values(), spare]) await service?.kill();
  await node?.close();
  await sandbox?.close();
  await postgres?.stop();
});

const at = (version: Version): Service => services.get(version)!;
const mint = (): string => sandbox.world.tokens.find(({ symbol }) => symbol === "EMBER")!.mint.toString();

async function fundedKey(): Promise<string> {
  const seed = new Uint8Array(32).fill(++wallets);
  const wallet = Tradewire.connect({ baseUrl: at(HEAD).url, wallet: bs58.encode(seed) }).wallet.publicKey.toString();
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "requestAirdrop", params: [wallet, 10e9] });
  await fetch(sandbox.rpcUrl, { method: "POST", headers: { "content-type": "application/json" }, body });
  return bs58.encode(seed);
}

/** Callers of both versions with one wallet, and the key that one of them has registered. */
async function callers(registeredAt: Version): Promise<Map<Version, Tradewire>> {
  const wallet = await fundedKey();
  const first = Tradewire.connect({ baseUrl: at(registeredAt).url, wallet, domain: DOMAIN });
  const { apiKey } = await first.register();
  return new Map(
    [OLD, HEAD].map((version) => [version, Tradewire.connect({ baseUrl: at(version).url, wallet, apiKey })]),
  );
}

const order = () => ({ mint: mint(), solAmount: 0.1, slippage: 0.05, priority: "fast" as const });

describe("clients", () => {
  it("the last release's package trades on this version", async () => {
    expect(await tradeWithOldClient(at(HEAD).url, await fundedKey(), mint())).toEqual({
      bought: "confirmed",
      sold: "confirmed",
    });
  });

  it("this version's library trades on the last release", async () => {
    const client = (await callers(OLD)).get(OLD)!;
    expect((await client.buy(order())).status).toBe("confirmed");
    const { solAmount: _, ...sale } = { ...order(), sellPercent: 100 };
    expect((await client.sell(sale, { maxInputRaw: MOST_SOLD })).status).toBe("confirmed");
  });

  it.runIf(OLD.lacks("max_paths"))("a limit that the last release does not know is refused there by name", async () => {
    const client = (await callers(OLD)).get(OLD)!;
    const refused = await client.buildBuy(order(), { maxPaths: 1 }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "VALIDATION_ERROR", field: "maxPaths" });
  });
});

describe.each([
  [OLD, HEAD],
  [HEAD, OLD],
] as const)("from $name to the other", (from, to) => {
  it("a key registered on the one is known on the other", async () => {
    const clients = await callers(from);
    expect((await clients.get(to)!.keys()).length).toBe(1);
    expect((await clients.get(to)!.buy(order())).status).toBe("confirmed");
  });

  it("a token sealed by the one opens on the other", async () => {
    const clients = await callers(from);
    const built = await clients.get(from)!.buildBuy(order());
    const trade = await clients.get(to)!.submit(built.submissionToken, await clients.get(from)!.sign(built));
    expect(trade.status).toBe("confirmed");
    expect(trade.tradeResult?.inputAmountRaw).toBe("100000000");
  });

  it("a trade that ended on the one has the same end on the other", async () => {
    const clients = await callers(from);
    const built = await clients.get(from)!.buildBuy(order());
    const signed = await clients.get(from)!.sign(built);
    const ended = await clients.get(from)!.submit(built.submissionToken, signed);
    const again = await clients.get(to)!.submit(built.submissionToken, signed);
    const { signature, slot, tradeResult } = ended;
    expect(again).toMatchObject({ signature, slot, tradeResult });
    expect(await clients.get(to)!.getTrade(signature)).toMatchObject({ signature, slot, tradeResult });
  });

  it("a trade that the one leaves behind, killed, is brought to its end by the other", async () => {
    const clients = await callers(from);
    const built = await clients.get(from)!.buildBuy(order());
    const signed = await clients.get(from)!.sign(built);
    // Taken by the node and not sent on: claimed, broadcast, and in no block.
    await node.set({ sends: "drop" });
    const sent = node.sends.length;
    const lost = clients
      .get(from)!
      .submit(built.submissionToken, signed)
      .catch(() => undefined);
    while (node.sends.length === sent) await sleep(10);
    await at(from).kill();
    await node.heal();
    const ended = await endOf(clients.get(to)!, signatureOf(signed));
    expect(ended).toMatchObject({ tradeResult: { inputAmountRaw: "100000000" } });
    clients.get(from)!.close();
    await lost;
    services.set(from, await another(from));
  }, 120_000);
});

it("both versions stop with code 0", async () => {
  for (const version of [HEAD, OLD]) expect([version.name, await at(version).stop()]).toEqual([version.name, 0]);
});

/** A process of this version in place of a killed one, once it builds trades. */
async function another(version: Version): Promise<Service> {
  if (version === HEAD) return start(HEAD, settings);
  spare.resume();
  const client = Tradewire.connect({ baseUrl: spare.url, wallet: await fundedKey(), domain: DOMAIN });
  await client.register();
  await eventually(() => client.buildBuy(order()));
  client.close();
  return spare;
}

const signatureOf = (signed: Uint8Array | string): string => {
  const bytes = typeof signed === "string" ? Buffer.from(signed, "base64") : signed;
  return bs58.encode(bytes.subarray(1, 65));
};

/** Asks how far the trade is, never submitting it again, until it has landed and its amounts are known. */
async function endOf(client: Tradewire, signature: string) {
  for (const untilMs = Date.now() + 40_000; ; await sleep(200)) {
    const trade = await client.getTrade(signature).catch((error) => error);
    const hasLanded = trade.status === "confirmed" || trade.status === "finalized";
    if (hasLanded && trade.tradeResult != null) return trade;
    if (Date.now() > untilMs) throw new Error(`not taken over: ${trade.status ?? trade}`);
  }
}
