import { afterEach, expect, it, vi } from "vitest";

afterEach(() => vi.unstubAllGlobals());

it("retires the keys that earlier visits left behind, and no others", async () => {
  const key = (keyId: string, label: string, revokedAt: string | null = null) => ({ keyId, label, revokedAt });
  const keys = [
    key("k1", "trade page", "2026-11-22T08:00:00.000Z"),
    key("k2", "bot"),
    ...["k3", "k4", "k5", "k6", "k7"].map((keyId) => key(keyId, "trade page")),
    key("k8", ""),
  ];
  const calls: string[] = [];
  vi.stubGlobal("document", { querySelectorAll: () => [] });
  const ofOthers = fetch;
  vi.stubGlobal("fetch", async (path: unknown, init: RequestInit = {}) => {
    // What an earlier file left running in this process asks for by whole URLs.
    if (typeof path !== "string" || !path.startsWith("/")) return ofOthers(path as never, init);
    const { method, headers } = init;
    calls.push(`${method} ${path} ${new Headers(headers).get("authorization")}`);
    return Response.json({ success: true, data: method === "GET" ? { keys } : { keyId: "" } });
  });
  const { retireKeys } = await import(new URL("./sign-in.js", import.meta.url).href);
  await retireKeys("api_7", "trade page");
  expect(calls).toEqual([
    "GET /v1/auth/keys Bearer api_7",
    "DELETE /v1/auth/keys/k3 Bearer api_7",
    "DELETE /v1/auth/keys/k4 Bearer api_7",
  ]);
});
