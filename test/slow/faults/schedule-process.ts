/** Runs one schedule of a scenario, which a message names by its place, and sends what it measured. */
import type { Measure, Schedule } from "./scenario.ts";
import { SCENARIOS } from "./scenarios.ts";

export interface ScheduleOrder extends Schedule {
  /** The scenario's place in `SCENARIOS`. */
  readonly place: number;
}

process.once("message", ({ place, seed, scale }: ScheduleOrder) => {
  SCENARIOS[place]!.run({ seed, scale })
    .catch(
      (error: unknown): Measure => ({
        measured: "stopped",
        broken: [error instanceof Error ? (error.stack ?? error.message) : String(error)],
      }),
    )
    .then((measure) => process.send!(measure, () => process.exit(0)));
});
