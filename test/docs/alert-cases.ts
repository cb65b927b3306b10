/** Series that make an alert fire, and its words then. Values are in the notation of `promtool test rules`, one each 15 s. */
export interface AlertCase {
  readonly alert: string;
  /** By series without the instance, which is `a:9090`. */
  readonly sick: Readonly<Record<string, string>>;
  /** The same of a service that is well, or not yet ill enough. */
  readonly well: Readonly<Record<string, string>>;
  /** Labels beside the severity. */
  readonly labels: Readonly<Record<string, string>>;
  readonly summary: string;
}

const instance = { instance: "a:9090" };
/** Durations of calls or landings: `below` a second within the bucket of `bound` seconds, `above` beyond it. */
const buckets = (name: string, labels: string, bound: number, [below, above]: readonly [number, number]) => ({
  [`${name}_bucket{${labels},le="${bound}"}`]: `0+${15 * below}x120`,
  [`${name}_bucket{${labels},le="25"}`]: `0+${15 * (below + above)}x120`,
  [`${name}_bucket{${labels},le="+Inf"}`]: `0+${15 * (below + above)}x120`,
});
const constant = (series: string, value: number) => ({ [series]: `${value}x120` });
const growing = (series: string, aStep: number) => ({ [series]: `0+${aStep}x120` });

