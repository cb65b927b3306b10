import type { Command } from "./command.ts";
import { EXIT } from "./command.ts";
import { CLIENT_COMMANDS } from "./commands.ts";
import { processIo } from "./process-io.ts";
import { runCli } from "./run-cli.ts";

/** Placeholders for the commands of the service, which is not part of the package. */
const ELSEWHERE: readonly Command[] = (["sandbox", "serve"] as const).map((name) => ({
  name,
  usage: name,
  summary:
    name === "serve"
      ? "runs the service (from its own repository)"
      : "runs the embedded chain (from the service's repository)",
  flags: [],
  help: "The service is not part of this package. In its repository, run npm start or npm run cli -- sandbox.",
  async run(_line, io) {
    io.note(`${name} runs from the service's own repository: npm start, or npm run cli -- ${name}.`);
    return EXIT.usage;
  },
}));

process.exitCode = await runCli([...CLIENT_COMMANDS, ...ELSEWHERE], process.argv.slice(2), processIo(process));
