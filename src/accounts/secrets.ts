import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, unlinkSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import type { RandomBytes } from "../primitives/random.ts";

/** One key of the ring that seals submission tokens. */
export interface TokenKey {
  /** Identifies the key inside every token it sealed. Letters and digits. */
  readonly id: string;
  /** 32 bytes. */
  readonly secret: Uint8Array;
  /** False: opens existing tokens, seals no new ones. */
  readonly seals: boolean;
}

export interface Secrets {
  /** HMAC key of the stored API key hashes. */
  readonly keyPepper: Uint8Array;
  /** The first sealing key is used for new tokens; all of them open. */
  readonly tokenKeys: readonly TokenKey[];
}

const SECRET_BYTES = 32;
const MADE_KEY_ID = "local";

/**
 * The configured secrets. Missing ones are generated once and kept in `dataDir`, readable by their owner alone.
 *
 * @throws Error if a file of `dataDir` cannot be read or does not hold a secret
 */
export function loadSecrets(
  dataDir: string,
  set: { readonly keyPepper?: Uint8Array | undefined; readonly tokenKeys?: readonly TokenKey[] | undefined },
  randomBytes: RandomBytes,
): Secrets {
  const kept = (name: string) => keptSecret(dataDir, name, randomBytes);
  return {
    keyPepper: set.keyPepper ?? kept("key-pepper"),
    tokenKeys: set.tokenKeys ?? [{ id: MADE_KEY_ID, secret: kept("token-key"), seals: true }],
  };
}

function keptSecret(dataDir: string, name: string, randomBytes: RandomBytes): Uint8Array {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, name);
  return readSecret(path) ?? makeSecret(path, randomBytes);
}

/** A secret is kept as one line of hexadecimal. */
function readSecret(path: string): Uint8Array | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8").trim();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
  if (!/^[0-9a-f]{64}$/.test(text)) {
    throw new Error(
      `${path} does not hold a secret of ${SECRET_BYTES} bytes in hexadecimal. Restore it from a backup.`,
    );
  }
  return Buffer.from(text, "hex");
}

/** If several processes start at once, one creates the secret and all read it: the complete file is linked into place. */
function makeSecret(path: string, randomBytes: RandomBytes): Uint8Array {
  const draft = `${path}.${randomBytes(8).toString("hex")}`;
  const file = openSync(draft, "wx", 0o600);
  try {
    writeSync(file, `${randomBytes(SECRET_BYTES).toString("hex")}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  try {
    linkSync(draft, path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  } finally {
    unlinkSync(draft);
  }
  syncFolder(dirname(path));
  return readSecret(path)!;
}

/** Without this, a power cut could lose the file while keys and tokens made with it survive. */
function syncFolder(folder: string): void {
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
