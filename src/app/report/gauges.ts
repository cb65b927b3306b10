import { performance } from "node:perf_hooks";
import type { Gauge } from "../../api/observe/metrics.ts";
import type { Api } from "../../api/server.ts";
import type { LiveLanding } from "../../chain/landing/landing.ts";
import type { Sender } from "../../chain/landing/sender.ts";
import type { LiveStateSource } from "../../chain/state/state-source.ts";
import type { LiveMarkets } from "../../market/markets.ts";
import type { Trades } from "../../trade/trade.ts";
import { VENUE_FAILURES, type VenueCounts } from "../../trade/venue-activity.ts";
import type { ShadowParts } from "../shadow/shadow-parts.ts";
import { counter, gauge } from "./gauge.ts";
import type { LandedTrades } from "./landed-trades.ts";
import { stateGauges } from "./state-gauges.ts";

interface ServiceParts {
  readonly api: Pick<Api, "load">;
  readonly head: { slot(): bigint; slotAgeMs(): number; slotMs(): number };
  readonly keys: { storeAgeMs(): number };
  readonly store: { writeRefusal(): string | undefined };
  readonly markets: Pick<LiveMarkets, "size">;
  readonly source: Pick<LiveStateSource, "counts" | "comparedAgoMs">;
  readonly landing: Pick<LiveLanding, "counts">;
  readonly senders: readonly Pick<Sender, "isCooling">[];
  readonly canBuild: () => boolean;
  readonly landed: Pick<LandedTrades, "counts">;
  readonly trades: Pick<Trades, "venueCounts">;
  /** Undefined if nothing is checked on the deployed programs. */
  readonly shadow?: ShadowParts | undefined;
}

/** Metrics of a running service, beside those of calls and submissions. */
export function serviceGauges(parts: ServiceParts): readonly Gauge[] {
  return [
    ...loadGauges(parts),
    ...headGauges(parts),
    ...storeGauges(parts),
    ...stateGauges(parts),
    ...sendingGauges(parts),
    ...landedGauges(parts),
    ...venueGauges(parts),
    ...(parts.shadow === undefined ? [] : shadowGauges(parts.shadow)),
    ...readinessGauges(parts),
  ];
}

function loadGauges({ api }: Pick<ServiceParts, "api">): readonly Gauge[] {
  return [
    gauge("tradewire_connections", "Connections open.", () => api.load().connections),
    gauge("tradewire_multiplexed_streams", "HTTP/2 streams open.", () => api.load().streams),
    gauge("tradewire_builds_in_flight", "Builds and quotes in flight.", () => api.load().builds),
    gauge("tradewire_submits_in_flight", "Submits in flight.", () => api.load().submits),
    counter("tradewire_shed_total", "Calls refused as overload.", () => api.load().shed),
  ];
}

function headGauges({ head }: Pick<ServiceParts, "head">): readonly Gauge[] {
  return [
    gauge("tradewire_slot", "Newest slot known.", () => Number(head.slot())),
    gauge("tradewire_slot_age_seconds", "Time since the last slot was observed.", () => head.slotAgeMs() / 1_000),
    gauge("tradewire_slot_seconds", "Measured time of a slot.", () => head.slotMs() / 1_000),
  ];
}

function storeGauges({ keys, store }: Pick<ServiceParts, "keys" | "store">): readonly Gauge[] {
  return [
    gauge("tradewire_store_age_seconds", "Time since the database last answered.", () => keys.storeAgeMs() / 1_000),
    gauge("tradewire_store_refuses_writes", "1 if the database answers and takes no writes, or is damaged.", () =>
      store.writeRefusal() === undefined ? 0 : 1,
    ),
  ];
}

function sendingGauges({ senders, landing }: Pick<ServiceParts, "senders" | "landing">): readonly Gauge[] {
  return [
    gauge(
      "tradewire_senders_up",
      "Senders that transactions are broadcast on.",
      () => senders.filter((sender) => !sender.isCooling()).length,
    ),
    gauge("tradewire_landing", "Broadcast transactions without an outcome yet.", () => landing.counts().pending),
    counter(
      "tradewire_rebroadcasts_total",
      "Broadcasts after the first of each sender.",
      () => landing.counts().repeated,
    ),
    counter(
      "tradewire_rebroadcasts_shed_total",
      "Broadcasts left out because a sender takes no more.",
      () => landing.counts().shed,
    ),
  ];
}

