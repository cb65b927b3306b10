import { type ParseArgsConfig, parseArgs } from "node:util";

/**
 * The options that a slow script was given. With `--help`, prints the help and ends the process; with an option that does not exist
 * too, with code 2.
 *
 * @param help what the script does, and its options
 */
export function readOptions<T extends ParseArgsConfig>(help: string, config: T): ReturnType<typeof parseArgs<T>> {
  if (process.argv.includes("--help")) {
    process.stdout.write(help);
    process.exit(0);
  }
  try {
    return parseArgs(config);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${help}`);
    process.exit(2);
  }
}
