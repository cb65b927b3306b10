import { expect, it } from "vitest";
import { problemsOf } from "../../test/support/config-problems.ts";
import { trustedNodeAt } from "./node-urls.ts";

it("refuses a node that is listed twice: alone it would be the two that must agree", () => {
  for (const again of ["http://a:1/key", "http://a:1/key/", "http://u:p@a:1/key", "HTTP://A:1/key#x"])
    expect(problemsOf({ SOLANA_RPC_URLS: `http://a:1/key,http://b,${again}` }), again).toEqual([
      "SOLANA_RPC_URLS names the node a:1 twice: its word would count as that of two nodes.",
    ]);
  for (const other of ["http://a:2/key", "http://a:1/other", "http://a:1/key?k=2"])
    expect(problemsOf({ SOLANA_RPC_URLS: `http://a:1/key,${other}` }), other).toEqual([]);
});

it("finds the trusted node by its URL, or by its host if no other node is there, and says so if it is none", () => {
  const urls = ["http://a/one", "http://a/two", "http://b/key"];
  expect(trustedNodeAt(urls, "http://a/two")).toBe(1);
  expect(trustedNodeAt(urls, "http://b")).toBe(2);
  expect(trustedNodeAt(urls, "http://a")).toBeUndefined();
  const env = { SOLANA_RPC_URLS: urls.join() };
  expect(problemsOf({ ...env, SOLANA_TRUSTED_RPC_URL: "http://a/two" })).toEqual([]);
  for (const wrong of ["http://c", "http://a"])
    expect(problemsOf({ ...env, SOLANA_TRUSTED_RPC_URL: wrong }), wrong).toEqual([
      `SOLANA_TRUSTED_RPC_URL must be one of SOLANA_RPC_URLS, written alike; ${new URL(wrong).host} is none of them, or several.`,
    ]);
  expect(problemsOf({ SOLANA_TRUSTED_RPC_URL: "http://a" })).toHaveLength(1);
});
