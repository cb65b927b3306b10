import { randomInt } from "node:crypto";
import type { Priority } from "../chain/port.ts";
import { priorityFeeLamports } from "../solana/compute-budget.ts";
import { type BuildPorts, buildTrade } from "./build/build-trade.ts";
import { quoteTrade } from "./quote/quote-trade.ts";
import { createSubmitter, type SubmitPorts, type Submitter } from "./submit/submit-trade.ts";
import type { Trades } from "./trade.ts";

const PRIORITIES: readonly Priority[] = ["economy", "fast", "faster", "fastest"];

/** Compute units of a typical trade: what the cost of a priority level is told for. */
const TYPICAL_COMPUTE_UNITS = 100_000;

/** Numbers a build may carry; see BuildPorts.nextNonce. */
const NONCES = 16_384;

/** The product: building, quoting and submitting trades on the given ports. `close` hands over what is under way. */
export function createTrades(
  ports: Omit<BuildPorts, "nextNonce">,
  submitPorts: SubmitPorts,
): Trades & Pick<Submitter, "close"> {
  let nonce = randomInt(NONCES);
  const nextNonce = () => {
    nonce = (nonce + 1) % NONCES;
    return nonce;
  };
  const buildPorts: BuildPorts = { ...ports, nextNonce };
  return {
    build: (request) => buildTrade(buildPorts, request),
    quote: (request) => quoteTrade(ports, request),
    ...createSubmitter(submitPorts),
    priorities: () =>
      PRIORITIES.map((level) => {
        const microLamportsPerCu = ports.fees.priceMicroLamportsPerCu(level, []);
        return {
          level,
          microLamportsPerCu,
          typicalCostLamports: ports.senders
            .choose(level, 0)
            .tips.reduce(
              (sum, { lamports }) => sum + lamports,
              priorityFeeLamports(TYPICAL_COMPUTE_UNITS, microLamportsPerCu),
            ),
          expectedSlots: ports.fees.expectedSlots(level),
        };
      }),
  };
}
