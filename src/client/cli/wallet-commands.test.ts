import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { type CliIo, EXIT } from "./command.ts";
import { runCli } from "./run-cli.ts";
import { WALLET_COMMANDS } from "./wallet-commands.ts";

/** The seed 1, 1, … and its public key, as wallet files hold them. */
const KEY_FILE = JSON.stringify([
  ...Array.from({ length: 32 }, () => 1),
  ...Buffer.from("8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c", "hex"),
]);

test("an airdrop that failed on the chain is not waited for", async () => {
  const results: Readonly<Record<string, unknown>> = {
    getGenesisHash: "genesis",
    requestAirdrop: "signature",
    getSignatureStatuses: { value: [{ confirmationStatus: "confirmed", err: "InsufficientFundsForRent" }] },
  };
  const node = http.createServer(async (request, response) => {
    const { method } = JSON.parse(await text(request)) as { readonly method: string };
    response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, result: results[method] }));
  });
  await once(node.listen(0, "127.0.0.1"), "listening");
  const notes: string[] = [];
  const io = {
    out: () => undefined,
    note: (line: string) => void notes.push(line),
    env: {},
    readFile: async (path: string) => {
      if (path !== "key.json") throw Object.assign(new Error("no such file"), { code: "ENOENT" });
      return KEY_FILE;
    },
    signal: new AbortController().signal,
  };
  const url = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
  const words = ["airdrop", "1", "--node", url, "--key-file", "key.json"];
  expect(await runCli(WALLET_COMMANDS, words, io as unknown as CliIo)).toBe(EXIT.failed);
  expect(notes).toEqual(['The airdrop signature failed: "InsufficientFundsForRent".']);
  node.close();
});
