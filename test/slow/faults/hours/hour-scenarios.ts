import { setTimeout as sleep } from "node:timers/promises";
import { onRig, type Scenario } from "../scenario.ts";
import { driftPerHour, medianOf, type Sample } from "./drift.ts";
import { HourTraffic } from "./hour-traffic.ts";

const MINUTE_MS = 60_000;
const MIB = 1024 * 1024;
const LOOK_MS = 10_000;
/** Memory and open files are judged by the medians of so many looks. */
const LOOKS_OF_A_SAMPLE = 30;
/** Code is compiled, and caches with a bound fill, in the first minutes. */
const WARM_UP_MINUTES = 30;
/** A drift per hour is not told from noise in less time than this, warm-up included. */
const LEAST_JUDGED_MINUTES = 60;
const MOST_MIB_PER_HOUR = 1;
const MOST_FILES_PER_HOUR = 1;

/** The service under traffic of every kind for hours. */
export const HOUR_SCENARIOS: readonly Scenario[] = [
  {
    row: 39,
    promise: "trades, errands on every wire and failing nodes for as many minutes as the scale says",
    target: "4 h: memory ≤ 1 MB/h, open files flat, 0 unhandled errors (drifts from an hour on)",
    promised: { scale: 240, runs: 1 },
    run: ({ seed, scale: minutes }) =>
      onRig({ seed, slotMs: 200, traders: 6, measuresMemory: true }, async (rig, expect) => {
        const service = rig.services[0]!;
        const traffic = new HourTraffic(rig);
        const running = traffic.run();
        const drifts = { live: [] as Sample[], resident: [] as Sample[], files: [] as Sample[] };
        const startedMs = Date.now();
        let looks: { readonly residentBytes: number; readonly openFiles: number }[] = [];
        while (Date.now() - startedMs < minutes * MINUTE_MS) {
          await sleep(LOOK_MS);
          looks.push(service.usage());
          if (looks.length < LOOKS_OF_A_SAMPLE) continue;
          const atMs = Date.now() - startedMs;
          const median = (value: (look: (typeof looks)[number]) => number) => medianOf(looks.map(value));
          drifts.live.push({ atMs, value: (await service.heldMemory()).liveBytes / MIB });
          drifts.resident.push({ atMs, value: median(({ residentBytes }) => residentBytes) / MIB });
          drifts.files.push({ atMs, value: median(({ openFiles }) => openFiles) });
          const last = Object.values(drifts).map((samples) => samples.at(-1)!.value.toFixed(1));
          process.stdout.write(
            `     ${Math.round(atMs / MINUTE_MS)} min: ${last.join(", ")}; ${traffic.trades} trades\n`,
          );
          looks = [];
        }
        traffic.stop();
        await running;
        const measured = `${traffic.trades} trades, ${traffic.errands} errands`;
        if (minutes < LEAST_JUDGED_MINUTES) return measured;
        const drift = (samples: readonly Sample[]) =>
          driftPerHour(samples.filter(({ atMs }) => atMs > WARM_UP_MINUTES * MINUTE_MS));
        const { live, resident, files } = drifts;
        const perHour = { live: drift(live), resident: drift(resident), files: drift(files) };
        expect(perHour.live <= MOST_MIB_PER_HOUR, `what is held grows by ${perHour.live.toFixed(2)} MiB an hour`);
        expect(perHour.resident <= MOST_MIB_PER_HOUR, `memory grows by ${perHour.resident.toFixed(2)} MiB an hour`);
        expect(perHour.files <= MOST_FILES_PER_HOUR, `${perHour.files.toFixed(1)} more open files an hour`);
        return `${measured}; an hour: held ${perHour.live.toFixed(2)} MiB, resident ${perHour.resident.toFixed(2)} MiB, ${perHour.files.toFixed(1)} open files; last ${live.at(-1)!.value.toFixed(1)} and ${resident.at(-1)!.value.toFixed(1)} MiB`;
      }),
  },
];
