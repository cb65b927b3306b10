import type { QuoteResponse } from "../../../gen/tradewire/v1/trade_pb.ts";
import type { TradeOptions } from "../options.ts";
import type { PriorityName } from "../order.ts";
import { PRIORITIES } from "../order.ts";
import type { Trade } from "../trade.ts";
import type { Tradewire } from "../tradewire.ts";
import { explainTransaction } from "../verify/explain-transaction.ts";
import {
  type CliIo,
  type Command,
  type CommandLine,
  EXIT,
  numberFlag,
  parseNumber,
  TRADE_FLAGS,
  UsageError,
} from "./command.ts";
import { openReadOnlySession, openSession } from "./session.ts";

const register: Command = {
  name: "register",
  usage: "register [--label TEXT] [--save FILE] [--revoke-others]",
  summary: "registers a wallet by signing a challenge, and prints its API key",
  flags: ["label", "save", "revoke-others"],
  words: [0, 0],
  help: `The key is shown once. Keep it, and set TRADEWIRE_API_KEY to it:

  tradewire register --key-file wallet.json --save tradewire.key
  export TRADEWIRE_API_KEY=$(cat tradewire.key)`,
  async run(line, io) {
    const client = await openSession(line, io);
    const label = line.flags.get("label");
    const { apiKey, keyId } = await client.register({
      label: typeof label === "string" ? label : undefined,
      revokeOthers: line.flags.has("revoke-others"),
      signal: io.signal,
    });
    const file = line.flags.get("save");
    if (typeof file === "string") await io.writeSecret(file, `${apiKey}\n`);
    const walletAddress = client.wallet.publicKey.toString();
    const shown = typeof file === "string" ? { keyId, walletAddress, savedTo: file } : { keyId, walletAddress, apiKey };
    print(line, io, shown, [
      `Registered ${walletAddress} with the key ${keyId}.`,
      typeof file === "string" ? `The API key was written to ${file}.` : `API key, shown only now: ${apiKey}`,
    ]);
    return EXIT.done;
  },
};

const buy: Command = {
  name: "buy",
  usage: "buy MINT SOL",
  summary: "spends exactly this much SOL on a token",
  flags: TRADE_FLAGS,
  words: [2, 2],
  help: `  tradewire buy EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v 0.1 --slippage 0.02 --max-priority-cost 0.001`,
  async run(line, io) {
    const [mint = "", amount = ""] = line.words;
    const order = { mint, solAmount: parseNumber(amount, "SOL"), ...terms(line) };
    return trade(line, io, (client, options) => client.buy(order, options));
  },
};

const sell: Command = {
  name: "sell",
  usage: "sell MINT AMOUNT|PERCENT%",
  summary: "sells tokens for SOL: an amount, or a share of the balance",
  flags: TRADE_FLAGS,
  words: [2, 2],
  help: `  tradewire sell EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v 25.5
  tradewire sell EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v 100%

At 100% the emptied token account is closed, and its rent comes back.`,
  async run(line, io) {
    const [mint = "", amount = ""] = line.words;
    const share = amount.endsWith("%");
    const value = parseNumber(share ? amount.slice(0, -1) : amount, "AMOUNT");
    const order = { mint, ...(share ? { sellPercent: value } : { tokenAmount: value }), ...terms(line) };
    return trade(line, io, (client, options) => client.sell(order, options));
  },
};

const swap: Command = {
  name: "swap",
  usage: "swap INPUT OUTPUT AMOUNT [--exact-out]",
  summary: "swaps one mint for another, exact on either side; SOL may be written SOL",
  flags: [...TRADE_FLAGS, "exact-out"],
  words: [3, 3],
  help: `  tradewire swap SOL EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v 20 --exact-out`,
  async run(line, io) {
    const order = { ...swapOf(line), ...terms(line) };
    return trade(line, io, (client, options) => client.swap(order, options));
  },
};

