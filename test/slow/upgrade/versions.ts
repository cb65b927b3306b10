import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const START_MS = 60_000;

/** One of the two versions: a checkout with its installation. */
export class Version {
  readonly name: string;
  readonly root: string;

  constructor(name: string, root: string) {
    this.name = name;
    this.root = root;
  }

  /** True if requests of this version have no such field. */
  lacks(field: string): boolean {
    return !readFileSync(join(this.root, "proto/tradewire/v1/trade.proto"), "utf8").includes(` ${field} = `);
  }
}

export const HEAD = new Version("this version", resolve(import.meta.dirname, "../../.."));
export const OLD = new Version("the last release", process.env.UPGRADE_FROM ?? "");

/** A service of one of the versions. */
export interface Service {
  readonly version: Version;
  readonly url: string;
  /** SIGTERM: hands over what is pending. @returns the exit code */
  stop(): Promise<number | null>;
  /** SIGKILL: what is pending stays where it is. */
  kill(): Promise<void>;
  /** Holds the process still, and lets it go on. */
  pause(): void;
  resume(): void;
}

/** What both versions have as their public URL, as behind a balancer: where a sign-in says that it is for. */
export const DOMAIN = "127.0.0.1:8080";

/** What one purchase here buys at most. Base units. */
export const MOST_SOLD = "1000000000000000";

/** Starts the version as its own `npm start` does, on its own Node. */
export async function start(version: Version, settings: Readonly<Record<string, string>>): Promise<Service> {
  const { scripts } = JSON.parse(readFileSync(join(version.root, "package.json"), "utf8"));
  const [, ...argv] = (scripts.start as string).split(" ");
  const folder = mkdtempSync(join(tmpdir(), "tradewire-upgrade-data-"));
  const child = spawn(join(version.root, "node_modules/.bin/node"), argv, {
    cwd: version.root,
    env: { PATH: process.env.PATH, PORT: "0", ADMIN_PORT: "0", DATA_DIR: folder, LAME_DUCK_MS: "0", ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    const code = await ended;
    rmSync(folder, { recursive: true, force: true });
    return code;
  };
  const url = await readyUrl(version, child).catch(async (error) => {
    await end("SIGKILL");
    throw error;
  });
  return {
    version,
    url,
    stop: () => end("SIGTERM"),
    kill: async () => void (await end("SIGKILL")),
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
  };
}

async function readyUrl(version: Version, child: ChildProcess): Promise<string> {
  let output = "";
  for (const stream of [child.stdout!, child.stderr!]) stream.on("data", (chunk) => (output += chunk));
  for (const untilMs = Date.now() + START_MS; ; await sleep(50)) {
    const ready = /is ready[\s\S]*?(http:\/\/\S+)/.exec(output);
    if (ready !== null) return ready[1]!;
    if (child.exitCode !== null || Date.now() > untilMs) throw new Error(`${version.name} did not start:\n${output}`);
  }
}

/** Trades with the published client of the last release, as a bot that was not upgraded does. */
export async function tradeWithOldClient(url: string, secretKey: string, mint: string): Promise<OldTrades> {
  const program = `
    import { Tradewire } from "tradewire";
    const tw = Tradewire.connect({ baseUrl: process.env.URL, wallet: process.env.KEY, domain: process.env.DOMAIN });
    await tw.register();
    const order = { mint: process.env.MINT, slippage: 0.05, priority: "fast" };
    const bought = await tw.buy({ ...order, solAmount: 0.1 });
    const sold = await tw.sell({ ...order, sellPercent: 100 }, { maxInputRaw: process.env.MOST_SOLD });
    tw.close();
    console.log(JSON.stringify({ bought: bought.status, sold: sold.status }));`;
  const child = spawn(join(OLD.root, "node_modules/.bin/node"), ["--input-type=module", "--eval", program], {
    cwd: join(OLD.root, "caller"),
    env: { PATH: process.env.PATH, URL: url, KEY: secretKey, MINT: mint, DOMAIN, MOST_SOLD },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [printed, complained] = ["", ""];
  child.stdout.on("data", (chunk) => (printed += chunk));
  child.stderr.on("data", (chunk) => (complained += chunk));
  const code = await new Promise((resolve) => child.once("close", resolve));
  if (code !== 0) throw new Error(complained);
  return JSON.parse(printed) as OldTrades;
}

interface OldTrades {
  readonly bought: string;
  readonly sold: string;
}
