import { encodeBase58 } from "../../../primitives/encoding/base58.ts";
import { rpcNode } from "../../node/rpc-node.ts";
import type { TradeError } from "../../trade-error.ts";
import { Tradewire } from "../../tradewire.ts";
import { fromBase58, type Wallet } from "../../wallet.ts";
import { type CliIo, type CommandLine, numberFlag, textFlag, UsageError } from "../command.ts";
import { type CliConfig, expandHome, readConfig } from "./config.ts";
import { warnPlainHttp, warnPlainWitness } from "./network.ts";
import { KNOWN_TOKEN_DECIMALS } from "./tokens.ts";

const DEFAULT_URL = "http://127.0.0.1:8080";
/** Where the Solana command-line tools keep a key. */
const DEFAULT_KEY = "~/.config/solana/id.json";
/** The wallet of commands that need none: an address without a known key. */
const NOBODY = "11111111111111111111111111111111";

/** Settings of a command: flags first, then the environment, then the profile. */
export interface CliSettings {
  readonly config: CliConfig;
  readonly url: string;
  readonly node: string | undefined;
  readonly reference: string | undefined;
  readonly network: string | undefined;
}

/** A client of the service, and the settings it was made with. */
export interface CliSession extends CliSettings {
  readonly client: Tradewire;
}

/** The settings of a command line. @throws UsageError */
export async function readSettings(line: CommandLine, io: CliIo): Promise<CliSettings> {
  const config = await readConfig(line, io);
  const { profile } = config;
  return {
    config,
    url: httpUrl(textFlag(line, "url") ?? io.env.TRADEWIRE_URL ?? profile.url ?? DEFAULT_URL, "the service"),
    node: optionalUrl(textFlag(line, "node") ?? io.env.TRADEWIRE_NODE ?? profile.node, "the node"),
    reference: optionalUrl(
      textFlag(line, "reference") ?? io.env.TRADEWIRE_REFERENCE ?? profile.reference,
      "the reference",
    ),
    network: textFlag(line, "network") ?? profile.network,
  };
}

/** A session with the wallet from a file, the environment or a prompt. @throws UsageError */
export async function openSession(line: CommandLine, io: CliIo): Promise<CliSession> {
  const settings = await readSettings(line, io);
  warnPlainWitness("the node", settings.node, io);
  warnPlainWitness("the reference", settings.reference, io);
  return connect(line, io, settings, await readWallet(line, io, settings.config), await readApiKey(line, io, settings));
}

/** The same without an API key, to register for one. @throws UsageError */
export async function openRegistration(line: CommandLine, io: CliIo): Promise<CliSession> {
  const settings = await readSettings(line, io);
  return connect(line, io, settings, await readWallet(line, io, settings.config), undefined);
}

async function readApiKey(line: CommandLine, io: CliIo, { config }: CliSettings): Promise<string | undefined> {
  const file = textFlag(line, "api-key-file");
  if (file !== undefined) return readKey(io, file, "--api-key-file");
  const ofProfile = config.profile.api_key_file;
  if (io.env.TRADEWIRE_API_KEY !== undefined || ofProfile === undefined) return io.env.TRADEWIRE_API_KEY;
  return readKey(io, ofProfile, "api_key_file");
}

/** A session without a wallet, for commands that sign nothing. @throws UsageError */
export async function openReadOnlySession(line: CommandLine, io: CliIo): Promise<CliSession> {
  const refuse = () => Promise.reject(new UsageError("This command signs nothing."));
  const settings = await readSettings(line, io);
  const nobody = { publicKey: NOBODY as never, signMessageBytes: refuse };
  return connect(line, io, settings, nobody, await readApiKey(line, io, settings));
}

