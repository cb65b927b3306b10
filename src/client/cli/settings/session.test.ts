import { expect, test } from "vitest";
import type { CliIo, CommandLine } from "../command.ts";
import { readWallet } from "./session.ts";

const line: CommandLine = { words: [], flags: new Map() };
const walletOf = (key: string) =>
  readWallet(line, { env: { TRADEWIRE_KEY: key } } as unknown as CliIo, { profile: {}, tokens: new Map() } as never);

const seed = Array.from({ length: 32 }, (_, index) => index);

test("a key file of numbers holds bytes: none is taken for another one", async () => {
  const { publicKey } = await walletOf(JSON.stringify(seed));
  expect(publicKey.toString()).toBe("FAe4sisG95oZ42w7buUn5qEE4TAnfTTFPiguZUHmhiF");
  for (const other of [256, -1, 1.5, "1", null, true, [1], {}]) {
    const text = JSON.stringify([...seed.slice(1), other]);
    await expect(walletOf(text), text).rejects.toThrow("must be 32 or 64 bytes");
  }
  for (const text of ["[", "[1,2]", JSON.stringify([seed])])
    await expect(walletOf(text), text).rejects.toThrow("must be 32 or 64 bytes");
});
