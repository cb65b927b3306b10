import { defineConfig } from "vitest/config";

/** The pages in a real Chromium. */
export default defineConfig({
  test: {
    include: ["test/slow/browser/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    fileParallelism: false,
  },
});
