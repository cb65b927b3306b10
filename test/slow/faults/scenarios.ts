import { CLOCK_SCENARIOS } from "./clock-scenarios.ts";
import { DATABASE_SCENARIOS } from "./database-scenarios.ts";
import { DIAGNOSIS_SCENARIOS } from "./diagnosis-scenarios.ts";
import { FAILOVER_SCENARIOS } from "./failover-scenarios.ts";
import { FROZEN_SCENARIOS } from "./frozen-scenarios.ts";
import { HOUR_SCENARIOS } from "./hours/hour-scenarios.ts";
import { LEAVING_SCENARIOS } from "./leaving-scenarios.ts";
import { NODE_SCENARIOS } from "./node-scenarios.ts";
import { OUTCOME_SCENARIOS } from "./outcome-scenarios.ts";
import { PAIR_SCENARIOS } from "./pair-scenarios.ts";
import { PRICE_SCENARIOS } from "./price-scenarios.ts";
import type { Scenario } from "./scenario.ts";
import { STATE_SCENARIOS } from "./state-scenarios.ts";
import { STREAM_SCENARIOS } from "./stream-scenarios.ts";
import { SUBMIT_SCENARIOS } from "./submit-scenarios.ts";

/** Every scenario, by row. */
export const SCENARIOS: readonly Scenario[] = [
  ...OUTCOME_SCENARIOS,
  ...SUBMIT_SCENARIOS,
  ...FROZEN_SCENARIOS,
  ...LEAVING_SCENARIOS,
  ...PAIR_SCENARIOS,
  ...DATABASE_SCENARIOS,
  ...FAILOVER_SCENARIOS,
  ...DIAGNOSIS_SCENARIOS,
  ...NODE_SCENARIOS,
  ...STATE_SCENARIOS,
  ...PRICE_SCENARIOS,
  ...STREAM_SCENARIOS,
  ...CLOCK_SCENARIOS,
  ...HOUR_SCENARIOS,
].sort((a, b) => a.row - b.row);