function landedGauges({ landed }: Pick<ServiceParts, "landed">): readonly Gauge[] {
  return [
    counter("tradewire_landed_total", "Transactions that landed, failed ones too.", () => landed.counts().landed),
    counter(
      "tradewire_landed_differences_total",
      "Of these, failed or moved other amounts than quoted: their markets are checked again.",
      () => landed.counts().different,
    ),
    counter(
      "tradewire_landed_over_bound_total",
      "Of these, took more compute units than their bound, which the margin is added to.",
      () => landed.counts().overBound,
    ),
  ];
}

/** The counters of each venue. A name without a value yet is written with 0: a rate can be had from the first one on. */
function venueGauges({ trades }: Pick<ServiceParts, "trades">): readonly Gauge[] {
  const byVenue = (field: keyof VenueCounts) => () =>
    Array.from(trades.venueCounts(), ([venue, counts]) => [`venue="${venue}"`, counts[field]] as const);
  const failures = () =>
    [...trades.venueCounts()].flatMap(([venue, counts]) =>
      VENUE_FAILURES.map((reason) => [`venue="${venue}",reason="${reason}"`, counts[reason]] as const),
    );
  return [
    counter("tradewire_venue_quotes_total", "Quotes answered with a route over the venue.", byVenue("quotes")),
    counter("tradewire_venue_builds_total", "Builds answered with a route over the venue.", byVenue("builds")),
    counter("tradewire_venue_landed_total", "Trades over the venue that landed and traded.", byVenue("landed")),
    counter(
      "tradewire_venue_failures_total",
      "Quotes and builds without a market of the venue, withheld or refused, and trades that landed and failed in its program.",
      failures,
    ),
  ];
}

function shadowGauges({ checks, isUp, programs }: ShadowParts): readonly Gauge[] {
  const total = (field: "agrees" | "unchecked" | "withheld") =>
    checks.report().reduce((sum, venue) => sum + venue[field], 0);
  return [
    gauge("tradewire_shadow_up", "1 while the shadow process can be reached.", () => (isUp() ? 1 : 0)),
    gauge("tradewire_shadow_programs", "Programs whose deployments are followed.", () => programs().length),
    gauge("tradewire_shadow_markets_checked", "Live markets that agree with the deployed programs.", () =>
      total("agrees"),
    ),
    gauge("tradewire_shadow_markets_unchecked", "Live markets that were not checked, or cannot be.", () =>
      total("unchecked"),
    ),
    gauge("tradewire_shadow_markets_withheld", "Live markets that differ, or may: in guard they are not offered.", () =>
      total("withheld"),
    ),
    gauge(
      "tradewire_shadow_markets_without_lean",
      "Live markets whose program refuses leaner forms of trades: in guard they are traded without.",
      () => checks.leanRefusals(),
    ),
    counter("tradewire_shadow_checks_total", "Checks of markets.", () => checks.counts().checks),
    counter("tradewire_shadow_trades_total", "Trades executed for checks.", () => checks.counts().samples),
    counter(
      "tradewire_shadow_differences_total",
      "Checks in which a market differed.",
      () => checks.counts().differences,
    ),
    counter(
      "tradewire_shadow_replacements_total",
      "Programs seen replaced on the chain.",
      () => checks.counts().replacements,
    ),
  ];
}

function readinessGauges({ canBuild }: Pick<ServiceParts, "canBuild">): readonly Gauge[] {
  return [
    gauge("tradewire_ready", "1 while trades can be built.", () => (canBuild() ? 1 : 0)),
    gauge("tradewire_uptime_seconds", "Time since the process started.", () => performance.now() / 1_000),
    gauge(
      "tradewire_event_loop_utilization",
      "Share of time that the event loop was busy, since the last scrape.",
      busyShare(),
    ),
  ];
}

/** A reader of the busy share since its previous call: a lifetime average would say nothing about now. */
function busyShare(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
