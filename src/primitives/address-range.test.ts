import { expect, test } from "vitest";
import { parseAddressRange } from "./address-range.ts";

test("reads addresses and networks, and nothing else", () => {
  expect(parseAddressRange("10.0.0.1")).toEqual({ address: "10.0.0.1", prefix: 32, family: "ipv4" });
  expect(parseAddressRange("fd00::/8")).toEqual({ address: "fd00::", prefix: 8, family: "ipv6" });
  for (const wrong of [
    "",
    "10.0.0",
    "10.0.0.0/33",
    "::/129",
    "10.0.0.0/8/8",
    "10.0.0.0/",
    "10.0.0.0/-1",
    "proxy",
    "fe80::1%eth0",
  ])
    expect(parseAddressRange(wrong), wrong).toBeUndefined();
});
