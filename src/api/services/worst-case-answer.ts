import type { MessageInitShape } from "@bufbuild/protobuf";
import type { PriceMovementSchema } from "../../../gen/tradewire/v1/trade_pb.ts";
import { SwapMode, type WorstCaseSchema } from "../../../gen/tradewire/v1/types_pb.ts";
import type { QuotedTrade, WorstCase } from "../../trade/trade.ts";

/** The worst that the signed bytes of a trade allow, in base units. */
export function fromWorstCase({ amount, loss, markets }: WorstCase) {
  return {
    amountRaw: amount.toString(),
    lossRaw: loss.toString(),
    markets: markets.map(({ venue, market, inMint, outMint, mode, bound, attack, frontRun, taken, reason }) => ({
      venue,
      market: market.toString(),
      inputMint: inMint.toString(),
      outputMint: outMint.toString(),
      swapMode: mode === "exactIn" ? SwapMode.EXACT_IN : SwapMode.EXACT_OUT,
      boundRaw: bound.toString(),
      attack,
      ...(frontRun === undefined ? {} : { frontRunRaw: frontRun.toString() }),
      ...(taken === undefined ? {} : { takenRaw: taken.toString() }),
      ...(reason === undefined ? {} : { reason }),
    })),
  } satisfies MessageInitShape<typeof WorstCaseSchema>;
}

/** How a price moved over the life of a blockhash. Times in seconds. */
export function fromPriceMovement(moved: NonNullable<QuotedTrade["priceMovement"]>) {
  const { samples, windowMs, spanMs, quantile, movement } = moved;
  return {
    samples,
    windowSeconds: windowMs / 1_000,
    spanSeconds: spanMs / 1_000,
    quantile,
    ...(movement === undefined ? {} : { movement }),
  } satisfies MessageInitShape<typeof PriceMovementSchema>;
}
