import { expect, test } from "vitest";
import { buildExpiresAtMs } from "./build-expiry.ts";

const NOW = 1_795_000_000_000;
/** Block 100 begins now, and each block takes 200.3 ms. */
const head = { heightAtMs: (height: bigint) => NOW + Number(height - 100n) * 200.3 };

test.each([
  // Its last block ends when the next one begins.
  ["the margin before the end of its last block", 149n, 2_000, Math.floor(50 * 200.3) - 2_000],
  ["the end itself without a margin", 149n, 0, Math.floor(50 * 200.3)],
  ["thirty seconds at most", 400n, 2_000, 30_000],
  ["now, if only the margin is left", 105n, 2_000, 0],
  ["now, if that block has passed", 50n, 0, 0],
])("a build expires at %s", (_when, lastValid, marginMs, afterMs) => {
  expect(buildExpiresAtMs(head, lastValid, NOW, marginMs)).toBe(NOW + afterMs);
});
