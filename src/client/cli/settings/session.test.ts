import { expect, test } from "vitest";
import type { CliIo, CommandLine } from "../command.ts";
import { readConfig } from "./config.ts";
import { openSession, readWallet } from "./session.ts";

const line: CommandLine = { words: [], flags: new Map() };
const walletOf = (key: string) =>
  readWallet(line, { env: { TRADEWIRE_KEY: key } } as unknown as CliIo, { profile: {}, tokens: new Map() } as never);

const noFile = Object.assign(new Error("no such file"), { code: "ENOENT" });
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

test("who takes proof from a node or a reference over plain HTTP is told who else could give it, without the secret of a URL", async () => {
  const notes: string[] = [];
  const env = { TRADEWIRE_KEY: JSON.stringify(seed), TRADEWIRE_URL: "https://trade.example" };
  const io = (more: CliIo["env"]) =>
    ({
      env: { ...env, ...more },
      note: (text: string) => void notes.push(text),
      readFile: () => Promise.reject(noFile),
    }) as unknown as CliIo;
  const witnesses = { TRADEWIRE_NODE: "http://node.example:8899/secret", TRADEWIRE_REFERENCE: "http://other.example" };
  (await openSession(line, io(witnesses))).client.close();
  expect(notes).toEqual([
    expect.stringContaining("the connection to the node node.example:8899 is not encrypted"),
    expect.stringContaining("the connection to the reference other.example is not encrypted"),
  ]);
  expect(notes.join()).not.toContain("secret");
  notes.length = 0;
  const safe = { TRADEWIRE_NODE: "http://127.0.0.1:8899", TRADEWIRE_REFERENCE: "https://other.example" };
  (await openSession(line, io(safe))).client.close();
  expect(notes).toEqual([]);
});

test("a configuration that is there and cannot be read ends a command: its wallet, service and witnesses are not replaced", async () => {
  const io = (failure: Error) =>
    ({ env: { HOME: "/home/me" }, readFile: () => Promise.reject(failure) }) as unknown as CliIo;
  const { profile } = await readConfig(line, io(noFile));
  expect(profile).toEqual({});
  const refused = Object.assign(new Error("permission denied"), { code: "EACCES" });
  await expect(readConfig(line, io(refused))).rejects.toThrow(
    "/home/me/.config/tradewire/config.toml cannot be read: permission denied",
  );
});
