import bs58 from "bs58";
import type { TradeError } from "../trade-error.ts";
import { Tradewire } from "../tradewire.ts";
import { fromBase58, type Wallet } from "../wallet.ts";
import { type CliIo, type CommandLine, UsageError } from "./command.ts";

const DEFAULT_URL = "http://127.0.0.1:8080";
/** Commands that need no wallet speak as this one: the address of no key anybody has. */
const NOBODY = "11111111111111111111111111111111";

/** The service as the command line names it, for the wallet of a file, the environment or a prompt. @throws UsageError */
export async function openSession(line: CommandLine, io: CliIo): Promise<Tradewire> {
  return connect(line, io, await readWallet(line, io));
}

/** The same without a wallet, for commands that only ask. @throws UsageError */
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

/** The wallet, from a file, the environment or a prompt: never from an argument, where others could read it. */
async function readWallet({ flags }: CommandLine, io: CliIo): Promise<Wallet> {
  const file = flags.get("key-file");
  const text =
    typeof file === "string"
      ? await readFile(io, file)
      : (io.env.TRADEWIRE_KEY ?? (await io.askSecret("Private key (base58; it is not shown): ")));
  if (text === undefined || text.trim() === "") {
    throw new UsageError("A wallet is needed: --key-file FILE, TRADEWIRE_KEY, or an answer to the prompt.");
  }
  try {
    return fromBase58(text.trim().startsWith("[") ? bs58.encode(jsonBytes(text)) : text);
  } catch {
    throw new UsageError("The private key is neither 32 or 64 bytes in base58 nor a JSON list of bytes.");
  }
}

/** The form in which the Solana command-line tools keep keys. */
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

/** What a failure means for a script. */
export function isDistrust(error: TradeError): boolean {
  return ["UNEXPECTED_TRANSACTION", "UNREADABLE_TRANSACTION", "UNEXPECTED_CHALLENGE", "LIMIT_EXCEEDED"].includes(
    error.code,
  );
}
