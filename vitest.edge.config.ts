import { defineConfig } from "vitest/config";

/** The promises of the edge, measured. Minutes, not seconds: see the table it prints. */
export default defineConfig({
  test: {
    include: ["test/slow/edge/**/*.test.ts"],
    globalSetup: ["test/slow/edge/table.ts"],
    testTimeout: 240_000,
    hookTimeout: 60_000,
    fileParallelism: false,
  },
});
