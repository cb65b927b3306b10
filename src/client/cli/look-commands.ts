import { decodeBase58 } from "../../primitives/encoding/base58.ts";
import type { PriceQuote, PriorityPrices } from "../answers/answers.ts";
import type { Trade } from "../trade.ts";
import { explainTransaction } from "../verify/explain/explain-transaction.ts";
import {
  type CliIo,
  type Command,
  type CommandLine,
  EXIT,
  exitCodeOfTrade,
  numberFlag,
  ROUTE_FLAGS,
  UsageError,
} from "./command.ts";
import { base64Bytes, decimal, percent, print } from "./print.ts";
import { checkedWords, fitLines, movementWords } from "./review-lines.ts";
import { explorerLink } from "./settings/network.ts";
import { openReadOnlySession } from "./settings/session.ts";
import { DEFAULT_SLIPPAGE, routeOf, swapOf } from "./trade-terms.ts";

const quote: Command = {
  name: "quote",
  usage: "quote <INPUT> <OUTPUT> <AMOUNT>",
  summary: "prices a swap without building it",
  flags: ["slippage", "exact-out", ...ROUTE_FLAGS],
  help: `  tradewire quote SOL USDC 1`,
  async run(line, io) {
    const { client, config } = await openReadOnlySession(line, io);
    const answer = await client.quote(
      { ...swapOf(line, config), slippage: numberFlag(line, "slippage") ?? DEFAULT_SLIPPAGE },
      { ...routeOf(line), signal: io.signal },
    );
    print(line, io, answer, quoteLines(answer));
    return EXIT.done;
  },
};

const status: Command = {
  name: "status",
  usage: "status <SIGNATURE>",
  summary: "shows the state of a trade",
  flags: ["watch", "node", "network"],
  help: `  tradewire status 5h3…kQ --watch`,
  run: (line, io) => showStatus(line, io, line.flags.has("watch")),
};

const watch: Command = {
  name: "watch",
  usage: "watch <SIGNATURE>",
  summary: "follows a trade until it is final",
  flags: ["node", "network"],
  help: "  tradewire watch 5h3…kQ",
  run: (line, io) => showStatus(line, io, true),
};

const priorities: Command = {
  name: "priorities",
  usage: "priorities",
  summary: "shows what each priority level costs now",
  flags: [],
  help: "  tradewire priorities",
  async run(line, io) {
    const { client } = await openReadOnlySession(line, io);
    const answer = await client.priorities({ signal: io.signal });
    print(line, io, answer, priorityLines(answer));
    return EXIT.done;
  },
};

const verify: Command = {
  name: "verify",
  usage: "verify <BASE64>",
  summary: "explains any transaction line by line",
  flags: [],
  help: `Says what each instruction does, whom it touches and what it costs. Ends with exit code 6 if any part of it does not belong to \
a trade of this service: an instruction of another kind, SOL or tokens for another account, a second signer. Exit code 0 \
means that it has the form of a trade; only a build of your own order shows that it is the trade you want.

  tradewire verify AQAAAA…`,
  async run(line, io) {
    const { lines, unknown, mintless } = explainTransaction(base64Bytes(line.words[0]!));
    const named = (texts: readonly string[]) =>
      texts.map((text) =>
        /^\d+\./.test(text) ? `instruction ${text.split(".")[0]}` : text.split(/[,;]/)[0]!.replace(/\.$/, ""),
      );
    print(line, io, { lines, unknown, mintless }, [
      ...lines,
      ...(mintless.length === 0
        ? []
        : [`Without the mints, the bytes do not show whose accounts these move: ${named(mintless).join("; ")}.`]),
      unknown.length === 0
        ? "Every instruction is of a kind that trades contain."
        : `Not part of any trade of this service: ${named(unknown).join("; ")}.`,
    ]);
    return unknown.length === 0 ? EXIT.done : EXIT.distrusted;
  },
};

const SIGNATURE_BYTES = 64;

/** Commands that sign nothing. */
export const LOOK_COMMANDS: readonly Command[] = [quote, status, watch, priorities, verify];

async function showStatus(line: CommandLine, io: CliIo, follows: boolean): Promise<number> {
  const [signature = ""] = line.words;
  if (decodeBase58(signature, SIGNATURE_BYTES)?.length !== SIGNATURE_BYTES) {
    throw new UsageError("SIGNATURE is that of a transaction: 64 bytes in base58.");
  }
  const { client, node, network } = await openReadOnlySession(line, io);
  let last: Trade | undefined;
  if (follows) {
    for await (const next of client.watchTrade(signature, { signal: io.signal })) {
      io.note(`${next.status}${next.slot === undefined ? "" : ` in slot ${next.slot}`}`);
      last = next;
    }
  }
  const found = last ?? (await client.getTrade(signature, { signal: io.signal }));
  const explorer = await explorerLink(found.signature, network, node);
  print(line, io, { ...found, explorer }, tradeLines(found, explorer));
  return exitCodeOfTrade(found);
}

/** A trade in lines for a reader. */
export function tradeLines(done: Trade, explorer: string | undefined): string[] {
  const { tradeResult, platform, status, slot, signature, priorityCost } = done;
  const moved =
    tradeResult === undefined
      ? "Amounts are unknown yet"
      : `${decimal(tradeResult.inputAmount)} → ${decimal(tradeResult.outputAmount)}`;
  return [
    `${moved} on ${platform}: ${status}${slot === undefined ? "" : ` in slot ${slot}`}. Priority cost ${decimal(priorityCost)} SOL.`,
    signature,
    ...(explorer === undefined ? [] : [explorer]),
  ];
}

function quoteLines(answer: PriceQuote): string[] {
  const { estimates, platform, alternatives, faults, proof, priceMovement } = answer;
  const pair = (one: { readonly inputAmount: number; readonly outputAmount: number } | undefined) =>
    `${decimal(one?.inputAmount ?? 0)} → ${decimal(one?.outputAmount ?? 0)}`;
  return [
    `${pair(estimates)} on ${platform}; moves the price by ${percent(estimates?.priceImpact ?? 0)}.`,
    ...fitLines(estimates?.fitLoss).map((text) => `  ${text}`),
    `  checked ${checkedWords(proof)}`,
    ...movementLines(priceMovement),
    ...alternatives.map((other) => `  also ${pair(other)} on ${other.platform}`),
    ...faults.map(({ venue, reason }) => `  not ${venue}: ${reason}`),
  ];
}

/** What `--slippage auto` would go by; nothing if too little was observed. */
function movementLines(moved: PriceQuote["priceMovement"]): string[] {
  const movement = moved?.movement;
  if (moved === undefined || typeof movement !== "number") return [];
  return [`  its price ${movementWords({ ...moved, movement })}, says the service`];
}

function priorityLines({ levels }: PriorityPrices): string[] {
  return levels.map(
    ({ priority, expectedCost, expectedSlots }) =>
      `${priority.padEnd(8)} ${decimal(expectedCost)} SOL, about ${expectedSlots.toFixed(1)} slots`,
  );
}
