#!/usr/bin/env node
import { type Command, EXIT, numberFlag } from "../client/cli/command.ts";
import { CLIENT_COMMANDS } from "../client/cli/commands.ts";
import { processIo } from "../client/cli/process-io.ts";
import { runCli } from "../client/cli/run-cli.ts";
import { describeStartFailure } from "./start-failure.ts";

const sandbox: Command = {
  name: "sandbox",
  usage: "sandbox",
  summary: "runs the embedded chain alone",
  flags: ["port"],
  help: "A private chain with every venue, for experiments. Its tokens are worth nothing. Ctrl-C stops it.",
  async run(line, io) {
    const { startSandbox } = await import("../sandbox/sandbox.ts");
    const chain = await startSandbox({ port: numberFlag(line, "port") ?? 0 });
    const tokens = chain.world.tokens.map(({ mint, symbol, venue }) => ({ mint, symbol, venue }));
    if (line.flags.has("json")) io.out(JSON.stringify({ rpcUrl: chain.rpcUrl, wsUrl: chain.wsUrl, tokens }));
    else {
      io.out(`JSON-RPC ${chain.rpcUrl}`);
      io.out(`WebSocket ${chain.wsUrl}`);
      for (const { mint, symbol, venue } of tokens) io.out(`  ${mint}  ${symbol.padEnd(8)}${venue}`);
    }
    await new Promise<void>((resolve) => io.signal.addEventListener("abort", () => resolve(), { once: true }));
    await chain.close();
    return EXIT.done;
  },
};

const serve: Command = {
  name: "serve",
  usage: "serve",
  summary: "runs the service; its settings are environment variables",
  flags: [],
  help: "The same as npm start; npm start -- --help lists the settings. Ctrl-C stops it.",
  async run(_line, io) {
    const { runService } = await import("./service.ts");
    try {
      await runService([]);
    } catch (error) {
      io.note(describeStartFailure(error));
      return EXIT.failed;
    }
    // The service handles the signal too: it drains, then ends the process.
    await new Promise<void>((resolve) => io.signal.addEventListener("abort", () => resolve(), { once: true }));
    return EXIT.done;
  },
};

process.exitCode = await runCli([...CLIENT_COMMANDS, sandbox, serve], process.argv.slice(2), processIo(process));
