import { type ChildProcess, spawn } from "node:child_process";
import http from "node:http";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import bs58 from "bs58";
import type { TestWallet } from "../../support/wallet.ts";

/** The whole service in a process of its own, as `npm start` runs it. */
export interface ServiceProcess {
  readonly port: number;
  readonly adminPort: number;
  /** Everything it wrote, to either stream. */
  output(): string;
  signal(name: NodeJS.Signals): void;
  /** Asks it to end, and resolves with its exit code. */
  stop(): Promise<number | null>;
}

/** Ends one that hangs, on however busy a machine. */
const READY_MS = 300_000;

export async function startServiceProcess(
  settings: Readonly<Record<string, string>>,
  argv: readonly string[] = [],
): Promise<ServiceProcess> {
  const port = Number(settings.PORT ?? (await freePort()));
  const adminPort = Number(settings.ADMIN_PORT ?? (await freePort()));
  const main = ["--import", "./src/process/compile-cache.js", "src/process/main.ts"];
  const child: ChildProcess = spawn(process.execPath, [...main, ...argv], {
    env: { PATH: process.env.PATH, ...settings, PORT: `${port}`, ADMIN_PORT: `${adminPort}` },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.on("data", (chunk) => {
      output += chunk;
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  for (const untilMs = Date.now() + READY_MS; !/is ready/.test(output); await sleep(20)) {
    if (child.exitCode !== null || Date.now() > untilMs) {
      child.kill("SIGKILL");
      throw new Error(output);
    }
  }
  return {
    port,
    adminPort,
    output: () => output,
    signal: (name) => void child.kill(name),
    stop() {
      child.kill("SIGTERM");
      return ended;
    },
  };
}

/** A REST answer; status 0 and the reason where there was none. */
export interface RestAnswer {
  readonly status: number;
  readonly error: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what tests are about
  readonly body: any;
}

/** One call on an agent's connections. Never rejects. A call without a body is a GET. */
export function ask(
  port: number,
  path: string,
  options: { readonly body?: object; readonly key?: string; readonly agent?: http.Agent; readonly method?: string },
): Promise<RestAnswer> {
  const payload = options.body === undefined ? undefined : JSON.stringify(options.body);
  return new Promise((resolve) => {
    const fail = (error: Error) => resolve({ status: 0, error: error.message, body: undefined });
    const request = http.request(
      {
        host: "127.0.0.1",
        port,
        path,
        ...(options.agent === undefined ? {} : { agent: options.agent }),
        method: options.method ?? (payload === undefined ? "GET" : "POST"),
        headers: {
          ...(payload === undefined
            ? {}
            : { "content-type": "application/json", "content-length": Buffer.byteLength(payload) }),
          ...(options.key === undefined ? {} : { authorization: `Bearer ${options.key}` }),
        },
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk) => {
          text += chunk;
        });
        response.on("error", fail);
        response.on("end", () => {
          resolve({
            status: response.statusCode ?? 0,
            error: undefined,
            body: text === "" ? undefined : JSON.parse(text),
          });
        });
      },
    );
    request.on("error", fail);
    request.end(payload);
  });
}

/** Registers a wallet and returns its key. */
export async function register(port: number, wallet: TestWallet): Promise<{ apiKey: string; keyId: string }> {
  const walletAddress = wallet.address.toString();
  const { body } = await ask(port, "/v1/auth/challenge", { body: { walletAddress } });
  const { message } = body.data;
  const signature = bs58.encode(wallet.sign(message));
  return (await ask(port, "/v1/auth/register", { body: { walletAddress, message, signature } })).body.data;
}

/** One JSON-RPC call to a node. */
export async function rpc(url: string, method: string, params: unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  return ((await response.json()) as { result: unknown }).result;
}

/** What a caller hands in of a build. */
export function signBuild(built: { submissionToken: string; unsignedTransaction: string }, wallet: TestWallet) {
  const transaction = Buffer.from(built.unsignedTransaction, "base64");
  transaction.set(wallet.sign(transaction.subarray(65)), 1);
  return { submissionToken: built.submissionToken, signedTransaction: transaction.toString("base64") };
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
