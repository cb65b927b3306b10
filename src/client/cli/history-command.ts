import { Address } from "../../primitives/address.ts";
import { SOL_MINT } from "../../solana/programs.ts";
import type { ListedTrades } from "../answers/answers.ts";
import type { TradeStatusName } from "../answers/plain-answer.ts";
import { type Command, type CommandLine, EXIT, listFlag, numberFlag, textFlag, UsageError } from "./command.ts";
import { decimal, print } from "./print.ts";
import type { CliConfig } from "./settings/config.ts";
import { openReadOnlySession } from "./settings/session.ts";
import { findToken } from "./settings/tokens.ts";

const DEFAULT_LIMIT = 20;

/** Lists the account's trades. */
export const historyCommand: Command = {
  name: "history",
  usage: "history",
  summary: "lists this account's trades, newest first",
  flags: ["limit", "cursor", "status", "since", "until"],
  help: `As the service remembers them; the chain's record of one is at its signature: tradewire status SIGNATURE.

  tradewire history --limit 50 --status failed,expired
  tradewire history --since 2026-11-22 --json`,
  async run(line, io) {
    const { client, config } = await openReadOnlySession(line, io);
    const page = await client.listTrades(
      {
        limit: numberFlag(line, "limit") ?? DEFAULT_LIMIT,
        cursor: textFlag(line, "cursor"),
        // The library refuses an unknown status and lists the valid ones.
        status: listFlag(line, "status") as readonly TradeStatusName[] | undefined,
        since: timeFlag(line, "since"),
        until: timeFlag(line, "until"),
      },
      { signal: io.signal },
    );
    print(line, io, page, historyLines(page, config));
    return EXIT.done;
  },
};

/** A time as the service reads it: a date alone is midnight, UTC. @throws UsageError */
function timeFlag(line: CommandLine, name: string): string | undefined {
  const text = textFlag(line, name);
  if (text === undefined) return undefined;
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text;
  const hasZone = /T.*(Z|[+-]\d\d:?\d\d)$/i.test(time);
  if (!hasZone || Number.isNaN(Date.parse(time))) {
    throw new UsageError(`--${name} is a date or a time with its zone, such as 2026-11-22T09:00:00Z.`);
  }
  return time;
}

/** The symbol of a mint in an answer, which may be none. */
function symbolOf(mint: string, tokens: CliConfig["tokens"]): string {
  if (mint === SOL_MINT.toString()) return "SOL";
  return Address.parse(mint) === undefined ? mint : findToken(mint, tokens).symbol;
}

function historyLines({ trades, nextCursor }: ListedTrades, { tokens }: CliConfig): string[] {
  const lines = trades.map(({ submittedAt, status, quoted, tradeResult, platform, failure, signature, ...trade }) => {
    const amounts = tradeResult ?? quoted;
    const moved =
      amounts === undefined
        ? "unknown amounts"
        : `${decimal(amounts.inputAmount)} ${symbolOf(trade.inputMint, tokens)} → ${decimal(amounts.outputAmount)} ${symbolOf(trade.outputMint, tokens)}`;
    const expected = tradeResult === undefined ? " (expected)" : "";
    const why = failure === undefined ? "" : `  ${failure.code}`;
    return `${submittedAt}  ${status.padEnd(9)}  ${moved}${expected}  ${platform}${why}  ${signature}`;
  });
  if (lines.length === 0) lines.push("No trades here.");
  return nextCursor === undefined ? lines : [...lines, `More: --cursor ${nextCursor}`];
}
