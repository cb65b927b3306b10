import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import bs58 from "bs58";
import { type App, startApp } from "../../src/app/app.ts";
import { describeChain } from "../../src/app/chain/embedded-chain.ts";
import type { AppLogger } from "../../src/app/context.ts";
import type { ConnectOptions } from "../../src/client/order/options.ts";
import { Tradewire } from "../../src/client/tradewire.ts";
import { type Environment, parseConfig } from "../../src/config/config.ts";
import type { Now } from "../../src/primitives/clock.ts";
import { createRandom } from "../../src/primitives/random.ts";
import type { VenueId } from "../../src/venues/venue.ts";
import { type PacedSandbox, startPacedSandbox } from "./paced-sandbox.ts";

/** A REST answer: the status and the whole envelope. */
export interface Answer {
  readonly status: number;
  readonly body: {
    success: boolean;
    data?: Record<string, unknown>;
    error?: {
      code: string;
      field?: string;
      message: string;
      doc_url?: string;
      violations?: { field: string; message: string }[];
    };
  };
}

/** The whole service on an embedded chain of its own, as `npm start` runs it, with a caller's helpers. */
export interface TestService {
  readonly app: App;
  readonly url: string;
  /** The embedded chain. @throws Error if the service runs on another node */
  readonly sandbox: PacedSandbox;
  /** One JSON-RPC call to the chain. */
  rpc<T>(method: string, params?: unknown[]): Promise<T>;
  /** A registered wallet holding SOL. */
  newClient(sol?: number, options?: Partial<ConnectOptions>): Promise<Tradewire>;
  /** A REST call; without a `body`, a GET. A body of text is sent as it is. */
  call(path: string, body?: object | string, apiKey?: string): Promise<Answer>;
  /** A token of the world that trades on the venue. */
  mintOn(venue: VenueId, symbol?: string): string;
  close(): Promise<void>;
}

/**
 * Settings under which the machine's speed decides nothing: slots are short, and neither old state, a slow node nor a long queue refuses
 * a build. Tests of those refusals set their own bounds.
 */
export const PATIENT: Environment = {
  PORT: "0",
  ADMIN_PORT: "0",
  BLOCKHASH_MAX_AGE_MS: "30000",
  STATE_MAX_AGE_MS: "30000",
  BUILD_QUEUE_MS: "10000",
  HEADERS_TIMEOUT_MS: "60000",
  REQUEST_TIMEOUT_MS: "300000",
  SOLANA_RPC_TIMEOUT_MS: "60000",
  SHADOW_EXECUTION: "off",
};
const SLOT_MS = "50";

interface StartOptions {
  readonly now?: Now;
  readonly logger?: AppLogger;
  readonly onForeignChain?: (message: string) => void;
}

let wallets = 0;

/** Starts a service on an embedded chain of its own, or on the node that `environment` names. */
export async function startTestService(
  environment: Environment = {},
  options: StartOptions = {},
): Promise<TestService> {
  const dataDir = mkdtempSync(join(tmpdir(), "tradewire-test-"));
  const removeData = () => rmSync(dataDir, { recursive: true, force: true });
  const { app, chain } = await start({ DATA_DIR: dataDir, ...environment }, options).catch((error) => {
    removeData();
    throw error;
  });
  const sandbox = () => {
    if (chain === undefined) throw new Error("the service runs on another node");
    return chain;
  };
  const rpcUrl = chain?.rpcUrl ?? environment.SOLANA_RPC_URL!;
  const rpc = async <T>(method: string, params: unknown[] = []): Promise<T> => {
    const response = await fetch(rpcUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const answer = (await response.json()) as { result: T; error?: { message: string } };
    if (answer.error !== undefined) throw new Error(answer.error.message);
    return answer.result;
  };
  return {
    app,
    url: app.url,
    get sandbox() {
      return sandbox();
    },
    rpc,
    async newClient(sol = 100, options = {}) {
      const seed = createRandom(0x5eed + wallets++).bytes(32);
      const client = Tradewire.connect({
        baseUrl: app.url,
        wallet: bs58.encode(seed),
        decimals: knownDecimals(chain),
        timeoutMs: 300_000,
        ...options,
      });
      const address = client.wallet.publicKey.toString();
      if (sol > 0) await rpc("requestAirdrop", [address, sol * 1e9]);
      await client.register();
      return client;
    },
    async call(path, body, apiKey) {
      const response = await fetch(`${app.url}${path}`, {
        method: body === undefined ? "GET" : "POST",
        headers: {
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
        },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      return { status: response.status, body: (await response.json()) as Answer["body"] };
    },
    mintOn(venue, symbol) {
      const token = sandbox().world.tokens.find(
        (entry) => entry.venue === venue && (symbol === undefined || entry.symbol === symbol),
      );
      if (token === undefined) throw new Error(`no token on ${venue}`);
      return token.mint.toString();
    },
    async close() {
      await app.close();
      await chain?.close();
      removeData();
    },
  };
}

async function start(environment: Environment, options: StartOptions) {
  const logged: string[] = [];
  const log = (facts: object, message: string) => logged.push(`${message} ${JSON.stringify(facts)}`);
  const config = parseConfig({ ...PATIENT, SANDBOX_SLOT_MS: SLOT_MS, ...environment });
  const chain =
    config.solanaRpcUrls === undefined
      ? await startPacedSandbox({
          seed: config.sandboxSeed,
          slotMs: config.sandboxSlotMs,
          ...(config.sandboxPrograms === undefined ? {} : { programsDir: config.sandboxPrograms }),
        })
      : undefined;
  try {
    const app = await startApp({
      config,
      own: process,
      now: Date.now,
      logger: { info: log, warn: log, error: log },
      ...(chain === undefined ? {} : { chain: describeChain(chain) }),
      ...options,
    });
    return { app, chain };
  } catch (error) {
    await chain?.close();
    throw error;
  }
}

/** What a caller with a node of its own knows. */
function knownDecimals(chain: PacedSandbox | undefined): Readonly<Record<string, number>> {
  return Object.fromEntries((chain?.world.tokens ?? []).map(({ mint, decimals }) => [mint.toString(), decimals]));
}
