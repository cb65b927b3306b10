import { defineConfig } from "vitest/config";

/** Several processes as in production: PostgreSQL, a load balancer, workers, restarts. */
export default defineConfig({
  test: {
    include: ["test/slow/operations/**/*.test.ts"],
    testTimeout: 180_000,
    hookTimeout: 120_000,
    fileParallelism: false,
  },
});
