import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "./challenges.ts";

/** A service whose challenge is a login at a bank for whatever wallet asks. */
export interface HostileSignIn {
  readonly url: string;
  /** Paths that were called. */
  readonly calls: readonly string[];
  close(): void;
}

export async function startHostileSignIn(): Promise<HostileSignIn> {
  const calls: string[] = [];
  const server = createServer(async (request, response) => {
    calls.push(request.url!);
    let body = "";
    for await (const chunk of request) body += chunk;
    const at = new Date();
    const message = text({
      domain: "app.bank.example",
      uri: "https://app.bank.example",
      wallet: JSON.parse(body).walletAddress,
      issued: at.toISOString(),
      expires: new Date(at.getTime() + 300_000).toISOString(),
    });
    const data = { message, expiresAt: at.toISOString(), apiKey: "api_x", keyId: "x", walletAddress: "" };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ success: true, data }));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, calls, close: () => void server.close() };
}
