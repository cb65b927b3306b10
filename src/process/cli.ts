#!/usr/bin/env node
import { type Command, EXIT, numberFlag } from "../client/cli/command.ts";
import { CLIENT_COMMANDS } from "../client/cli/commands.ts";
import { processIo } from "../client/cli/process-io.ts";
import { runCli } from "../client/cli/run-cli.ts";

const sandbox: Command = {
  name: "sandbox",
  usage: "sandbox [--port PORT]",
  summary: "runs the embedded chain alone",
  flags: ["port"],
  words: [0, 0],
  help: "A chain of one's own with every venue, for trying things out. Its tokens are worth nothing. Ctrl-C ends it.",
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
  words: [0, 0],
  help: "The same as npm start. node src/process/main.ts --help lists the settings.",
  async run(_line, io) {
    await import("./main.ts");
    await new Promise<void>((resolve) => io.signal.addEventListener("abort", () => resolve(), { once: true }));
    return EXIT.done;
  },
};

process.exitCode = await runCli([...CLIENT_COMMANDS, sandbox, serve], process.argv.slice(2), processIo(process));
