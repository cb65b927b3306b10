/**
 * The whole service on a node that another process runs, with notes of its processor time. Argument: its settings as JSON. Says its
 * port and the key of a neighbour, then answers "coreTimes" and "newKey".
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Environment } from "../../../src/config/config.ts";
import { type CoreTime, CoreTimes } from "../../slow/edge/core-times.ts";
import { startTestService } from "../../support/service.ts";

/** A service, and a caller that it knows. */
export interface SearchingService {
  readonly port: number;
  readonly neighbour: string;
  /** The key of a caller that it has not seen. */
  newKey(): Promise<string>;
  /** Notes of its processor time since the last time. */
  coreTimes(): Promise<readonly CoreTime[]>;
  stop(): Promise<void>;
}

const FILE = fileURLToPath(import.meta.url);

export async function startSearchingService(environment: Environment): Promise<SearchingService> {
  const child: ChildProcess = fork(FILE, [JSON.stringify(environment)], { stdio: "inherit" });
  const [known] = (await once(child, "message")) as [Pick<SearchingService, "port" | "neighbour">];
  const ask = async <T>(what: string): Promise<T> => {
    child.send(what);
    const [answer] = (await once(child, "message")) as [T];
    return answer;
  };
  return {
    ...known,
    coreTimes: () => ask("coreTimes"),
    newKey: () => ask("newKey"),
    async stop() {
      const ended = once(child, "exit");
      child.send("stop");
      await ended;
    },
  };
}

async function main(environment: Environment): Promise<void> {
  const service = await startTestService(environment);
  const newKey = async () => (await service.newClient()).apiKey;
  const neighbour = await newKey();
  const coreTimes = new CoreTimes();
  coreTimes.watch();
  process.on("message", async (asked) => {
    if (asked === "coreTimes") {
      process.send!(coreTimes.take());
      return;
    }
    if (asked === "newKey") {
      process.send!(await newKey());
      return;
    }
    await service.close();
    process.exit(0);
  });
  process.send!({ port: Number(new URL(service.url).port), neighbour });
}

if (process.argv[1] === FILE) await main(JSON.parse(process.argv[2]!));