const quote: Command = {
  name: "quote",
  usage: "quote INPUT OUTPUT AMOUNT [--exact-out]",
  summary: "prices a swap without building it",
  flags: ["slippage", "exact-out"],
  words: [3, 3],
  help: `  tradewire quote SOL EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v 1`,
  async run(line, io) {
    const client = await openReadOnlySession(line, io);
    const answer = await client.quote(
      { ...swapOf(line), slippage: numberFlag(line, "slippage") ?? DEFAULT_SLIPPAGE },
      { signal: io.signal },
    );
    print(line, io, plain(answer), quoteLines(answer));
    return EXIT.done;
  },
};

const status: Command = {
  name: "status",
  usage: "status SIGNATURE [--watch]",
  summary: "shows the state of a trade",
  flags: ["watch"],
  words: [1, 1],
  help: `  tradewire status 5h3…kQ --watch`,
  async run(line, io) {
    const client = await openReadOnlySession(line, io);
    const [signature = ""] = line.words;
    let last: Trade | undefined;
    if (line.flags.has("watch")) {
      for await (const next of client.watchTrade(signature, { signal: io.signal })) {
        io.note(`${next.status}${next.slot === undefined ? "" : ` in slot ${next.slot}`}`);
        last = next;
      }
    }
    const found = last ?? (await client.getTrade(signature, { signal: io.signal }));
    print(line, io, found, tradeLines(found));
    return found.status === "pending" ? EXIT.undecided : EXIT.done;
  },
};

const verify: Command = {
  name: "verify",
  usage: "verify BASE64",
  summary: "explains any transaction line by line",
  flags: [],
  words: [1, 1],
  help: `Says what each instruction does, whom it touches and what it costs. Ends with exit code 6 when an instruction is none
that trades of this service contain.

  tradewire verify AQAAAA…`,
  async run(line, io) {
    const { lines, unknown } = explainTransaction(base64Bytes(line.words[0]!));
    print(line, io, { lines, unknown }, [
      ...lines,
      unknown.length === 0
        ? "Every instruction is of a kind that trades contain."
        : `Not part of any trade of this service: ${unknown.length === 1 ? "this instruction" : "these instructions"}: ${unknown.map((text) => text.split(".")[0]).join(", ")}.`,
    ]);
    return unknown.length === 0 ? EXIT.done : EXIT.distrusted;
  },
};

const keys: Command = {
  name: "keys",
  usage: "keys [revoke KEY_ID]",
  summary: "lists the API keys of this account, or revokes one",
  flags: [],
  words: [0, 2],
  help: `  tradewire keys
  tradewire keys revoke key_2b7…`,
  async run(line, io) {
    const client = await openReadOnlySession(line, io);
    const [action, keyId] = line.words;
    if (action !== undefined) {
      if (action !== "revoke" || keyId === undefined) throw new UsageError("Usage: tradewire keys revoke KEY_ID");
      await client.revokeKey(keyId, { signal: io.signal });
      print(line, io, { revoked: keyId }, [`${keyId} no longer works.`]);
      return EXIT.done;
    }
    const list = (await client.keys({ signal: io.signal })).map(plain);
    print(
      line,
      io,
      { keys: list },
      list.map(({ keyId, label, createdAt, revokedAt }) =>
        [keyId, `issued ${createdAt}`, revokedAt === undefined ? "in use" : `revoked ${revokedAt}`, label]
          .join("  ")
          .trimEnd(),
      ),
    );
    return EXIT.done;
  },
};

/** The commands that use a service. */
export const CLIENT_COMMANDS: readonly Command[] = [register, buy, sell, swap, quote, status, verify, keys];

const DEFAULT_SLIPPAGE = 0.01;
const REBUILD_PRICE_MOVE = 0.01;

