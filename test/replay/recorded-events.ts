import { readFileSync } from "node:fs";
import { buyWithBudget, type PumpSide, type PumpTrade, pumpFeesOn, sellTokens } from "../../src/venues/curves/pump.ts";
import { buyTokens } from "../../src/venues/pump-fun/math.ts";
import { buyFromPool } from "../../src/venues/pump-swap/math.ts";
import { ammV4ExactIn } from "../../src/venues/raydium-amm-v4/math.ts";
import { cpmmExactIn } from "../../src/venues/raydium-cpmm/math.ts";
import { buyExactIn, type LaunchCurve, sellExactIn } from "../../src/venues/raydium-launchlab/math.ts";
import { feeOn } from "../../src/venues/shared/raydium-fee.ts";
import type { Replayed, Source } from "./replayed.ts";

/** Amounts are texts of base units, as programs emitted them; reserves are those before the trade. */
interface Recorded {
  readonly signature?: string;
  readonly slot?: number;
  readonly source: Source;
  /** Why our quote cannot be what happened. */
  readonly explained?: string;
}

interface PumpEvent extends Recorded {
  readonly instruction: "buy" | "buy_exact_sol_in" | "sell";
  readonly tokens: string;
  /** Quote amount on the curve, before fees. */
  readonly net: string;
  readonly fees?: {
    readonly lpBps?: number;
    readonly protocolBps: number;
    readonly creatorBps: number;
    readonly lp?: string;
    readonly protocol: string;
    readonly creator: string;
  };
}

type RecordedEvent =
  | (PumpEvent & { readonly venue: "pump_fun"; readonly virtualQuote: string; readonly virtualTokens: string })
  | (PumpEvent & { readonly venue: "pump_swap"; readonly base: string; readonly quote: string })
  | (Recorded & {
      readonly venue: "raydium_amm_v4";
      readonly reserveIn: string;
      readonly reserveOut: string;
      readonly input: string;
      readonly output: string;
    })
  | (Recorded & {
      readonly venue: "raydium_cpmm";
      readonly reserveIn: string;
      readonly reserveOut: string;
      readonly input: string;
      readonly output: string;
      /** Millionths. */
      readonly tradeFeeRate: number;
    })
  | (Recorded & {
      readonly venue: "raydium_launchlab";
      readonly instruction: "buy_exact_in" | "sell_exact_in";
      readonly curve: LaunchCurve["type"];
      readonly totalBaseSell: string;
      readonly virtualBase: string;
      readonly virtualQuote: string;
      readonly realBase: string;
      readonly realQuote: string;
      /** Millionths: the sum of what the event's fees amount to. */
      readonly feeRate: number;
      readonly input: string;
      readonly output: string;
      readonly fee: string;
    });

const FILE = new URL("figures/recorded-events.json", import.meta.url);
const AMM_V4_FEE = { feeNumerator: 25n, feeDenominator: 10_000n } as const;

/** Quotes each trade whose event says how the market stood before it, and compares amounts and fees. */
export function replayRecordedEvents(): Replayed[] {
  const events = JSON.parse(readFileSync(FILE, "utf8")) as readonly RecordedEvent[];
  return events.map((event) => ({
    venue: event.venue,
    signature: event.signature ?? "not in the source",
    source: event.source,
    explained: event.explained,
    ...compare(event),
  }));
}

function compare(event: RecordedEvent): Pick<Replayed, "happened" | "quoted"> {
  switch (event.venue) {
    case "pump_fun":
      return comparePump(event, { tokens: BigInt(event.virtualTokens), quote: BigInt(event.virtualQuote) }, buyTokens);
    case "pump_swap":
      return comparePump(event, { tokens: BigInt(event.base), quote: BigInt(event.quote) }, buyFromPool);
    case "raydium_amm_v4": {
      const { output } = ammV4ExactIn(BigInt(event.input), { ...reservesOf(event), ...AMM_V4_FEE });
      return { happened: event.output, quoted: `${output}` };
    }
    case "raydium_cpmm": {
      const side = { tradeFeeRate: BigInt(event.tradeFeeRate), creatorFeeRate: 0n, creatorFeeOnInput: true };
      const { output } = cpmmExactIn(BigInt(event.input), { ...reservesOf(event), ...side });
      return { happened: event.output, quoted: `${output}` };
    }
    case "raydium_launchlab":
      return compareLaunch(event);
  }
}

function comparePump(
  { instruction, tokens, net, fees }: PumpEvent,
  reserves: Pick<PumpSide, "tokens" | "quote">,
  buy: (tokens: bigint, side: PumpSide) => PumpTrade | undefined,
): Pick<Replayed, "happened" | "quoted"> {
  const rates = {
    lp: BigInt(fees?.lpBps ?? 0),
    protocol: BigInt(fees?.protocolBps ?? 0),
    creator: BigInt(fees?.creatorBps ?? 0),
  };
  const side: PumpSide = { ...reserves, fees: rates };
  const taken = BigInt(fees?.lp ?? 0) + BigInt(fees?.protocol ?? 0) + BigInt(fees?.creator ?? 0);
  const trade =
    instruction === "sell"
      ? sellTokens(BigInt(tokens), side)
      : instruction === "buy"
        ? buy(BigInt(tokens), side)
        : buyWithBudget(BigInt(net) + taken, side);
  return {
    happened: `${tokens} tokens, ${net} on the curve, ${taken} of fees`,
    quoted:
      trade === undefined
        ? "refused"
        : `${trade.tokens} tokens, ${trade.net} on the curve, ${pumpFeesOn(trade.net, rates)} of fees`,
  };
}

function compareLaunch(
  event: Extract<RecordedEvent, { venue: "raydium_launchlab" }>,
): Pick<Replayed, "happened" | "quoted"> {
  const feeRate = BigInt(event.feeRate);
  const isBuy = event.instruction === "buy_exact_in";
  const fill = (isBuy ? buyExactIn : sellExactIn)(BigInt(event.input), {
    type: event.curve,
    virtualBase: BigInt(event.virtualBase),
    virtualQuote: BigInt(event.virtualQuote),
    realBase: BigInt(event.realBase),
    realQuote: BigInt(event.realQuote),
    totalBaseSell: BigInt(event.totalBaseSell),
    feeRate,
  });
  return {
    happened: `${event.output}, ${event.fee} of fees`,
    // Fees are taken of the quote: of what goes in, or of what the curve gives.
    quoted: `${fill?.output}, ${feeOn(isBuy ? BigInt(event.input) : (fill?.grossOut ?? 0n), feeRate)} of fees`,
  };
}

function reservesOf({ reserveIn, reserveOut }: { readonly reserveIn: string; readonly reserveOut: string }) {
  return { reserveIn: BigInt(reserveIn), reserveOut: BigInt(reserveOut) };
}
