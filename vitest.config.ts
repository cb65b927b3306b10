import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    exclude: [
      "test/slow/venues/**",
      "test/slow/browser/**",
      "test/slow/edge/**",
      "test/slow/operations/**",
      "test/oracles/**",
      "**/node_modules/**",
    ],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
