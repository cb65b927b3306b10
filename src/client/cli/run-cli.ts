import { TradeError } from "../trade-error.ts";
import { type CliIo, COMMON_FLAGS, type Command, EXIT, FLAGS, parseCommandLine, UsageError } from "./command.ts";
import { isDistrust } from "./session.ts";

/** Runs a command line and returns its exit code. Never throws. */
export async function runCli(commands: readonly Command[], argv: readonly string[], io: CliIo): Promise<number> {
  const [name, ...args] = argv;
  const command = commands.find((one) => one.name === name);
  if (command === undefined) {
    const asked = name === undefined || name === "help" || name === "--help";
    const known = commands.find((one) => one.name === args[0]);
    if (asked) io.out(known === undefined ? overview(commands) : helpOf(known));
    else io.note(`Unknown command "${name}". tradewire --help lists the commands.`);
    return asked ? EXIT.done : EXIT.usage;
  }
  try {
    const line = parseCommandLine(args, [...COMMON_FLAGS, ...command.flags]);
    if (line.flags.has("help")) {
      io.out(helpOf(command));
      return EXIT.done;
    }
    const [least, most] = command.words;
    if (line.words.length < least || line.words.length > most)
      throw new UsageError(`Usage: tradewire ${command.usage}`);
    return await command.run(line, io);
  } catch (error) {
    return report(error, args.includes("--json"), io);
  }
}

function report(error: unknown, json: boolean, io: CliIo): number {
  if (error instanceof UsageError) {
    io.note(error.message);
    return EXIT.usage;
  }
  if (!(error instanceof TradeError)) {
    io.note(error instanceof Error ? error.message : String(error));
    return EXIT.failed;
  }
  const { code, message, retryable, safeToRebuild, field, signature, requestId } = error;
  if (json) io.out(JSON.stringify({ error: { code, message, retryable, safeToRebuild, field, signature, requestId } }));
  io.note(`${code}: ${message}`);
  if (signature !== undefined) io.note(`Transaction ${signature}`);
  return exitCodeOf(error);
}

function exitCodeOf(error: TradeError): number {
  if (error.signature === undefined && isDistrust(error)) return EXIT.distrusted;
  if (error.signature !== undefined) return error.safeToRebuild === true ? EXIT.tradeFailed : EXIT.undecided;
  if (error.safeToRebuild !== undefined) return EXIT.tradeFailed;
  return error.code === "CONNECTION_ERROR" ? EXIT.unreachable : EXIT.refused;
}

function overview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length)) + 2;
  return `tradewire: trade on Solana without handing your key to anybody.

The service builds a transaction; this program proves that it is the trade you asked for and nothing else, signs it
here, and sends it back to be broadcast.

${commands.map(({ name, summary }) => `  ${name.padEnd(width)}${summary}`).join("\n")}

Every command takes:
${flagLines(COMMON_FLAGS)}

Keys are read from files, the environment or a prompt, never from arguments, where other programs could see them.
tradewire help COMMAND teaches one command.

Exit codes: 0 done, 1 failed, 2 not understood, 3 refused by the service, 4 the transaction failed or expired,
5 sent and not decided yet, 6 not signed because it was not what was asked for, 7 service not reached.

A first trade:
  tradewire register --key-file wallet.json --save tradewire.key
  export TRADEWIRE_API_KEY=$(cat tradewire.key)
  tradewire quote SOL MINT 0.1
  tradewire buy MINT 0.1 --slippage 0.02 --key-file wallet.json`;
}

function helpOf({ usage, summary, help, flags }: Command): string {
  return `tradewire ${usage}

${summary[0]!.toUpperCase()}${summary.slice(1)}.

${help}

${flagLines([...flags, ...COMMON_FLAGS])}`;
}

function flagLines(names: readonly string[]): string {
  const rows = names.map((name) => {
    const { value, help } = FLAGS[name]!;
    return [`--${name}${value === undefined ? "" : ` ${value}`}`, help] as const;
  });
  const width = Math.max(...rows.map(([flag]) => flag.length)) + 2;
  return rows.map(([flag, help]) => `  ${flag.padEnd(width)}${help}`).join("\n");
}
