import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../..");
const START_MS = 120_000;

// biome-ignore lint/suspicious/noExplicitAny: the shape of answers is what the tests are about
export type Json = any;

/** One answer of the REST interface: the status, the headers and the JSON body. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
}

/** A service started with `npm start`, and what its start page prints and names. Nothing else is known of it. */
export interface StartedService {
  readonly url: string;
  readonly chainUrl: string;
  /** Base58 of the demo wallet's 64-byte secret key. */
  readonly secretKey: string;
  readonly apiKey: string;
  /** Mints of the embedded chain by symbol. */
  readonly mints: ReadonlyMap<string, string>;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  /** POST with the demo wallet's key; `apiKey: null` sends none. Text bodies go out as they are. */
  post(path: string, body: unknown, options?: PostOptions): Promise<Answer>;
  stop(): Promise<void>;
}

export interface PostOptions {
  readonly apiKey?: string | null;
  readonly headers?: Record<string, string>;
}

/** Runs `npm start` with these settings, in a folder and on ports of its own. */
export async function startService(settings: Readonly<Record<string, string>> = {}): Promise<StartedService> {
  const folder = mkdtempSync(join(tmpdir(), "tradewire-spec-"));
  const [PORT, ADMIN_PORT] = await freePorts(2);
  // A group of its own: npm's child ends with npm.
  const child = spawn("npm", ["start"], {
    cwd: ROOT,
    detached: true,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      PORT,
      ADMIN_PORT,
      SANDBOX_PORT: "0",
      DATA_DIR: folder,
      ...settings,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let page = "";
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const kill = () => {
    try {
      process.kill(-child.pid!, "SIGKILL");
    } catch {
      // Already gone.
    }
  };
  process.once("exit", kill);
  const stop = async () => {
    kill();
    process.off("exit", kill);
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  const ready = new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`no start page:\n${page}`)), START_MS);
    const done = (finish: () => void) => {
      clearTimeout(late);
      finish();
    };
    child.once("exit", () => done(() => reject(new Error(`npm start ended:\n${page}`))));
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk) => {
        page += chunk;
        if (page.includes("Try it")) done(resolve);
      });
    }
  });
  try {
    await ready;
  } catch (error) {
    await stop();
    throw error;
  }
  const url = `http://127.0.0.1:${PORT}`;
  const secrets = readFileSync(/secrets +(\S+)/.exec(page)![1]!, "utf8");
  const apiKey = / API_KEY=(api_\w+)/.exec(secrets)![1]!;
  return {
    url,
    chainUrl: /JSON-RPC +(http:\S+)/.exec(page)![1]!,
    secretKey: / KEY=(\w+)/.exec(secrets)![1]!,
    apiKey,
    mints: new Map([...page.matchAll(/^ {4}([A-Z]+) +([1-9A-HJ-NP-Za-km-z]{32,44}) /gm)].map((m) => [m[1]!, m[2]!])),
    get: (path, headers = {}) => answerOf(fetch(`${url}${path}`, { headers })),
    post: (path, body, options = {}) => {
      const key = options.apiKey === undefined ? apiKey : options.apiKey;
      return answerOf(
        fetch(`${url}${path}`, {
          method: "POST",
          headers: {
            "content-type": "application/json",
            ...(key === null ? {} : { authorization: `Bearer ${key}` }),
            ...options.headers,
          },
          body: typeof body === "string" ? body : JSON.stringify(body),
        }),
      );
    },
    stop,
  };
}

async function answerOf(response: Promise<Response>): Promise<Answer> {
  const { status, headers, ...rest } = await response.then(async (r) => ({
    status: r.status,
    headers: r.headers,
    text: await r.text(),
  }));
  return { status, headers, body: rest.text === "" ? undefined : asJson(rest.text) };
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function freePorts(count: number): Promise<string[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return server;
    }),
  );
  const ports = servers.map((server) => `${(server.address() as { port: number }).port}`);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