/** One for each alert. They are looked at after half an hour. */
export const ALERT_CASES: readonly AlertCase[] = [
  {
    alert: "TradewireDown",
    sick: constant('up{job="tradewire"}', 0),
    well: constant('up{job="tradewire"}', 1),
    labels: { ...instance, job: "tradewire" },
    summary: "a:9090 does not answer on its admin port.",
  },
  {
    alert: "TradewireRestarts",
    sick: { tradewire_uptime_seconds: Array(13).fill("0+15x9").join(" ") },
    well: growing("tradewire_uptime_seconds", 15),
    labels: instance,
    summary: "a:9090 has started anew 6 times within 15 minutes.",
  },
  {
    alert: "TradewireCannotBuild",
    sick: constant("tradewire_ready", 0),
    well: constant("tradewire_ready", 1),
    labels: instance,
    summary: "a:9090 refuses builds.",
  },
  {
    alert: "TradewireSlotStale",
    sick: constant("tradewire_slot_age_seconds", 7),
    well: constant("tradewire_slot_age_seconds", 5),
    labels: instance,
    summary: "a:9090 has seen no slot for 7s.",
  },
  {
    alert: "TradewireStoreSilent",
    sick: constant("tradewire_store_age_seconds", 4),
    well: constant("tradewire_store_age_seconds", 3),
    labels: instance,
    summary: "The database has not answered a:9090 for 4s.",
  },
  {
    alert: "TradewireStoreRefusesWrites",
    sick: constant("tradewire_store_refuses_writes", 1),
    well: constant("tradewire_store_refuses_writes", 0),
    labels: instance,
    summary: "The database takes no writes of a:9090.",
  },
  {
    alert: "TradewireInternalErrors",
    sick: growing('tradewire_calls_total{method="Buy",code="INTERNAL_ERROR"}', 1),
    well: growing('tradewire_calls_total{method="Buy",code="NO_ROUTE"}', 1),
    labels: { ...instance, method: "Buy" },
    summary: "Buy on a:9090 failed with INTERNAL_ERROR.",
  },
  {
    alert: "TradewireUpstreamErrors",
    sick: {
      ...growing('tradewire_calls_total{method="Buy",code="STATE_STALE"}', 1),
      ...growing('tradewire_calls_total{method="Buy",code="OK"}', 9),
    },
    well: {
      ...growing('tradewire_calls_total{method="Buy",code="STATE_STALE"}', 1),
      ...growing('tradewire_calls_total{method="Buy",code="OK"}', 24),
    },
    labels: {},
    summary: "10% of calls fail because of the nodes.",
  },
  {
    alert: "TradewireSlowBuilds",
    sick: buckets("tradewire_call_seconds", 'method="Buy"', 0.5, [100, 0]),
    well: buckets("tradewire_call_seconds", 'method="Buy"', 0.1, [100, 0]),
    labels: instance,
    summary: "One build in a hundred takes more than 495ms on a:9090.",
  },
  {
    alert: "TradewireSlowLanding",
    sick: buckets("tradewire_landing_seconds", 'event="confirmed"', 5, [1, 99]),
    well: buckets("tradewire_landing_seconds", 'event="confirmed"', 5, [99, 1]),
    labels: {},
    summary: "Half of all trades take more than 14.9s from submit to confirmation.",
  },
  {
    alert: "TradewireTradesExpire",
    sick: {
      ...growing('tradewire_submissions_total{code="TX_EXPIRED"}', 1),
      ...growing('tradewire_submissions_total{code="OK"}', 3),
    },
    well: growing('tradewire_submissions_total{code="TX_EXPIRED"}', 0.1),
    labels: {},
    summary: "25% of submissions expired without landing.",
  },
  {
    alert: "TradewireNoSender",
    sick: constant("tradewire_senders_up", 0),
    well: constant("tradewire_senders_up", 1),
    labels: instance,
    summary: "a:9090 has no sender that accepts transactions.",
  },
  {
    alert: "TradewireSenderRefuses",
    sick: {
      ...growing('tradewire_sender_broadcasts_total{sender="jito",result="refused"}', 3),
      ...growing('tradewire_sender_broadcasts_total{sender="jito",result="sent"}', 1),
    },
    well: {
      ...growing('tradewire_sender_broadcasts_total{sender="jito",result="refused"}', 1),
      ...growing('tradewire_sender_broadcasts_total{sender="jito",result="sent"}', 1),
    },
    labels: { sender: "jito" },
    summary: "jito refuses 75% of submissions.",
  },
  {
    alert: "TradewireUnclaimedBroadcasts",
    sick: growing("tradewire_unclaimed_broadcasts_total", 1),
    well: constant("tradewire_unclaimed_broadcasts_total", 5),
    labels: instance,
    summary: "a:9090 broadcast trades before their record was written.",
  },
  {
    alert: "TradewireShedding",
    sick: growing("tradewire_shed_total", 30),
    well: constant("tradewire_shed_total", 9),
    labels: instance,
    summary: "a:9090 refuses 2 calls a second as overload.",
  },
  {
    alert: "TradewireSaturated",
    sick: constant("tradewire_event_loop_utilization", 0.95),
    well: constant("tradewire_event_loop_utilization", 0.9),
    labels: instance,
    summary: "The event loop of a:9090 is busy 95% of the time.",
  },
  {
    alert: "TradewireFilesRunOut",
    sick: {
      ...constant('process_open_fds{job="tradewire"}', 950),
      ...constant('process_max_fds{job="tradewire"}', 1000),
    },
    well: {
      ...constant('process_open_fds{job="tradewire"}', 900),
      ...constant('process_max_fds{job="tradewire"}', 1000),
    },
    labels: { ...instance, job: "tradewire" },
    summary: "a:9090 has 95% of the files open that it may open.",
  },
  {
    alert: "TradewireMarketsWithheld",
    sick: constant("tradewire_shadow_markets_withheld", 2),
    well: constant("tradewire_shadow_markets_withheld", 0),
    labels: instance,
    summary: "2 markets on a:9090 differ from the deployed programs.",
  },
  {
    alert: "TradewireVenueFails",
    sick: growing('tradewire_venue_failures_total{venue="pump_fun",reason="failed"}', 1),
    well: growing('tradewire_venue_failures_total{venue="pump_fun",reason="slippage"}', 9),
    labels: { ...instance, venue: "pump_fun" },
    summary: "60 trades on pump_fun landed and failed in its program within 15 minutes.",
  },
  {
    alert: "TradewireShadowDown",
    sick: constant("tradewire_shadow_up", 0),
    well: constant("tradewire_shadow_up", 1),
    labels: instance,
    summary: "Quotes of a:9090 are not checked on the deployed programs.",
  },
  {
    alert: "TradewireNodesContradict",
    sick: growing("tradewire_state_contradicted_total", 1),
    well: { ...constant("tradewire_state_contradicted_total", 3), ...constant("tradewire_accounts_contested", 0) },
    labels: instance,
    summary: "Nodes of a:9090 contradict each other.",
  },
  {
    alert: "TradewireStateDiffers",
    sick: growing("tradewire_state_audit_differences_total", 1),
    well: constant("tradewire_state_audit_differences_total", 3),
    labels: instance,
    summary: "Streamed accounts on a:9090 differed from the chain.",
  },
];
