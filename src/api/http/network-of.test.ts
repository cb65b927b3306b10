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
  ]) {
    expect(networkOf(address!), address).toBe(network);
  }
  // A connection that was reset has no address any more.
  expect(networkOf(undefined)).toBe("");
});
