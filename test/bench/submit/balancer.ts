import { spawn, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A balancer in front of some services. */
export interface Balancer {
  readonly port: number;
  close(): void;
}

const PATIENCE_MS = 20_000;

/** HAProxy in front of the ports, each request to the next of them; undefined if it is not installed. */
export async function startBalancer(ports: readonly number[], folder: string): Promise<Balancer | undefined> {
  if (spawnSync("haproxy", ["-v"]).error !== undefined) return undefined;
  const port = await freePort();
  const path = join(folder, "haproxy.cfg");
  const servers = ports.map((at, i) => `  server s${i} 127.0.0.1:${at}`);
  const times = "timeout connect 2s\n  timeout client 60s\n  timeout server 60s";
  writeFileSync(
    path,
    `defaults\n  mode http\n  ${times}\n  http-reuse always\nfrontend f\n  bind 127.0.0.1:${port}\n  default_backend b\nbackend b\n  balance roundrobin\n${servers.join("\n")}\n`,
  );
  const child = spawn("haproxy", ["-f", path, "-db"], { stdio: "ignore" });
  for (const untilMs = Date.now() + PATIENCE_MS; !(await accepts(port)); await sleep(50))
    if (Date.now() > untilMs) throw new Error("HAProxy does not listen");
  return { port, close: () => void child.kill() };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { readonly port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const end = (isOpen: boolean) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once("connect", () => end(true)).once("error", () => end(false));
  });
}
