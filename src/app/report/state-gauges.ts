import type { Gauge } from "../../api/observe/metrics.ts";
import type { LiveStateSource } from "../../chain/state/state-source.ts";
import type { LiveMarkets } from "../../market/markets.ts";
import { counter, gauge } from "./gauge.ts";

/** Whose state is reported. */
interface StateParts {
  readonly markets: Pick<LiveMarkets, "size">;
  readonly source: Pick<LiveStateSource, "counts" | "comparedAgoMs">;
}

/** Metrics of the state that is kept live: how much there is, where it comes from, and whether nodes contradict it. */
export function stateGauges({ markets, source }: StateParts): readonly Gauge[] {
  return [
    gauge("tradewire_pairs", "Pairs kept live.", () => markets.size().pairs),
    gauge("tradewire_accounts", "Accounts kept live.", () => source.counts().accounts),
    gauge("tradewire_accounts_streamed", "Of these, covered by a stream.", () => source.counts().streamed),
    counter(
      "tradewire_state_updates_total",
      "Account updates received from the stream.",
      () => source.counts().notices,
    ),
    counter("tradewire_state_reads_total", "Accounts read across the network.", () => source.counts().reads),
    counter("tradewire_state_forks_total", "Forks: the chain switched to another branch.", () => source.counts().forks),
    counter("tradewire_state_gaps_total", "Gaps in the stream, repaired by reads.", () => source.counts().gaps),
    counter(
      "tradewire_state_rejected_total",
      "State rejected because its slot lay ahead of the chain.",
      () => source.counts().disbelieved,
    ),
    counter("tradewire_state_audited_total", "Accounts compared with the chain.", () => source.counts().audited),
    counter(
      "tradewire_state_audit_differences_total",
      "Of these, accounts that differed.",
      () => source.counts().auditDifferences,
    ),
    ...comparisonGauges(source),
  ];
}

function comparisonGauges(source: StateParts["source"]): readonly Gauge[] {
  return [
    counter("tradewire_state_compared_total", "Accounts compared between nodes.", () => source.counts().compared),
    counter(
      "tradewire_state_contradicted_total",
      "Times a node contradicted the known state or the other nodes.",
      () => source.counts().contradicted,
    ),
    gauge(
      "tradewire_accounts_contested",
      "Accounts that nothing is built on, because the nodes contradict each other.",
      () => source.counts().contested,
    ),
    gauge(
      "tradewire_state_compared_age_seconds",
      "Time since the nodes were asked about the account in use that was compared longest ago.",
      () => source.comparedAgoMs() / 1_000,
    ),
  ];
}
