import type { Trade } from "../trade.ts";

/** A command's only access to the outside world. */
export interface CliIo {
  /** Results. */
  out(line: string): void;
  /** Progress, prompts and errors. */
  note(line: string): void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** @throws Error if it cannot be read */
  readFile(path: string): Promise<string>;
  /** Writes a file that only its owner can read, also if others could read it before. */
  writeSecret(path: string, text: string): Promise<void>;
  /** Creates such a file. @throws Error if the path exists */
  createSecret(path: string, text: string): Promise<void>;
  /** Prompts for a line without echoing it; undefined if there is no terminal. */
  askSecret(question: string): Promise<string | undefined>;
  /** Asks a yes-or-no question; undefined if there is no terminal. */
  confirm(question: string): Promise<boolean | undefined>;
  /** True if somebody at a terminal can answer. */
  readonly isInteractive: boolean;
  /** Aborts when the command is interrupted. */
  readonly signal: AbortSignal;
}

/** Exit codes. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  /** The service refused, or a limit on impact or priority; nothing was signed. */
  refused: 3,
  /** The transaction failed or expired; it can no longer land. */
  tradeFailed: 4,
  /** Sent but undecided: check with `status`. */
  undecided: 5,
  /** The transaction is not the trade ordered, beyond a limit on an amount, or not proven; nothing was signed. */
  distrusted: 6,
  /** The service, the node or the reference could not be reached; nothing was sent. */
  unreachable: 7,
} as const;

/** What the exit code says of a trade: one in a block that may still be dropped, or in which it may have failed, is undecided. */
export function exitCodeOfTrade({ status }: Pick<Trade, "status">): number {
  return status === "pending" || status === "processed" ? EXIT.undecided : EXIT.done;
}

/** A command's arguments, parsed. */
export interface CommandLine {
  /** Arguments that are not flags, without the command's name. */
  readonly words: readonly string[];
  /** The flags given; true for a flag without a value. */
  readonly flags: ReadonlyMap<string, string | true>;
}

/** One command of the command line. */
export interface Command {
  readonly name: string;
  /** The name and its arguments: <REQUIRED>, [OPTIONAL]. */
  readonly usage: string;
  /** One line. */
  readonly summary: string;
  /** Names of flags besides the common ones. */
  readonly flags: readonly string[];
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
  url: { value: "URL", help: "the service (or TRADEWIRE_URL; default http://127.0.0.1:8080)" },
  profile: { value: "NAME", help: "profile of the configuration file (or TRADEWIRE_PROFILE)" },
  "key-file": {
    value: "FILE",
    help: "private key in base58 or as JSON bytes (or TRADEWIRE_KEY; default ~/.config/solana/id.json)",
  },
  "api-key-file": { value: "FILE", help: "file with the API key (or TRADEWIRE_API_KEY)" },
  json: { value: undefined, help: "print one JSON object, for scripts; errors too" },
  node: { value: "URL", help: "your own RPC node: simulates before signing, reads decimals (or TRADEWIRE_NODE)" },
  reference: { value: "URL", help: "another Tradewire as a second opinion on price (or TRADEWIRE_REFERENCE)" },
  tolerance: { value: "FRACTION", help: "how much worse than the reference the price may be; default 0.01" },
  network: { value: "NAME", help: "mainnet, devnet, testnet or custom, for explorer links; default: as the node says" },
  slippage: {
    value: "FRACTION",
    help: "how much worse than quoted the trade may be, or auto: by how the price has moved; default 0.01, which is 1 %",
  },
  "max-slippage": { value: "FRACTION", help: "maximum slippage; default with --slippage auto: 0.03, which is 3 %" },
  priority: { value: "LEVEL", help: "economy, fast (the default), faster or fastest" },
  "max-price-impact": { value: "FRACTION", help: "maximum price impact; default 0.05, which is 5 %" },
  "max-priority-cost": { value: "SOL", help: "maximum cost of priority" },
  "middle-mints": { value: "LIST", help: "tokens that the route may pass through, such as SOL,USDC" },
  "max-middle-rent": { value: "SOL", help: "maximum rent of accounts opened for tokens between two markets" },
  "min-output": { value: "AMOUNT", help: "minimum output, whatever the service estimates" },
  "max-input": { value: "AMOUNT", help: "maximum input, whatever the service estimates" },
  "input-decimals": { value: "N", help: "decimals of the input mint, where no node reads them" },
  "output-decimals": { value: "N", help: "decimals of the output mint, where no node reads them" },
  "exact-out": { value: undefined, help: "AMOUNT is the output; needs --max-input" },
  rebuild: {
    value: "TIMES",
    help: "rebuild an expired transaction up to this many times, at most 1 % worse; --node proves that it expired",
  },
  "dry-run": { value: undefined, help: "build, verify and explain; sign nothing" },
  yes: { value: undefined, help: "trade without asking, for scripts" },
  watch: { value: undefined, help: "follow the trade until it is final" },
  label: { value: "TEXT", help: "a name for the API key" },
  save: { value: "FILE", help: "write the API key to this file instead of showing it" },
  "revoke-others": { value: undefined, help: "revoke every other API key" },
  limit: { value: "N", help: "trades to list, 1 to 100; default 20" },
  cursor: { value: "TEXT", help: "the next page, as the page before named it" },
  status: { value: "LIST", help: "only trades with one of these statuses, such as failed,expired" },
  since: {
    value: "TIME",
    help: "only trades submitted at this time or later, such as 2026-11-22T09:00:00Z or 2026-11-22 (UTC)",
  },
  until: { value: "TIME", help: "only trades submitted before this time" },
  "direct-only": { value: undefined, help: "trade the two mints against each other only" },
  "require-checked": { value: undefined, help: "trade only on markets checked on the deployed programs" },
  "max-legs": { value: "N", help: "markets in a row at most, 1 to 3" },
  "max-paths": { value: "N", help: "parallel paths at most, 1 to 4; 1 never splits" },
  venues: { value: "LIST", help: "trade on these venues only, such as raydium_cpmm,orca_whirlpool" },
  "exclude-venues": { value: "LIST", help: "trade on none of these venues" },
  port: { value: "PORT", help: "listen on this port" },
};

