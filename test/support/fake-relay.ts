import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A block engine or relay that takes transactions, and hands them on to the chain or keeps them. */
export interface FakeRelay {
  readonly url: string;
  /** What it was sent: path with query, headers, and the transaction in base64. */
  readonly taken: {
    readonly path: string;
    readonly headers: Readonly<Record<string, unknown>>;
    readonly transaction: string;
  }[];
  /** Where taken transactions go; undefined: nowhere. */
  forwardTo: string | undefined;
  /** Answers with this HTTP status when it is not 200. */
  status: number;
  close(): Promise<void>;
}

export async function startFakeRelay(): Promise<FakeRelay> {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    if (relay.status !== 200) {
      response.writeHead(relay.status).end();
      return;
    }
    // A request for a stopped service of another test may come here, if this relay has got its port.
    if (!body.startsWith("{")) {
      response.writeHead(400).end();
      return;
    }
    const { id, params } = JSON.parse(body) as { id: number; params: [string] };
    relay.taken.push({ path: request.url!, headers: request.headers, transaction: params[0] });
    if (relay.forwardTo !== undefined) {
      await fetch(relay.forwardTo, { method: "POST", headers: { "content-type": "application/json" }, body });
    }
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result: "taken" }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const relay: FakeRelay = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    taken: [],
    forwardTo: undefined,
    status: 200,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return relay;
}
