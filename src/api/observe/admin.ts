import http from "node:http";
import type { AddressInfo } from "node:net";

/** Whether the service can do its work, with the state of each part. */
export interface Readiness {
  readonly ready: boolean;
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
  close(): Promise<void>;
}

/**
 * Serves `/metrics`, `/healthz` (the process answers) and `/readyz` (it can do its work) to operators.
 * @throws Error if the port is taken
 */
export async function startAdmin({ host, port, metrics, readiness }: AdminParts): Promise<Admin> {
  const server = http.createServer((request, response) => {
    const answer = (status: number, type: string, body: string) => {
      response.writeHead(status, { "content-type": type, "cache-control": "no-store" });
      response.end(body);
    };
    switch (request.url?.split("?", 1)[0]) {
      case "/metrics":
        return answer(200, "text/plain; version=0.0.4; charset=utf-8", metrics());
      case "/healthz":
        return answer(200, "text/plain; charset=utf-8", "ok\n");
      case "/readyz": {
        const state = readiness();
        return answer(state.ready ? 200 : 503, "application/json; charset=utf-8", `${JSON.stringify(state)}\n`);
      }
      default:
        return answer(
          404,
          "text/plain; charset=utf-8",
          "Not found. This port serves /metrics, /healthz and /readyz.\n",
        );
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    // Without this, workers would share one free port instead of getting one each.
    server.listen({ port, host, exclusive: port === 0 }, resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    port: address.port,
    url: `http://${address.family === "IPv6" ? `[${address.address}]` : address.address}:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
