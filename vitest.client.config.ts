import { defineConfig } from "vitest/config";

/** The whole measure of the client: 10 000 honest builds, the packed package, examples in other languages, a browser. */
export default defineConfig({
  test: {
    include: ["test/slow/client/**/*.test.ts", "test/slow/client/**/*.slow.ts", "test/integration/client-*.test.ts"],
    env: { HONEST_BUILDS: "10000" },
    testTimeout: 600_000,
    hookTimeout: 300_000,
    fileParallelism: false,
  },
});
