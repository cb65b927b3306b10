import { ConfigError } from "../config/config.ts";

/** What the service was started to do. */
export interface ServiceArguments {
  /** serve: the service. chain: the embedded chain alone. check: only report problems of the settings. */
  readonly task: "serve" | "chain" | "check" | "help";
  /** Processes that share the port; undefined: one process, without a primary. */
  readonly workers: number | undefined;
}

const MAX_WORKERS = 64;
const TASKS: ReadonlyMap<string, ServiceArguments["task"]> = new Map([
  ["--chain", "chain"],
  ["--check", "check"],
  ["--help", "help"],
]);

/**
 * Reads the arguments after the program's name.
 *
 * @throws ConfigError naming each argument that is unknown or cannot be used
 */
export function parseServiceArguments(argv: readonly string[]): ServiceArguments {
  const problems: string[] = [];
  let task: ServiceArguments["task"] = "serve";
  let workers: number | undefined;
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i]!;
    const named = TASKS.get(word);
    if (named !== undefined) {
      // Help wins over any other task.
      if (task !== "help") task = named;
    } else if (word === "--workers") {
      workers = parseCount(argv[++i]);
      if (workers === undefined) {
        problems.push(`--workers must be followed by a whole number from 1 to ${MAX_WORKERS} (processes).`);
      }
    } else {
      problems.push(`${word} is not an option. Options: --workers N, --chain, --check, --help.`);
    }
  }
  if (task === "chain" && workers !== undefined) problems.push("--chain runs one process: leave --workers out.");
  if (problems.length > 0 && task !== "help") throw new ConfigError(problems);
  return { task, workers };
}

function parseCount(written: string | undefined): number | undefined {
  const count = /^\d{1,3}$/.test(written ?? "") ? Number(written) : 0;
  return count >= 1 && count <= MAX_WORKERS ? count : undefined;
}
