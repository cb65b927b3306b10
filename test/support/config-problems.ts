import { ConfigError, parseConfig } from "../../src/process/config/config.ts";

/** What is wrong with these settings; empty if nothing is. */
export function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    parseConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}
