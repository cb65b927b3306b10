import type { TradeOptions } from "../order/options.ts";
import type { TradeReview } from "../proof/review.ts";
import { TradeError } from "../trade-error.ts";
import type { ProvenTrade } from "../trading/trade-desk.ts";
import {
  type CliIo,
  type Command,
  type CommandLine,
  EXIT,
  exitCodeOfTrade,
  listFlag,
  numberFlag,
  parseNumber,
  TRADE_FLAGS,
  UsageError,
} from "./command.ts";
import { tradeLines } from "./look-commands.ts";
import { print } from "./print.ts";
import { describeReview, refuseCareless, reviewAsJson, type SideNames } from "./review-lines.ts";
import type { CliConfig } from "./settings/config.ts";
import { explorerLink } from "./settings/network.ts";
import { type CliSession, openSession } from "./settings/session.ts";
import { findToken } from "./settings/tokens.ts";
import { routeOf, swapOf, termsOf } from "./trade-terms.ts";

const REBUILD_PRICE_MOVE = 0.01;
/** One line a paragraph: the help is wrapped to the terminal. */
const SAFETY = `Before anything is signed, you see what leaves, the least that arrives, the price impact, the costs and the source \
of each, and are asked to confirm. --yes does not ask; --dry-run signs nothing.

Above 1 SOL, an order is refused if part of it rests on the service's word alone: --min-output or --reference prove the \
price, a number for --slippage proves the slippage, and --node proves the rest.`;

const buy: Command = {
  name: "buy",
  usage: "buy <TOKEN> <SOL>",
  summary: "spends exactly this much SOL on a token",
  flags: TRADE_FLAGS,
  help: `${SAFETY}

  tradewire buy USDC 0.1 --node https://my-node.example
  tradewire buy DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263 2 --min-output 1000000 --yes
  tradewire buy USDC 0.1 --slippage auto --max-slippage 0.02`,
  async run(line, io) {
    const session = await openTrading(line, io);
    const [token = "", amount = ""] = line.words;
    const { mint, symbol } = findToken(token, session.config.tokens);
    const order = { mint, solAmount: parseNumber(amount, "SOL"), ...termsOf(line, session.config) };
    const sides = { input: "SOL", output: symbol };
    return trade(line, io, session, sides, (options) => session.client.buy(order, options));
  },
};

const sell: Command = {
  name: "sell",
  usage: "sell <TOKEN> <AMOUNT|PERCENT%>",
  summary: "sells tokens for SOL: an amount, or a share of the balance",
  flags: TRADE_FLAGS,
  help: `${SAFETY}

  tradewire sell USDC 25.5 --min-output 0.15
  tradewire sell BONK 100% --node https://my-node.example

A share needs --node, which reads the balance, or --max-input. At 100% the emptied token account is closed, and its rent \
comes back. --slippage auto needs an amount: it is chosen by a quote, and only the build knows what a share is worth.`,
  async run(line, io) {
    const session = await openTrading(line, io);
    const [token = "", amount = ""] = line.words;
    const { mint, symbol } = findToken(token, session.config.tokens);
    const share = amount.endsWith("%");
    const value = parseNumber(share ? amount.slice(0, -1) : amount, "AMOUNT");
    const exact = share ? { sellPercent: value } : { tokenAmount: value };
    const order = { mint, ...exact, ...termsOf(line, session.config) };
    const sides = { input: symbol, output: "SOL" };
    return trade(line, io, session, sides, (options) => session.client.sell(order, options));
  },
};

const swap: Command = {
  name: "swap",
  usage: "swap <INPUT> <OUTPUT> <AMOUNT>",
  summary: "swaps one token for another, exact on either side",
  flags: [...TRADE_FLAGS, "exact-out"],
  help: `${SAFETY}

  tradewire swap SOL USDC 20 --exact-out --max-input 0.2`,
  async run(line, io) {
    if (line.flags.has("exact-out") && !line.flags.has("max-input")) {
      throw new UsageError("--exact-out costs what the service says, so it needs a bound: --max-input AMOUNT.");
    }
    const session = await openTrading(line, io);
    const { tokens } = session.config;
    const order = { ...swapOf(line, session.config), ...termsOf(line, session.config) };
    const [input = "", output = ""] = line.words;
    const sides = { input: findToken(input, tokens).symbol, output: findToken(output, tokens).symbol };
    return trade(line, io, session, sides, (options) => session.client.swap(order, options));
  },
};

/** Commands that spend money. */
export const TRADE_COMMANDS: readonly Command[] = [buy, sell, swap];

/** A session for a trade that somebody or something confirms. @throws UsageError */
async function openTrading(line: CommandLine, io: CliIo): Promise<CliSession> {
  if (!line.flags.has("yes") && !line.flags.has("dry-run") && !io.isInteractive) {
    throw new UsageError("Nobody is at a terminal to confirm: pass --yes to trade without asking, or --dry-run.");
  }
  return openSession(line, io);
}

async function trade(
  line: CommandLine,
  io: CliIo,
  session: CliSession,
  sides: SideNames,
  run: (options: TradeOptions) => Promise<ProvenTrade>,
): Promise<number> {
  const isDry = line.flags.has("dry-run");
  let seen: TradeReview | undefined;
  const confirm = async (review: TradeReview) => {
    seen = review;
    const lines = describeReview(review, sides);
    if (!isDry) for (const text of lines) io.note(text);
    refuseCareless(review, sides, numberFlag(line, "max-price-impact"), numberFlag(line, "rebuild") ?? 0);
    if (isDry) return false;
    return line.flags.has("yes") || (await io.confirm("Trade? [y/N] ")) === true;
  };
  try {
    const done = await run({ ...limitsOf(line, session.config), confirm, ...progressOf(io) });
    const explorer = await explorerLink(done.signature, session.network, session.node);
    print(line, io, { ...done, explorer }, tradeLines(done, explorer));
    return exitCodeOfTrade(done);
  } catch (error) {
    const isDeclined = error instanceof TradeError && error.code === "DECLINED";
    if (!isDeclined || !isDry || seen === undefined) throw error;
    print(line, io, reviewAsJson(seen), [...describeReview(seen, sides), "Dry run: nothing was signed."]);
    return EXIT.done;
  }
}

function limitsOf(line: CommandLine, { tokens }: CliConfig): TradeOptions {
  const times = numberFlag(line, "rebuild");
  return {
    ...routeOf(line),
    maxSlippage: numberFlag(line, "max-slippage"),
    maxPriceImpact: numberFlag(line, "max-price-impact"),
    maxPriorityCost: numberFlag(line, "max-priority-cost"),
    middleMints: listFlag(line, "middle-mints")?.map((token) => findToken(token, tokens).mint),
    maxMiddleRent: numberFlag(line, "max-middle-rent"),
    minOutputAmount: numberFlag(line, "min-output"),
    maxInputAmount: numberFlag(line, "max-input"),
    decimals: { input: numberFlag(line, "input-decimals"), output: numberFlag(line, "output-decimals") },
    rebuild: times === undefined ? undefined : { times, maxPriceMove: REBUILD_PRICE_MOVE },
  };
}

function progressOf(io: CliIo): Pick<TradeOptions, "signal" | "onProgress"> {
  return {
    signal: io.signal,
    onProgress(progress) {
      if (progress.step === "signed") io.note(`Signed: ${progress.signature}`);
      else if (progress.step === "waiting") io.note("Sent; waiting for the chain …");
      else if (progress.step === "expired") io.note("The transaction expired; building again …");
    },
  };
}
