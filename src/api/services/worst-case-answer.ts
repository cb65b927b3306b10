import type { MessageInitShape } from "@bufbuild/protobuf";
import { SwapMode, type WorstCaseSchema } from "../../../gen/tradewire/v1/types_pb.ts";
import type { WorstCase } from "../../trade/trade.ts";

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
