/** A command's only access to the outside world. */
export interface CliIo {
  /** Results. */
  out(line: string): void;
  /** Progress, prompts and errors. */
  note(line: string): void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** @throws Error if it cannot be read */
  readFile(path: string): Promise<string>;
  /** Writes a file that only its owner can read. */
  writeSecret(path: string, text: string): Promise<void>;
  /** Prompts for a line without echoing it; undefined if there is no terminal. */
  askSecret(question: string): Promise<string | undefined>;
  /** Aborts when the command is interrupted. */
  readonly signal: AbortSignal;
}

/** Exit codes. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  /** The service refused; nothing was signed. */
  refused: 3,
  /** The transaction failed or expired; it can no longer land. */
  tradeFailed: 4,
  /** Sent but undecided: check with `status`. */
  undecided: 5,
  /** The transaction is not the trade ordered; nothing was signed. */
  distrusted: 6,
  /** The service could not be reached; nothing was sent. */
  unreachable: 7,
} as const;

export interface CommandLine {
  /** Arguments that are not flags, without the command's name. */
  readonly words: readonly string[];
  /** The flags given; true for a flag without a value. */
  readonly flags: ReadonlyMap<string, string | true>;
}

export interface Command {
  readonly name: string;
  /** Arguments, as the help shows them. */
  readonly usage: string;
  /** One line. */
  readonly summary: string;
  /** Names of flags besides the common ones. */
  readonly flags: readonly string[];
  /** Minimum and maximum number of words. */
  readonly words: readonly [number, number];
  /** Further help, with an example. */
  readonly help: string;
  run(line: CommandLine, io: CliIo): Promise<number>;
}

/** An invalid command line. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** A flag: the name of its value, if it takes one, and its help text. */
interface Flag {
  readonly value: string | undefined;
  readonly help: string;
}

export const FLAGS: Readonly<Record<string, Flag>> = {
  url: { value: "URL", help: "URL of the service (or TRADEWIRE_URL; default http://127.0.0.1:8080)" },
  "key-file": {
    value: "FILE",
    help: "file with the wallet's private key in base58 or as JSON bytes (or TRADEWIRE_KEY)",
  },
  "api-key-file": { value: "FILE", help: "file with the API key (or TRADEWIRE_API_KEY)" },
  json: { value: undefined, help: "print one JSON object, for scripts" },
  help: { value: undefined, help: "this text" },
  slippage: { value: "FRACTION", help: "how much worse than quoted the trade may be; default 0.01, which is 1 %" },
  priority: { value: "LEVEL", help: "economy, fast (the default), faster or fastest" },
  "max-price-impact": { value: "FRACTION", help: "maximum price impact" },
  "max-priority-cost": { value: "SOL", help: "maximum cost of priority" },
  "min-output": { value: "AMOUNT", help: "minimum output, whatever the service estimates" },
  "max-input": { value: "AMOUNT", help: "maximum input, whatever the service estimates" },
  "input-decimals": { value: "N", help: "decimals of the input mint, instead of those the service implies" },
  "output-decimals": { value: "N", help: "decimals of the output mint, instead of those the service implies" },
  "exact-out": { value: undefined, help: "AMOUNT is the output" },
  rebuild: { value: "TIMES", help: "rebuild an expired transaction up to this many times, at most 1 % worse" },
  watch: { value: undefined, help: "follow the trade until it is final" },
  label: { value: "TEXT", help: "a name for the API key" },
  save: { value: "FILE", help: "write the API key to this file instead of showing it" },
  "revoke-others": { value: undefined, help: "revoke every other API key" },
  port: { value: "PORT", help: "listen on this port" },
};

export const COMMON_FLAGS = ["url", "key-file", "api-key-file", "json", "help"] as const;
export const TRADE_FLAGS = [
  "slippage",
  "priority",
  "max-price-impact",
  "max-priority-cost",
  "min-output",
  "max-input",
  "input-decimals",
  "output-decimals",
  "rebuild",
] as const;

/** Words and flags of an argument list. @throws UsageError for an unknown flag */
export function parseCommandLine(args: readonly string[], allowed: readonly string[]): CommandLine {
  const words: string[] = [];
  const flags = new Map<string, string | true>();
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!;
    if (!arg.startsWith("--")) {
      words.push(arg);
      continue;
    }
    const [name = "", inline] = splitOnce(arg.slice(2), "=");
    const flag = FLAGS[name];
    if (flag === undefined || !allowed.includes(name)) throw new UsageError(`Unknown flag --${name}.`);
    if (flag.value === undefined) flags.set(name, true);
    else {
      const value = inline ?? args[++at];
      if (value === undefined) throw new UsageError(`--${name} needs a value: ${flag.value}.`);
      flags.set(name, value);
    }
  }
  return { words, flags };
}

/** The number of a flag; undefined if absent. @throws UsageError if it is not a number */
export function numberFlag({ flags }: CommandLine, name: string): number | undefined {
  const text = flags.get(name);
  return typeof text === "string" ? parseNumber(text, `--${name}`) : undefined;
}

/** A number in an argument. @throws UsageError if it is not a number */
export function parseNumber(text: string, what: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) throw new UsageError(`${what} must be a number, not "${text}".`);
  return value;
}

function splitOnce(text: string, separator: string): readonly [string, string | undefined] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + separator.length)];
}
