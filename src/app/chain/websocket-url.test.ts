import { expect, it } from "vitest";
import { websocketUrl } from "./websocket-url.ts";

it.each([
  ["http://127.0.0.1:8899", "ws://127.0.0.1:8900/"],
  ["https://node.example", "wss://node.example/"],
  ["https://node.example/?api-key=a:1", "wss://node.example/?api-key=a:1"],
  ["https://node.example:443/path", "wss://node.example:444/path"],
  ["http://[::1]:8899", "ws://[::1]:8900/"],
])("%s → %s", (rpcUrl, expected) => {
  expect(websocketUrl(rpcUrl)).toBe(expected);
});
