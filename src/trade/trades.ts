import { type AccountReader, PRIORITY_LEVELS } from "../chain/port.ts";
import { createRandomTexts } from "../primitives/random-text.ts";
import { priorityFeeLamports } from "../solana/compute-budget.ts";
import { type BuildPorts, buildTrade } from "./build/build-trade.ts";
import { measureRoutes } from "./build/route-fit.ts";
import { type QuotePorts, quoteTrade } from "./quote/quote-trade.ts";
import { checkVenueNames } from "./quote/route-bounds.ts";
import { LandingStatistics } from "./submit/landing-statistics.ts";
import { createSubmitter, type SubmitPorts, type Submitter } from "./submit/submit-trade.ts";
import type { Trades } from "./trade.ts";
import { UnclosableAccounts } from "./unclosable-accounts.ts";
import { VenueActivity } from "./venue-activity.ts";
import { fetchBalances } from "./wallet-balances.ts";

/** Compute units of a typical trade, for the typical cost of a priority level. */
const TYPICAL_COMPUTE_UNITS = 100_000;

/** Nonces are below this; see BuildPorts.nextNonce. */
const NONCES = 16_384;

/** What building, quoting and balances read; the rest is made here. */
export type TradesBuildPorts = Omit<BuildPorts, "nextNonce" | "nextSeed" | "unclosable"> &
  Pick<QuotePorts, "movements"> & { readonly reader: AccountReader };

/**
 * The product: building, quoting and submitting trades on the given ports. `close` hands pending submissions over to the
 * other processes.
 *
 * @param randomInt a random integer from 0 up to, but not including, the given one
 * @param fillRandom fills bytes from a cryptographic source
 */
export function createTrades(
  ports: TradesBuildPorts,
  submitPorts: SubmitPorts,
  randomInt: (below: number) => number,
  fillRandom: (bytes: Uint8Array) => void,
): Trades & Pick<Submitter, "close"> {
  let nonce = randomInt(NONCES);
  // Odd, so that it leads through all of them. Another process has another one: two that build in step do not stay at equal nonces.
  const step = 2 * randomInt(NONCES / 2) + 1;
  const nextNonce = () => {
    nonce = (nonce + step) % NONCES;
    return nonce;
  };
  const unclosable = new UnclosableAccounts(submitPorts.monotonicMs);
  const buildPorts: BuildPorts = { ...ports, nextNonce, nextSeed: createRandomTexts(fillRandom), unclosable };
  const quotePorts: QuotePorts = {
    ...ports,
    measureRoutes: (...trade) => measureRoutes(ports, ...trade),
  };
  const statistics = new LandingStatistics(submitPorts.monotonicMs);
  const venueIds = submitPorts.venues.map(({ id }) => id);
  const activity = new VenueActivity(venueIds);
  const submitter = createSubmitter({
    ...submitPorts,
    onLanded: (report) => {
      activity.noteLanded(report);
      if (report.unclosed !== undefined) unclosable.note(report.unclosed);
      submitPorts.onLanded?.(report);
    },
    observe: (report) => {
      statistics.record(report);
      submitPorts.observe?.(report);
    },
  });
  return {
    build: (request) => {
      checkVenueNames(request, venueIds);
      return activity.observe("builds", () => buildTrade(buildPorts, request));
    },
    quote: (request) => {
      checkVenueNames(request, venueIds);
      return activity.observe("quotes", () => quoteTrade(quotePorts, request));
    },
    ...submitter,
    balances: ({ wallet }, mints) => fetchBalances(ports.reader, wallet, mints),
    priorities: () => prioritiesOf(ports, statistics),
    landings: statistics,
    venueCounts: () => activity.counts(),
  };
}

function prioritiesOf(
  { fees, senders }: Pick<BuildPorts, "fees" | "senders">,
  statistics: LandingStatistics,
): ReturnType<Trades["priorities"]> {
  return PRIORITY_LEVELS.map((level) => {
    const microLamportsPerCu = fees.priceMicroLamportsPerCu(level, []);
    const priorityFee = priorityFeeLamports(TYPICAL_COMPUTE_UNITS, microLamportsPerCu);
    const { tips } = senders.choose(level, 0);
    return {
      level,
      microLamportsPerCu,
      typicalCostLamports: tips.reduce((sum, { lamports }) => sum + lamports, priorityFee),
      expectedSlots: fees.expectedSlots(level),
      landing: statistics.ofLevel(level),
    };
  });
}
