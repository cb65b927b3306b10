import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadSecrets } from "./secrets.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tradewire-secrets-"));
});
afterEach(() => {
  chmodSync(folder, 0o700);
  rmSync(folder, { recursive: true });
});

describe("loadSecrets", () => {
  it("makes a missing secret once, for its owner alone", () => {
    const dataDir = join(folder, "data");
    const made = loadSecrets(dataDir, {}, randomBytes);
    expect(made.keyPepper).toHaveLength(32);
    expect(made.tokenKeys).toMatchObject([{ id: "local", seals: true }]);
    expect(made.tokenKeys[0]!.secret).toHaveLength(32);
    expect(made.tokenKeys[0]!.secret).not.toEqual(made.keyPepper);
    expect(loadSecrets(dataDir, {}, randomBytes)).toEqual(made);
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    expect(readdirSync(dataDir).sort()).toEqual(["key-pepper", "token-key"]);
    for (const file of readdirSync(dataDir)) expect(statSync(join(dataDir, file)).mode & 0o777).toBe(0o600);
  });

  it("takes secrets that were copied back from other users", () => {
    const made = loadSecrets(folder, {}, randomBytes);
    for (const file of readdirSync(folder)) chmodSync(join(folder, file), 0o644);
    expect(loadSecrets(folder, {}, randomBytes)).toEqual(made);
    for (const file of readdirSync(folder)) expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
  });

  it("makes no file for a secret that is set", () => {
    const dataDir = join(folder, "data");
    const keyPepper = new Uint8Array(32).fill(1);
    const tokenKeys = [{ id: "a", secret: new Uint8Array(32).fill(2), seals: true }];
    expect(loadSecrets(dataDir, { keyPepper, tokenKeys }, randomBytes)).toEqual({ keyPepper, tokenKeys });
    expect(readdirSync(folder)).toEqual([]);
  });

  it("refuses a damaged file rather than replace it, and does not show it", () => {
    writeFileSync(join(folder, "key-pepper"), "deadbeef\n");
    expect(() => loadSecrets(folder, {}, randomBytes)).toThrow(/key-pepper does not hold a secret/);
    expect(() => loadSecrets(folder, {}, randomBytes)).not.toThrow(/deadbeef/);
  });

  it("names the file and the setting if the system refuses it, and why", () => {
    mkdirSync(join(folder, "key-pepper"));
    const fails = () => loadSecrets(folder, {}, randomBytes);
    expect(fails).toThrow(`The secret in DATA_DIR, ${join(folder, "key-pepper")}, can be neither read nor made.`);
    expect(fails).toThrow(expect.objectContaining({ cause: expect.objectContaining({ code: "EISDIR" }) }));
  });

  it("refuses a link that leads nowhere", () => {
    symlinkSync(join(folder, "gone"), join(folder, "token-key"));
    expect(() => loadSecrets(folder, { keyPepper: new Uint8Array(32) }, randomBytes)).toThrow(
      /token-key leads to no file/,
    );
    expect(readdirSync(folder)).toEqual(["token-key"]);
  });

  it("leaves no draft behind if a secret cannot be written", () => {
    let calls = 0;
    const fails = (length: number) => {
      if (++calls === 2) throw new Error("no entropy");
      return randomBytes(length);
    };
    expect(() => loadSecrets(folder, {}, fails)).toThrow("no entropy");
    expect(readdirSync(folder)).toEqual([]);
  });
});
