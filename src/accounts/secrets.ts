import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
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

/** What processes on one database must share: without it, each would refuse the others' keys and tokens. */
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
  const path = join(dataDir, name);
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const secret = readSecret(path) ?? makeSecret(path, randomBytes);
    restrict(path);
    return secret;
  } catch (error) {
    // What the system says alone, such as "no space left on device", names neither the file nor the setting.
    if (!(error instanceof Error && "code" in error)) throw error;
    throw new Error(`The secret in DATA_DIR, ${path}, can be neither read nor made.`, { cause: error });
  }
}

/** Takes a copy, such as one from a backup, away from other users. A file of another owner is as that one has set it. */
function restrict(path: string): void {
  if ((statSync(path).mode & 0o077) === 0) return;
  try {
    chmodSync(path, 0o600);
  } catch {
    // Mounted for reading, or another user's.
  }
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
  try {
    writeDraft(draft, `${randomBytes(SECRET_BYTES).toString("hex")}\n`);
    linkSync(draft, path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  syncFolder(dirname(path));
  const kept = readSecret(path);
  // A symbolic link into a store that is not mounted, for example.
  if (kept === undefined) throw new Error(`${path} leads to no file. Restore what it names, or remove it.`);
  return kept;
}

function writeDraft(path: string, text: string): void {
  const file = openSync(path, "wx", 0o600);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
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
