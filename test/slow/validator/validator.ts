import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const START_TIMEOUT_MS = 90_000;
/** Ports a validator takes beside those of its RPC: gossip and a range of others. */
const DYNAMIC_PORTS = 40;

/** A real test validator. */
export interface Validator {
  readonly rpcUrl: string;
  readonly wsUrl: string;
  /** Stops and continues the process where it stands. */
  suspend(): void;
  resume(): void;
  /** Ends it without a chance to say goodbye. */
  kill(): Promise<void>;
  /** Kills it and starts it again on the same ports: on its ledger, or on a new one with another genesis. */
  restart(kind: "sameLedger" | "newGenesis", moreArguments?: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** Path of the validator's program: SOLANA_TEST_VALIDATOR, or the one on PATH; undefined if there is none. */
export function findValidator(): string | undefined {
  const named = process.env.SOLANA_TEST_VALIDATOR;
  if (named !== undefined && named !== "") return existsSync(named) ? named : undefined;
  const folders = (process.env.PATH ?? "").split(":");
  return folders.map((folder) => join(folder, "solana-test-validator")).find(existsSync);
}

/** First line of what the program says of its version. */
export function validatorVersion(program: string): string {
  return execFileSync(program, ["--version"], { env: environmentOf(program), encoding: "utf8" }).trim();
}

/** Starts a validator with the arguments, on a ledger in the folder, and resolves once it serves. @throws Error if it does not */
export async function startValidator(
  program: string,
  folder: string,
  worldArguments: readonly string[],
): Promise<Validator> {
  const rpcPort = await freePortPair();
  const faucetPort = (await freePortPair()) + 1;
  const [first, last] = [rpcPort + 10, rpcPort + 10 + DYNAMIC_PORTS];
  let ledger = 0;
  let child: ChildProcess | undefined;
  const url = `http://127.0.0.1:${rpcPort}`;

  const start = async (moreArguments: readonly string[] = []): Promise<void> => {
    const path = join(folder, `ledger-${ledger}`);
    const ports = ["--rpc-port", `${rpcPort}`, "--faucet-port", `${faucetPort}`, "--gossip-port", `${first}`];
    const range = ["--dynamic-port-range", `${first + 1}-${last}`, "--bind-address", "127.0.0.1"];
    // What a ledger was made with is in it: the world's arguments are for a new one.
    const made = [...worldArguments, ...moreArguments, "--limit-ledger-size", "200000", "--quiet"];
    const started = spawn(program, ["--ledger", path, ...ports, ...range, ...made], {
      env: environmentOf(program),
      stdio: "ignore",
    });
    child = started;
    const deadline = performance.now() + START_TIMEOUT_MS;
    while (!(await serves(url))) {
      if (started.exitCode !== null) throw new Error(`The validator exited with code ${started.exitCode}.`);
      if (performance.now() > deadline) throw new Error("The validator does not serve.");
      await sleep(200);
    }
  };
  const kill = async (): Promise<void> => {
    const ended = child;
    child = undefined;
    if (ended === undefined || ended.exitCode !== null || ended.signalCode !== null) return;
    const exited = new Promise((resolve) => ended.once("exit", resolve));
    ended.kill("SIGKILL");
    await exited;
  };

  await start();
  return {
    rpcUrl: url,
    wsUrl: `ws://127.0.0.1:${rpcPort + 1}`,
    suspend: () => void child?.kill("SIGSTOP"),
    resume: () => void child?.kill("SIGCONT"),
    kill,
    async restart(kind, moreArguments) {
      await kill();
      if (kind === "newGenesis") ledger += 1;
      await start(moreArguments);
    },
    close: kill,
  };
}

/** True once the chain has begun to move. */
async function serves(url: string): Promise<boolean> {
  try {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getSlot", params: [{ commitment: "confirmed" }] });
    const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
    const { result } = (await response.json()) as { result?: number };
    return result !== undefined && result > 0;
  } catch {
    return false;
  }
}

/** Libraries may lie beside the program. */
function environmentOf(program: string): NodeJS.ProcessEnv {
  return { ...process.env, LD_LIBRARY_PATH: [dirname(program), process.env.LD_LIBRARY_PATH ?? ""].join(":") };
}

/** A free port whose next one is free as well. */
async function freePortPair(): Promise<number> {
  for (;;) {
    const first = createServer();
    await new Promise<void>((resolve) => first.listen(0, "127.0.0.1", resolve));
    const { port } = first.address() as { port: number };
    const second = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      second.once("error", () => resolve(false));
      second.listen(port + 1, "127.0.0.1", () => resolve(port < 65_000));
    });
    await Promise.all([first, second].map((one) => new Promise((resolve) => one.close(resolve))));
    if (isFree) return port;
  }
}
