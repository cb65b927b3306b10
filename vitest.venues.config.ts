import { defineConfig } from "vitest/config";

/** Trades against the real programs in `.venues/`; what is absent there is named as skipped. */
export default defineConfig({
  test: {
    include: ["test/slow/venues/**/*.test.ts"],
    testTimeout: 180_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    env: { VENUE_RUNS: ".venues/runs" },
  },
});
