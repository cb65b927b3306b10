import { expect, test } from "vitest";
import { Proxies } from "./proxies.ts";

const proxies = (trustedProxies: number, ...proxyAddresses: string[]) =>
  new Proxies({ trustedProxies, proxyAddresses });

test("without proxies no caller speaks for others", () => {
  expect(proxies(0, "10.0.0.1").trusts("10.0.0.1", 0)).toBe(false);
  expect(proxies(0).isProxy("127.0.0.1")).toBe(false);
});

test("unless named, a proxy is in a private network; forwarded addresses from the internet are ignored", () => {
  const some = proxies(1);
  for (const near of [
    "127.0.0.1",
    "10.1.2.3",
    "::ffff:172.20.0.3",
    "192.168.9.9",
    "100.100.0.1",
    "::1",
    "fd00::7",
    "fe80::1%eth0",
  ])
    expect(some.trusts(near, 0), near).toBe(true);
  for (const far of ["8.8.8.8", "::ffff:8.8.8.8", "172.32.0.1", "2001:db8::1", "11.0.0.1", "", "nonsense", undefined])
    expect(some.trusts(far, 0), far).toBe(false);
  expect(some.trusts("10.1.2.3", 1)).toBe(false);
  expect(proxies(2).trusts("8.8.8.8", 1)).toBe(true);
});

test("named, each proxy of the chain has to be one of them", () => {
  const some = proxies(2, "10.0.0.1", "203.0.113.0/24", "2001:db8::/32");
  expect([some.trusts("10.0.0.1", 0), some.trusts("::ffff:10.0.0.1", 0), some.trusts("10.0.0.2", 0)]).toEqual([
    true,
    true,
    false,
  ]);
  expect([some.trusts("203.0.113.77", 1), some.trusts("2001:db8:1::1", 1), some.trusts("127.0.0.1", 1)]).toEqual([
    true,
    true,
    false,
  ]);
  expect(some.trusts("10.0.0.1", 2)).toBe(false);
  // Some proxies forward the port too.
  expect([some.trusts("203.0.113.77:1234", 1), some.trusts("[2001:db8:1::1]:1", 1)]).toEqual([true, true]);
});
