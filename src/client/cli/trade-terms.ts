import type { RouteLimits } from "../order/limits.ts";
import type { PriorityName } from "../order/order.ts";
import { PRIORITIES } from "../order/order.ts";
import { type CommandLine, listFlag, numberFlag, parseNumber, textFlag, UsageError } from "./command.ts";
import type { CliConfig } from "./settings/config.ts";
import { findToken } from "./settings/tokens.ts";

export const DEFAULT_SLIPPAGE = 0.01;

/** The slippage and priority of a command line, or of its profile. @throws UsageError */
export function termsOf(
  line: CommandLine,
  { profile }: CliConfig,
): { readonly slippage: number | "auto"; readonly priority: PriorityName } {
  const priority = textFlag(line, "priority") ?? profile.priority ?? "fast";
  if (!Object.hasOwn(PRIORITIES, priority)) {
    throw new UsageError(`--priority is one of ${Object.keys(PRIORITIES).join(", ")}.`);
  }
  return { slippage: slippageOf(line, profile), priority: priority as PriorityName };
}

/** A fraction, or "auto": what the command line says, or else its profile. @throws UsageError */
function slippageOf(line: CommandLine, profile: CliConfig["profile"]): number | "auto" {
  const flag = textFlag(line, "slippage");
  const text = flag ?? profile.slippage ?? String(DEFAULT_SLIPPAGE);
  if (text === "auto") return text;
  const what = flag === undefined ? "slippage" : "--slippage";
  const slippage = parseNumber(text, what, ", or auto: 0.05 is 5 %");
  if (slippage >= 1) throw new UsageError(`${what} is a fraction below 1: 0.05 is 5 %.`);
  const most = numberFlag(line, "max-slippage");
  if (most !== undefined && slippage > most)
    throw new UsageError(`The slippage is ${slippage}, more than --max-slippage ${most}.`);
  return slippage;
}

/** The bounds of the route. @throws UsageError */
export function routeOf(line: CommandLine): RouteLimits {
  return {
    directOnly: line.flags.has("direct-only") ? true : undefined,
    maxLegs: numberFlag(line, "max-legs"),
    maxPaths: numberFlag(line, "max-paths"),
    venues: listFlag(line, "venues"),
    excludeVenues: listFlag(line, "exclude-venues"),
    requireChecked: line.flags.has("require-checked") ? true : undefined,
  };
}

/** The two mints, the amount and the mode of a swap or quote. @throws UsageError */
export function swapOf({ words, flags }: CommandLine, { tokens }: CliConfig) {
  const [input = "", output = "", amount = ""] = words;
  const swapMode = flags.has("exact-out") ? ("exactOut" as const) : ("exactIn" as const);
  return {
    inputMint: findToken(input, tokens).mint,
    outputMint: findToken(output, tokens).mint,
    amount: parseNumber(amount, "AMOUNT"),
    swapMode,
  };
}
