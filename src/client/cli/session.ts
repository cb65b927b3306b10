import bs58 from "bs58";
import type { TradeError } from "../trade-error.ts";
import { Tradewire } from "../tradewire.ts";
import { fromBase58, type Wallet } from "../wallet.ts";
import { type CliIo, type CommandLine, UsageError } from "./command.ts";

const DEFAULT_URL = "http://127.0.0.1:8080";
/** The wallet of commands that need none: an address without a known key. */
const NOBODY = "11111111111111111111111111111111";

/** A client of the service, with the wallet from a file, the environment or a prompt. @throws UsageError */
export async function openSession(line: CommandLine, io: CliIo): Promise<Tradewire> {
  return connect(line, io, await readWallet(line, io));
}

/** A client without a wallet, for commands that sign nothing. @throws UsageError */
export async function openReadOnlySession(line: CommandLine, io: CliIo): Promise<Tradewire> {
  const refuse = () => Promise.reject(new UsageError("This command signs nothing."));
  return connect(line, io, { publicKey: NOBODY as never, signMessageBytes: refuse });
}

async function connect(line: CommandLine, io: CliIo, wallet: Wallet): Promise<Tradewire> {
  const url = line.flags.get("url") ?? io.env.TRADEWIRE_URL ?? DEFAULT_URL;
  const file = line.flags.get("api-key-file");
  const apiKey = typeof file === "string" ? (await readFile(io, file)).trim() : io.env.TRADEWIRE_API_KEY;
  return Tradewire.connect({ baseUrl: String(url), wallet, apiKey, keepAliveMs: 0 });
}

/** The wallet from a file, the environment or a prompt; never from an argument, which other users can read. */
async function readWallet({ flags }: CommandLine, io: CliIo): Promise<Wallet> {
  const file = flags.get("key-file");
  const text =
    typeof file === "string"
      ? await readFile(io, file)
      : (io.env.TRADEWIRE_KEY ?? (await io.askSecret("Private key (base58, not echoed): ")));
  if (text === undefined || text.trim() === "") {
    throw new UsageError("No wallet: pass --key-file FILE, set TRADEWIRE_KEY, or enter a key at the prompt.");
  }
  try {
    return fromBase58(text.trim().startsWith("[") ? bs58.encode(jsonBytes(text)) : text);
  } catch {
    throw new UsageError("The private key must be 32 or 64 bytes, in base58 or as a JSON array.");
  }
}

/** The file format of the Solana command-line tools. */
function jsonBytes(text: string): Uint8Array {
  return Uint8Array.from(JSON.parse(text) as number[]);
}

async function readFile(io: CliIo, path: string): Promise<string> {
  try {
    return await io.readFile(path);
  } catch {
    throw new UsageError(`The file ${path} cannot be read.`);
  }
}

/** The exit code of a failure. */
export function isDistrust(error: TradeError): boolean {
  return [
    "UNEXPECTED_TRANSACTION",
    "UNREADABLE_TRANSACTION",
    "UNEXPECTED_CHALLENGE",
    "LIMIT_EXCEEDED",
    "DECIMALS_REQUIRED",
  ].includes(error.code);
}
