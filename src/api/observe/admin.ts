import http from "node:http";
import type { AddressInfo } from "node:net";

/** Whether the service can do its work, and which part of it cannot. */
export interface Readiness {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, string>>;
}

export interface AdminParts {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  metrics(): string;
  /** Asked often by whoever routes requests here, who may not wait long: it looks nothing up. */
  readiness(): Readiness;
}

export interface Admin {
  readonly port: number;
  readonly url: string;
  close(): Promise<void>;
}

/** The port for whoever operates the service: `/metrics`, `/healthz` (the process answers) and `/readyz` (it can do its work). */
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
        return answer(404, "text/plain; charset=utf-8", "There are /metrics, /healthz and /readyz.\n");
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    // Workers would share one free port, and each is to have its own.
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