export const COMMON_FLAGS = ["url", "profile", "key-file", "api-key-file", "json"] as const;
export const ROUTE_FLAGS = [
  "direct-only",
  "max-legs",
  "max-paths",
  "venues",
  "exclude-venues",
  "require-checked",
] as const;
const PROOF_FLAGS = ["node", "reference", "tolerance", "network"] as const;
export const TRADE_FLAGS = [
  ...PROOF_FLAGS,
  ...ROUTE_FLAGS,
  "slippage",
  "max-slippage",
  "priority",
  "max-price-impact",
  "max-priority-cost",
  "middle-mints",
  "max-middle-rent",
  "min-output",
  "max-input",
  "input-decimals",
  "output-decimals",
  "rebuild",
  "dry-run",
  "yes",
] as const;

/** The text of a flag with a value; undefined if absent. */
export function textFlag({ flags }: CommandLine, name: string): string | undefined {
  const text = flags.get(name);
  return typeof text === "string" ? text : undefined;
}

/** The number of a flag; undefined if absent. @throws UsageError if it is not a number */
export function numberFlag(line: CommandLine, name: string): number | undefined {
  const text = textFlag(line, name);
  return text === undefined ? undefined : parseNumber(text, `--${name}`);
}

/** The words of a flag with a list, separated by commas; undefined if absent. @throws UsageError if one is empty */
export function listFlag(line: CommandLine, name: string): readonly string[] | undefined {
  const words = textFlag(line, name)
    ?.split(",")
    .map((word) => word.trim());
  if (words?.includes("")) throw new UsageError(`--${name} is a list with commas, such as a,b.`);
  return words;
}

/** A number in plain decimals, such as 0.25. @param others how a message names what else is allowed @throws UsageError for anything else */
export function parseNumber(text: string, what: string, others = ""): number {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new UsageError(`${what} is a plain decimal number, such as 0.25${others}.`);
  const number = Number(text);
  if (digitsOf(String(number)) !== digitsOf(text)) {
    throw new UsageError(
      `${what} has more digits than can be passed on exactly: ${text} would be ${number}. Give fewer.`,
    );
  }
  return number;
}

/** The digits that count, of a decimal with or without an exponent. */
function digitsOf(decimal: string): string {
  const [mantissa = ""] = decimal.split("e");
  return mantissa.replace(".", "").replace(/^0+/, "").replace(/0+$/, "");
}
