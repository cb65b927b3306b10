/** The world as a command sees it: everything outside goes through here. */
export interface CliIo {
  /** Results. */
  out(line: string): void;
  /** Progress, questions and complaints. */
  note(line: string): void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** @throws Error when it cannot be read */
  readFile(path: string): Promise<string>;
  /** Writes a file only its owner can read. */
  writeSecret(path: string, text: string): Promise<void>;
  /** Asks for a line without showing what is typed; undefined where nobody can answer. */
  askSecret(question: string): Promise<string | undefined>;
  /** Aborts when the command is interrupted. */
  readonly signal: AbortSignal;
}

/** How a command ended, as its exit code tells scripts. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  /** The service refused; nothing was signed. */
  refused: 3,
  /** The transaction failed or expired; nothing of it can land any more. */
  tradeFailed: 4,
  /** Sent, and not decided: ask with `status`. */
  undecided: 5,
  /** What the service built is not what was asked for; nothing was signed. */
  distrusted: 6,
  /** The service could not be reached; nothing was sent. */
  unreachable: 7,
} as const;

export interface CommandLine {
  /** What stands without a flag, the command's name left out. */
  readonly words: readonly string[];
  /** Flags that were given; true where a flag has no value. */
  readonly flags: ReadonlyMap<string, string | true>;
}

export interface Command {
  readonly name: string;
  /** Arguments, as the help shows them. */
  readonly usage: string;
  /** One line. */
  readonly summary: string;
  /** Names of flags beside the common ones. */
  readonly flags: readonly string[];
  /** How many words it takes, least and most. */
  readonly words: readonly [number, number];
  /** Further help, with an example. */
  readonly help: string;
  run(line: CommandLine, io: CliIo): Promise<number>;
}

/** A command line that cannot be understood. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** A flag of the table: whether it takes a value, and what it says in the help. */
interface Flag {
  readonly value: string | undefined;
  readonly help: string;
}

export const FLAGS: Readonly<Record<string, Flag>> = {
  url: { value: "URL", help: "where the service is (or TRADEWIRE_URL; http://127.0.0.1:8080)" },
  "key-file": {
    value: "FILE",
    help: "file with the wallet's private key in base58 or as JSON bytes (or TRADEWIRE_KEY)",
  },
  "api-key-file": { value: "FILE", help: "file with the API key (or TRADEWIRE_API_KEY)" },
  json: { value: undefined, help: "one JSON object on standard output, for scripts" },
  help: { value: undefined, help: "this text" },
  slippage: { value: "FRACTION", help: "how much worse than quoted it may go; 0.01 is 1 %, the default" },
  priority: { value: "LEVEL", help: "economy, fast (the default), faster or fastest" },
  "max-price-impact": { value: "FRACTION", help: "refuse to move the price by more" },
  "max-priority-cost": { value: "SOL", help: "refuse to pay more for priority" },
  "min-output": { value: "AMOUNT", help: "refuse to accept less, whatever the service estimates" },
  "max-input": { value: "AMOUNT", help: "refuse to pay more, whatever the service estimates" },
  "input-decimals": { value: "N", help: "decimals of the mint that goes in, so that the service's word is not needed" },
  "output-decimals": { value: "N", help: "decimals of the mint that comes out" },
  "exact-out": { value: undefined, help: "AMOUNT is what comes out" },
  rebuild: { value: "TIMES", help: "build again when a transaction expires, at most this often and 1 % worse" },
  watch: { value: undefined, help: "follow the trade until it is final" },
  label: { value: "TEXT", help: "a name for the API key" },
  save: { value: "FILE", help: "write the API key to this file instead of showing it" },
  "revoke-others": { value: undefined, help: "retire every other API key" },
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

/** Words and flags of an argument list. @throws UsageError for a flag the command does not have */
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
    if (flag === undefined || !allowed.includes(name)) throw new UsageError(`There is no flag --${name} here.`);
    if (flag.value === undefined) flags.set(name, true);
    else {
      const value = inline ?? args[++at];
      if (value === undefined) throw new UsageError(`--${name} needs a value: ${flag.value}.`);
      flags.set(name, value);
    }
  }
  return { words, flags };
}

/** A flag's number; undefined where it was not given. @throws UsageError when it is none */
export function numberFlag({ flags }: CommandLine, name: string): number | undefined {
  const text = flags.get(name);
  return typeof text === "string" ? parseNumber(text, `--${name}`) : undefined;
}

/** A number written by a person. @throws UsageError when it is none */
export function parseNumber(text: string, what: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) throw new UsageError(`${what} must be a number, not "${text}".`);
  return value;
}

function splitOnce(text: string, separator: string): readonly [string, string | undefined] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + separator.length)];
}