async function connect(
  line: CommandLine,
  io: CliIo,
  settings: CliSettings,
  wallet: Wallet,
  apiKey: string | undefined,
): Promise<CliSession> {
  const { url, node, reference, config } = settings;
  if (apiKey !== undefined) warnPlainHttp(url, io);
  const keyFile = config.profile.reference_key_file;
  const client = Tradewire.connect({
    baseUrl: url,
    wallet,
    apiKey,
    keepAliveMs: 0,
    decimals: KNOWN_TOKEN_DECIMALS,
    node: node === undefined ? undefined : rpcNode(node),
    reference:
      reference === undefined
        ? undefined
        : {
            source: reference,
            tolerance: numberFlag(line, "tolerance"),
            apiKey:
              io.env.TRADEWIRE_REFERENCE_API_KEY ?? (keyFile && (await readKey(io, keyFile, "reference_key_file"))),
          },
  });
  return { ...settings, client };
}

/** The wallet from a file, the environment or a prompt; never from an argument, which other users can read. */
export async function readWallet(line: CommandLine, io: CliIo, { profile }: CliConfig): Promise<Wallet> {
  const file = textFlag(line, "key-file");
  const named = file ?? (io.env.TRADEWIRE_KEY === undefined ? profile.key_file : undefined);
  const text =
    named === undefined
      ? (io.env.TRADEWIRE_KEY ?? (await readDefaultKey(io)))
      : await readKey(io, named, file === undefined ? "key_file" : "--key-file");
  const key = text ?? (await io.askSecret("Private key (base58, not echoed): "));
  if (key === undefined || key.trim() === "") {
    throw new UsageError("No wallet: pass --key-file FILE, set TRADEWIRE_KEY, or run tradewire wallet new.");
  }
  try {
    return fromBase58(key.trim().startsWith("[") ? encodeBase58(jsonBytes(key)) : key);
  } catch {
    throw new UsageError("The private key must be 32 or 64 bytes, in base58 or as a JSON array.");
  }
}

async function readDefaultKey(io: CliIo): Promise<string | undefined> {
  const text = await io.readFile(defaultKeyPath(io)).catch(() => undefined);
  if (text !== undefined) io.note(`Using the wallet in ${DEFAULT_KEY}.`);
  return text;
}

/** The path of the default key. */
export function defaultKeyPath(io: CliIo): string {
  return expandHome(DEFAULT_KEY, io);
}

/** The file format of the Solana command-line tools. @throws TypeError unless every number is a byte */
function jsonBytes(text: string): Uint8Array {
  const numbers = JSON.parse(text) as unknown[];
  const bytes = Uint8Array.from(numbers as number[]);
  if (numbers.every((number, index) => number === bytes[index])) return bytes;
  throw new TypeError("not bytes");
}

/** The text of a file with a key. A key in the file's place is not repeated: the screen may be seen, the log be kept. */
async function readKey(io: CliIo, path: string, from: string): Promise<string> {
  try {
    return (await io.readFile(expandHome(path, io))).trim();
  } catch {
    const isPath = /[/.]/.test(path) && !path.startsWith("[");
    throw new UsageError(
      isPath
        ? `${from}: the file ${path} cannot be read.`
        : `${from} names a file, and there is none of that name. If you gave the key itself, it is now in your shell's history.`,
    );
  }
}

function optionalUrl(text: string | undefined, what: string): string | undefined {
  return text === undefined ? undefined : httpUrl(text, what);
}

function httpUrl(text: string, what: string): string {
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text.replace(/\/+$/, "");
  throw new UsageError(`The URL of ${what} begins with http:// or https://.`);
}

/** True if nothing was signed because the transaction was not the ordered one, or exceeded what was allowed. */
export function isDistrust({ code }: TradeError): boolean {
  return [
    "UNEXPECTED_TRANSACTION",
    "UNREADABLE_TRANSACTION",
    "UNEXPECTED_CHALLENGE",
    "UNEXPECTED_ANSWER",
    "LIMIT_EXCEEDED",
    "PRICE_CONTRADICTED",
    "DECIMALS_REQUIRED",
    "BOUND_REQUIRED",
    "UNPROVEN",
  ].includes(code);
}
