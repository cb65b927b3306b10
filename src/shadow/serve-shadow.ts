import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import type { Venue } from "../venues/venue.ts";
import { Channel } from "./channel.ts";
import { ShadowEngine } from "./engine/shadow-engine.ts";
import type { Numbered, ShadowAnswer, ShadowOrder } from "./protocol.ts";

/** What of the process the shadow uses; its command passes it. */
export interface ShadowHost {
  /** The socket to listen on. */
  readonly path: string;
  /** Memory above which the process ends, to be started afresh. Bytes. */
  readonly memoryBytes: number;
  readonly cpuPercent: number;
  memoryUsed(): number;
  cpuMs(): number;
  nowMs(): number;
  exit(): void;
}

/** Serves checks on a socket, in the order they come. @returns the server; it ends with its host */
export function serveShadow(venues: readonly Venue[], host: ShadowHost): Server {
  preferAsVictim();
  const engine = new ShadowEngine({ venues, cpuMs: host.cpuMs, nowMs: host.nowMs, cpuPercent: host.cpuPercent });
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    const channel = new Channel(socket, (value) => {
      const { id, body } = value as Numbered<ShadowOrder>;
      channel.send({ id, body: engine.perform(body) } satisfies Numbered<ShadowAnswer>);
      if (host.memoryUsed() > host.memoryBytes) socket.end(() => host.exit());
    });
  });
  server.listen(host.path);
  return server;
}

/** On Linux: if memory runs out, this process goes first, not the one that trades. */
function preferAsVictim(): void {
  try {
    writeFileSync("/proc/self/oom_score_adj", "1000");
  } catch {
    // Another system, or no permission.
  }
}
