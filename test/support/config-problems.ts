import { ConfigError, parseConfig } from "../../src/config/config.ts";

/** What `parse` reports as wrong; empty if it accepts everything. */
export function configProblems(parse: () => unknown): readonly string[] {
  try {
    parse();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

/** What is wrong with these settings; empty if nothing is. */
export function problemsOf(env: Record<string, string>): readonly string[] {
  return configProblems(() => parseConfig(env));
}
