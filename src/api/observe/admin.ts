import http from "node:http";
import type { AddressInfo } from "node:net";

/** Whether the service can do its work, with the state of each part. */
export interface Readiness {
  /** True if a balancer should send callers here. */
  readonly ready: boolean;
  /** True while trades can be built. */
  readonly builds: boolean;
  /** True while trades can be submitted and looked up. */
  readonly submits: boolean;
  readonly checks: Readonly<Record<string, string>>;
}

/** What the admin port serves. */
export interface AdminParts {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** The text format of Prometheus. */
  metrics(): string;
  /** Asked often by load balancers with short time-outs, so it answers from memory. */
  readiness(): Readiness;
}

/** The running admin port. */
export interface Admin {
  readonly port: number;
  readonly url: string;
  /** Accepts no more connections, and answers those that are open: another process has the port. */
  leave(): void;
  close(): Promise<void>;
}

/**
 * Serves `/metrics`, `/healthz` (the process answers) and `/readyz` (callers should come here) to operators; `/readyz/builds` and
 * `/readyz/submits` answer for a part of the work.
 * @throws Error if the port is taken
 */
export async function startAdmin({ host, port, metrics, readiness }: AdminParts): Promise<Admin> {
  const server = http.createServer((request, response) => {
    const answer = (status: number, type: string, body: string) => {
      response.writeHead(status, { "content-type": type, "cache-control": "no-store" });
      response.end(body);
    };
    const answerReady = (part: "ready" | "builds" | "submits") => {
      const state = readiness();
      return answer(state[part] ? 200 : 503, "application/json; charset=utf-8", `${JSON.stringify(state)}\n`);
    };
    switch (request.url?.split("?", 1)[0]) {
      case "/metrics":
        return answer(200, "text/plain; version=0.0.4; charset=utf-8", metrics());
      case "/healthz":
        return answer(200, "text/plain; charset=utf-8", "ok\n");
      case "/readyz":
        return answerReady("ready");
      case "/readyz/builds":
        return answerReady("builds");
      case "/readyz/submits":
        return answerReady("submits");
      default:
        return answer(
          404,
          "text/plain; charset=utf-8",
          "Not found. This port serves /metrics, /healthz, /readyz, /readyz/builds and /readyz/submits.\n",
        );
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    // Without this, workers would share one free port instead of getting one each.
    server.listen({ port, host, exclusive: port === 0 }, () => {
      server.off("error", reject);
      // A connection that cannot be accepted, as without a free file descriptor, concerns only its client.
      server.on("error", () => {});
      resolve();
    });
  });
  const address = server.address() as AddressInfo;
  return {
    port: address.port,
    url: `http://${address.family === "IPv6" ? `[${address.address}]` : address.address}:${address.port}`,
    leave: () => void server.close(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
