import { once } from "node:events";
import net from "node:net";
import { expect, it } from "vitest";
import { BUY, type Given } from "./given.ts";
import type { StartedService } from "./started-service.ts";

/** One connection on which pings are sent in a row; resolves when it is closed, with everything that came back. */
async function holdConnection(service: StartedService, pings: number): Promise<{ text: string; openMs: number }> {
  const { hostname, port } = new URL(service.url);
  const socket = net.connect(Number(port), hostname);
  await once(socket, "connect");
  const openedAtMs = Date.now();
  let text = "";
  socket.setEncoding("utf8").on("data", (chunk) => {
    text += chunk;
  });
  socket.on("error", () => {});
  const closed = once(socket, "close");
  socket.write("GET /v1/ping HTTP/1.1\r\nHost: spec\r\n\r\n".repeat(pings));
  await closed;
  return { text, openMs: Date.now() - openedAtMs };
}

export function checkLimits(given: () => Given): void {
  it("a built transaction is valid for about 30 seconds", () => {
    const { buy, sell, exactIn, exactOut } = given();
    for (const { build, builtAtMs, answeredAtMs } of [buy, sell, exactIn, exactOut]) {
      // It is made between the two: what the call itself takes, the machine decides.
      const expiresAtMs = Date.parse(build.body.data.expiresAt);
      expect(expiresAtMs - builtAtMs).toBeGreaterThan(20_000);
      expect(expiresAtMs - answeredAtMs).toBeLessThanOrEqual(31_000);
    }
  });

  it("a connection may idle for 65 seconds and serves 10,000 requests, and its headers say so", async () => {
    const { headers } = await fetch(`${given().service.url}/v1/ping`);
    expect(headers.get("keep-alive")).toMatch(/timeout=65, max=10000/);
  });

  it("10,000 requests are served on one connection, which then closes", async () => {
    const { swift } = given();
    const { text } = await holdConnection(swift, 10_000);
    expect(text.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(10_000);
  }, 60_000);

  it("an idle connection is closed after its time, not before", async () => {
    const idle = await holdConnection(given().swift, 1);
    expect(idle.text).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(idle.openMs).toBeGreaterThanOrEqual(1_900);
  });

  it("a ping keeps a connection open: the next request goes over the same one", async () => {
    const { service } = given();
    const { hostname, port } = new URL(service.url);
    const socket = net.connect(Number(port), hostname);
    await once(socket, "connect");
    for (let i = 0; i < 3; i++) {
      socket.write("GET /v1/ping HTTP/1.1\r\nHost: spec\r\n\r\n");
      const [chunk] = await once(socket, "data");
      expect(`${chunk}`).toMatch(/^HTTP\/1\.1 200 OK/);
    }
    socket.destroy();
  });

  it("twenty builds in a row meet no rate limit", async () => {
    const { service, mint } = given();
    for (let i = 0; i < 20; i++) expect((await service.post("/v1/tx/buy", { mint, ...BUY })).status).toBe(200);
  });

  it("9. the version is the prefix /v1 of every endpoint", async () => {
    const { paths } = (await given().service.get("/v1/openapi.json")).body;
    const published = Object.keys(paths);
    expect(published).toEqual(
      expect.arrayContaining(["/v1/tx/buy", "/v1/tx/sell", "/v1/tx/swap", "/v1/tx/submit", "/v1/ping"]),
    );
    for (const path of published) expect(path).toMatch(/^\/v1\//);
  });

  it("9. paths without the prefix, or with another version, are not found", async () => {
    const { service, mint } = given();
    for (const path of ["/tx/buy", "/v2/tx/buy"]) {
      const { status, body } = await service.post(path, { mint, ...BUY });
      expect(status).toBe(404);
      expect(body.success).toBe(false);
    }
  });
}
