import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { ConfigError } from "../config/config.ts";
import { TradewireError } from "../errors/tradewire-error.ts";
import { describeStartFailure } from "./start-failure.ts";

function listen(port: number, host: string): Promise<ReturnType<typeof createServer>> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => resolve(server));
  });
}

it("names the address in use and the settings that change it", async () => {
  const first = await listen(0, "127.0.0.1");
  const { port } = first.address() as AddressInfo;
  const error = await listen(port, "127.0.0.1").catch((failure: unknown) => failure);
  first.close();
  const words = describeStartFailure(error);
  expect(words).toContain(`already listens at 127.0.0.1:${port}`);
  expect(words).toContain("PORT, ADMIN_PORT and SANDBOX_PORT");
  expect(words).not.toContain("\n");
});

it("reports a host that is not this machine's, by name and by address", async () => {
  const foreign = await listen(0, "192.0.2.1").catch((failure: unknown) => failure);
  expect(describeStartFailure(foreign)).toMatch(/^This machine cannot listen at 192\.0\.2\.1.*EADDRNOTAVAIL.*HOST/);
  const unknown = Object.assign(new Error("getaddrinfo ENOTFOUND trade.invalid"), {
    code: "ENOTFOUND",
    syscall: "getaddrinfo",
    hostname: "trade.invalid",
  });
  expect(describeStartFailure(unknown)).toContain("trade.invalid (ENOTFOUND)");
});

it("gives the cause of a silent database, and the first of several addresses tried", () => {
  const refused = Object.assign(new Error("connect ECONNREFUSED ::1:5432"), { code: "ECONNREFUSED" });
  const cause = Object.assign(new AggregateError([refused, refused], ""), { code: "ECONNREFUSED" });
  const error = new TradewireError("UPSTREAM_ERROR", "The account database does not answer.", { cause });
  expect(describeStartFailure(error)).toBe(
    "The account database does not answer.\n  because: connect ECONNREFUSED ::1:5432",
  );
});

it("prints a stack for bugs only", () => {
  expect(describeStartFailure(new TypeError("no such thing"))).toContain("start-failure.test.ts");
  expect(describeStartFailure(new Error("The node is away."))).toBe("The node is away.");
  expect(describeStartFailure(new ConfigError(["PORT is wrong."]))).not.toContain("    at ");
});
