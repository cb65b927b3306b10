import { CommanderError, Option, Command as Program } from "commander";
import { TradeError } from "../trade-error.ts";
import { UnexpectedTransactionError } from "../verify/problem.ts";
import { type CliIo, COMMON_FLAGS, type Command, type CommandLine, EXIT, FLAGS, UsageError } from "./command.ts";
import { safeIo } from "./print.ts";
import { describeStranger } from "./settings/network.ts";
import { isDistrust, openSession, readSettings } from "./settings/session.ts";
import { VERSION } from "./version.ts";

const ABOUT = `Trade on Solana without handing your key to anybody.

The service builds a transaction; this program proves that it is the trade you asked for and nothing else, signs it here, and sends it back to be broadcast.`;

const AFTER = `
Keys are read from files, the environment or a prompt, never from arguments, where other programs could see them.
tradewire help COMMAND explains one command. ~/.config/tradewire/config.toml holds profiles and token symbols.

Exit codes: 0 done, 1 failed, declined or interrupted before it was signed, 2 not understood, 3 refused by the service, or
by a limit on impact or priority, 4 the transaction failed or expired, 5 sent and not decided yet, 6 not signed because it
was not what was asked for, beyond --min-output or --max-input, or not proven, 7 service, node or reference not reached.

A first trade:
  tradewire wallet new
  tradewire register --save tradewire.key
  export TRADEWIRE_API_KEY=$(cat tradewire.key)
  tradewire quote SOL USDC 0.1
  tradewire buy USDC 0.1 --slippage 0.02`;

/** Runs a command line and returns its exit code. Never throws. */
export async function runCli(commands: readonly Command[], argv: readonly string[], raw: CliIo): Promise<number> {
  const io = safeIo(raw);
  const isJson = argv.includes("--json");
  let code: number = EXIT.done;
  const program = createProgram(io, isJson);
  for (const command of commands) {
    addCommand(program, command, async (line) => {
      code = await command.run(line, io).catch((error) => report(error, line, io));
    });
  }
  try {
    await program.parseAsync(argv.length === 0 ? ["--help"] : [...argv], { from: "user" });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) return report(error, undefined, io);
    if (error.exitCode === 0) return EXIT.done;
    if (isJson) printError(io, { code: "USAGE", message: error.message.replace(/^error: /, "") });
    return EXIT.usage;
  }
}

function createProgram(io: CliIo, isJson: boolean): Program {
  const lines = (print: (line: string) => void) => (text: string) => {
    for (const line of text.replace(/\n$/, "").split("\n")) print(line);
  };
  return new Program("tradewire")
    .description(ABOUT)
    .version(VERSION, "--version")
    .addHelpText("after", AFTER)
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({ writeOut: lines(io.out), writeErr: lines(isJson ? () => undefined : io.note) });
}

function addCommand(program: Program, command: Command, run: (line: CommandLine) => Promise<void>): void {
  const { usage, summary, flags, help } = command;
  const added = program
    .command(usage)
    .summary(summary)
    .description(`${summary[0]!.toUpperCase()}${summary.slice(1)}.\n\n${help}`);
  for (const name of [...flags, ...COMMON_FLAGS.filter((one) => !flags.includes(one))]) {
    const { value, help: text } = FLAGS[name]!;
    added.addOption(new Option(`--${name}${value === undefined ? "" : ` <${value}>`}`, text));
  }
  added.action((...given: unknown[]) => {
    const options = added.opts<Record<string, string | true>>();
    const words = given.slice(0, -2).filter((word): word is string => typeof word === "string");
    const named = added.options.flatMap((option): [string, string | true][] => {
      const value = options[option.attributeName()];
      return value === undefined ? [] : [[option.long!.slice(2), value]];
    });
    return run({ words, flags: new Map(named) });
  });
}

/** Explains a failure and returns its exit code. */
async function report(error: unknown, line: CommandLine | undefined, io: CliIo): Promise<number> {
  const isJson = line?.flags.has("json") === true;
  if (error instanceof UsageError || error instanceof TypeError) {
    if (isJson) printError(io, { code: "USAGE", message: error.message });
    io.note(error.message);
    return EXIT.usage;
  }
  if (!(error instanceof TradeError)) {
    const message = error instanceof Error ? error.message : String(error);
    if (isJson) printError(io, { code: "FAILED", message });
    io.note(message);
    return EXIT.failed;
  }
  const hint = line === undefined ? undefined : await hintOf(error, line, io);
  const { code, message, retryable, safeToRebuild, field, signature, requestId } = error;
  if (isJson) printError(io, { code, message, hint, retryable, safeToRebuild, field, signature, requestId });
  io.note(hint?.instead === true ? hint.text : `${code}: ${message}`);
  if (hint?.instead === false) io.note(hint.text);
  if (signature !== undefined) io.note(`Transaction ${signature}`);
  return hint?.code ?? exitCodeOf(error);
}

function printError(
  io: CliIo,
  { hint, ...error }: Record<string, unknown> & { readonly hint?: Hint | undefined },
): void {
  io.out(JSON.stringify({ error: { ...error, hint: hint?.text } }));
}

/** What a person can do about a failure. */
interface Hint {
  readonly text: string;
  /** True if the text replaces the failure's own message. */
  readonly instead: boolean;
  readonly code?: number;
}

async function hintOf(error: TradeError, line: CommandLine, io: CliIo): Promise<Hint | undefined> {
  if (error.signature !== undefined) return undefined;
  const { url } = await readSettings(line, io);
  if (error.code === "CONNECTION_ERROR" || (error.code === "INTERNAL_ERROR" && error.requestId === undefined)) {
    const text = await describeStranger(url);
    return { text: text ?? `The service is at ${url}.`, instead: false, code: EXIT.unreachable };
  }
  if (error.code === "AUTH_ERROR") {
    const text =
      "The API key comes from --api-key-file, TRADEWIRE_API_KEY or the profile; tradewire register makes one.";
    return { text, instead: false };
  }
  // A build for another wallet looks like an attack, and is mostly a mixed-up key.
  if (!["UNEXPECTED_TRANSACTION", "WALLET_MISMATCH"].includes(error.code)) return undefined;
  const silent = { ...io, note: () => undefined };
  const session = await openSession(line, silent).catch(() => undefined);
  const profile = await session?.client.profile().catch(() => undefined);
  const own = session?.client.wallet.publicKey.toString();
  if (profile === undefined || profile.walletAddress === own || !mayBeFor(error, profile.walletAddress))
    return undefined;
  const text = `This API key belongs to ${profile.walletAddress}; your key file is ${own}. Nothing was signed.`;
  return { text, instead: true, code: EXIT.usage };
}

/** False of an attack that a service explains by another wallet: the refused transaction does not name that wallet. */
function mayBeFor(error: TradeError, walletAddress: string): boolean {
  if (error.code === "WALLET_MISMATCH") return true;
  return (
    error instanceof UnexpectedTransactionError && error.problems.some(({ account }) => `${account}` === walletAddress)
  );
}

function exitCodeOf(error: TradeError): number {
  if (error.signature === undefined && isDistrust(error)) return EXIT.distrusted;
  if (error.signature !== undefined) return error.safeToRebuild === true ? EXIT.tradeFailed : EXIT.undecided;
  if (["DECLINED", "ABORTED"].includes(error.code)) return EXIT.failed;
  return ["CONNECTION_ERROR", "NODE_UNAVAILABLE", "REFERENCE_UNAVAILABLE"].includes(error.code)
    ? EXIT.unreachable
    : EXIT.refused;
}
