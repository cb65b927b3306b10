import { expect, it } from "vitest";
import { networkOf } from "./network-of.ts";

it("distinguishes clients by IPv4 address and by /64 network of IPv6", () => {
  for (const [address, network] of [
    ["192.0.2.7", "192.0.2.7"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["::1", "0:0:0:0::/64"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::9", "2001:db8:1:2::/64"],
    ["2001:db8::1:2:3:4:5", "2001:db8:0:1::/64"],
    ["2001:db8::", "2001:db8:0:0::/64"],
    ["fe80::1:2:3:4%eth0", "fe80:0:0:0::/64"],
    // As some proxies forward them, one client over many connections.
    ["192.0.2.7:50123", "192.0.2.7"],
    ["[2001:db8:1:2::9]:50123", "2001:db8:1:2::/64"],
    ["[2001:db8:1:2::9]", "2001:db8:1:2::/64"],
    ["[::ffff:192.0.2.7]:443", "192.0.2.7"],
    // In other spellings.
    ["::ffff:c000:207", "192.0.2.7"],
    ["0:0:0:0:0:FFFF:192.0.2.7", "192.0.2.7"],
    ["2001:0DB8:0001:0002::9", "2001:db8:1:2::/64"],
    // IPv4 clients as translators show them to a service that speaks IPv6 alone.
    ["64:ff9b::192.0.2.7", "192.0.2.7"],
    ["64:ff9b::c000:207", "192.0.2.7"],
    ["64:ff9b:0:1::c000:207", "64:ff9b:0:1::/64"],
    // No address at all.
    ["unknown", "unknown"],
    ["a:b", "a:b"],
    ["x".repeat(8_000), "x".repeat(64)],
  ]) {
    expect(networkOf(address!), address).toBe(network);
  }
  // A connection that was reset has no address any more.
  expect(networkOf(undefined)).toBe("");
});