function terms(line: CommandLine): { readonly slippage: number; readonly priority: PriorityName } {
  const priority = line.flags.get("priority") ?? "fast";
  if (typeof priority !== "string" || !Object.hasOwn(PRIORITIES, priority)) {
    throw new UsageError(`--priority is one of ${Object.keys(PRIORITIES).join(", ")}.`);
  }
  return { slippage: numberFlag(line, "slippage") ?? DEFAULT_SLIPPAGE, priority: priority as PriorityName };
}

function swapOf({ words, flags }: CommandLine) {
  const [inputMint = "", outputMint = "", amount = ""] = words;
  const swapMode = flags.has("exact-out") ? ("exactOut" as const) : ("exactIn" as const);
  return { inputMint, outputMint, amount: parseNumber(amount, "AMOUNT"), swapMode };
}

async function trade(
  line: CommandLine,
  io: CliIo,
  run: (client: Tradewire, options: TradeOptions) => Promise<Trade>,
): Promise<number> {
  const client = await openSession(line, io);
  const times = numberFlag(line, "rebuild");
  const done = await run(client, {
    maxPriceImpact: numberFlag(line, "max-price-impact"),
    maxPriorityCost: numberFlag(line, "max-priority-cost"),
    minOutputAmount: numberFlag(line, "min-output"),
    maxInputAmount: numberFlag(line, "max-input"),
    decimals: { input: numberFlag(line, "input-decimals"), output: numberFlag(line, "output-decimals") },
    rebuild: times === undefined ? undefined : { times, maxPriceMove: REBUILD_PRICE_MOVE },
    signal: io.signal,
    onProgress(progress) {
      if (progress.step === "built") {
        const { estimates, platform, priorityCost } = progress.built;
        io.note(
          `Built on ${platform}: ${estimates?.inputAmount} → ${estimates?.outputAmount}, priority ${priorityCost} SOL.`,
        );
      } else if (progress.step === "signed") io.note(`Verified and signed: ${progress.signature}`);
      else if (progress.step === "waiting") io.note("Sent; waiting for the chain …");
      else io.note("The transaction expired; building again …");
    },
  });
  print(line, io, done, tradeLines(done));
  return done.status === "pending" ? EXIT.undecided : EXIT.done;
}

function tradeLines(done: Trade): string[] {
  const { tradeResult, platform, status, slot, signature, priorityCost } = done;
  const moved =
    tradeResult === undefined ? "Amounts are unknown yet" : `${tradeResult.inputAmount} → ${tradeResult.outputAmount}`;
  return [
    `${moved} on ${platform}: ${status}${slot === undefined ? "" : ` in slot ${slot}`}. Priority cost ${priorityCost} SOL.`,
    signature,
  ];
}

function quoteLines(answer: QuoteResponse): string[] {
  const { estimates, platform, alternatives, faults } = answer;
  return [
    `${estimates?.inputAmount} → ${estimates?.outputAmount} on ${platform}; moves the price by ${percent(estimates?.priceImpact ?? 0)}.`,
    ...alternatives.map((other) => `  also ${other.inputAmount} → ${other.outputAmount} on ${other.platform}`),
    ...faults.map(({ venue, reason }) => `  not ${venue}: ${reason}`),
  ];
}

function percent(fraction: number): string {
  return `${(fraction * 100).toFixed(2)} %`;
}

function print({ flags }: CommandLine, io: CliIo, value: object, lines: readonly string[]): void {
  if (flags.has("json")) io.out(JSON.stringify(plain(value)));
  else for (const line of lines) io.out(line);
}

/** A message or value as JSON, without type names and with 64-bit integers as strings. */
function plain<T>(value: T): T {
  return JSON.parse(
    JSON.stringify(value, (key, item: unknown) =>
      key.startsWith("$") ? undefined : typeof item === "bigint" ? item.toString() : item,
    ),
  ) as T;
}

function base64Bytes(text: string): Uint8Array {
  try {
    return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) =>
      character.charCodeAt(0),
    );
  } catch {
    throw new UsageError("The transaction is not base64.");
  }
}
