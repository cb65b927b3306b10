import { mkdtempSync, rmSync } from "node:fs";
import { Agent } from "node:http";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SOL_MINT } from "../../src/solana/programs.ts";
import { ask, register, type ServiceProcess, signBuild, startServiceProcess } from "../slow/edge/service-processes.ts";
import { eventually } from "../support/eventually.ts";
import { type PacedSandbox, startPacedSandbox } from "../support/paced-sandbox.ts";
import { PATIENT, startTestService, type TestService } from "../support/service.ts";
import { createTestWallet } from "../support/wallet.ts";

const ORDER = { solAmount: 0.2, slippage: 0.3, priority: "fast" } as const;
const CALLERS = 3;
const TRADES = 4;
/** How much later notices arrive than answers of the node. */
const LATE_MS = 900;

/** Nodes whose notices of accounts and slots come late, while they answer calls at once: they report what landed before what changed. */
describe.each([1, 2])("with the late notices of %i nodes", (nodes) => {
  let sandbox: PacedSandbox;
  let service: TestService;
  let notices: LateNotices;
  beforeAll(async () => {
    sandbox = await startPacedSandbox({ slotMs: 50 });
    notices = await lateNotices(sandbox.wsUrl);
    // The same node by another name counts as another.
    const names = (url: string) => [url, url.replace("127.0.0.1", "localhost")].slice(0, nodes).join(",");
    service = await startTestService({
      SOLANA_RPC_URLS: names(sandbox.rpcUrl),
      SOLANA_WS_URLS: names(notices.url),
      STATE_MAX_AGE_MS: "10000",
    });
  });
  afterAll(async () => {
    await service?.close();
    await notices?.close();
    await sandbox?.close();
  });

  test("a trade that follows one's own at once is quoted on what that has left", async () => {
    const callers = lonelyTokens(sandbox).map(async ({ mint, venue }) => {
      const client = await service.newClient(0);
      await airdrop(sandbox, `${client.wallet.publicKey}`);
      for (let trade = 0; trade < TRADES; trade++) {
        const built = await eventually(() => client.buildBuy({ ...ORDER, mint: `${mint}` }));
        const { tradeResult } = await client.submit(built.submissionToken, await client.sign(built));
        expect(tradeResult!.outputAmountRaw, `${venue}, trade ${trade}`).toBe(built.estimates!.outputAmountRaw);
      }
    });
    await Promise.all(callers);
  });
});

test("a trade that another worker of the machine has followed to its end counts as one's own", async () => {
  const sandbox = await startPacedSandbox({ slotMs: 50 });
  const notices = await lateNotices(sandbox.wsUrl);
  const dataDir = mkdtempSync(join(tmpdir(), "tradewire-test-"));
  let service: ServiceProcess | undefined;
  // Connections go to the workers in turn, so each call has one of its own.
  const agent = new Agent({ keepAlive: false });
  try {
    const { PORT: _, ADMIN_PORT: __, ...patient } = PATIENT;
    service = await startServiceProcess(
      {
        ...(patient as Record<string, string>),
        ...{ DATA_DIR: dataDir, PUBLIC_URL: "http://127.0.0.1:8080", SIGN_IN_CHAIN_ID: "localnet", LAME_DUCK_MS: "0" },
        ...{ SOLANA_RPC_URLS: sandbox.rpcUrl, SOLANA_WS_URLS: notices.url, STATE_MAX_AGE_MS: "10000" },
      },
      ["--workers", "2"],
    );
    const { port } = service;
    const callers = lonelyTokens(sandbox).map(async ({ mint, venue }) => {
      const wallet = createTestWallet();
      await airdrop(sandbox, `${wallet.address}`);
      const { apiKey: key } = await register(port, wallet);
      for (let trade = 0; trade < 2 * TRADES; trade++) {
        const built = await eventually(async () => {
          const answer = await ask(port, "/v1/tx/buy", { body: { ...ORDER, mint: `${mint}` }, key, agent });
          if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
          return answer.body;
        });
        const { body } = await ask(port, "/v1/tx/submit", { body: signBuild(built.data, wallet), key, agent });
        expect(body.data?.tradeResult.outputAmountRaw, `${venue}, trade ${trade}: ${JSON.stringify(body)}`).toBe(
          built.data.estimates.outputAmountRaw,
        );
      }
    });
    await Promise.all(callers);
  } finally {
    await service?.stop();
    await notices.close();
    await sandbox.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
});

/** Tokens whose only market pairs them with SOL, one for each caller. */
function lonelyTokens({ world: { tokens } }: PacedSandbox): readonly PacedSandbox["world"]["tokens"][number][] {
  const isAlone = ({ mint }: (typeof tokens)[number]) =>
    tokens.every(({ quoteMint }) => quoteMint !== mint) && tokens.filter((other) => other.mint === mint).length === 1;
  const alone = tokens.filter((token) => token.quoteMint === SOL_MINT && isAlone(token)).slice(0, CALLERS);
  expect(alone).toHaveLength(CALLERS);
  return alone;
}

async function airdrop({ rpcUrl }: PacedSandbox, address: string): Promise<void> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "requestAirdrop", params: [address, 10_000_000_000] });
  await fetch(rpcUrl, { method: "POST", headers: { "content-type": "application/json" }, body });
}

interface LateNotices {
  readonly url: string;
  close(): Promise<void>;
}

/** A TCP proxy that holds back everything that comes from behind it. */
async function lateNotices(target: string): Promise<LateNotices> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const server: Server = createServer((inside) => {
    const outside = connect(Number(port), hostname);
    inside.on("data", (chunk) => outside.write(chunk));
    outside.on("data", (chunk) => setTimeout(() => inside.write(chunk), LATE_MS));
    for (const socket of [inside, outside]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        inside.destroy();
        outside.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
