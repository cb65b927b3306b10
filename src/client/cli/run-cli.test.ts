import { expect, test } from "vitest";
import { TradeError } from "../trade-error.ts";
import { type CliIo, type Command, EXIT } from "./command.ts";
import { runCli } from "./run-cli.ts";

/** The exit code of a command that ends with this failure. */
function codeOf(failure: TradeError): Promise<number> {
  const command: Command = {
    name: "trade",
    usage: "trade",
    summary: "fails",
    flags: [],
    help: "",
    run: () => Promise.reject(failure),
  };
  const silent = { out: () => undefined, note: () => undefined, env: {}, readFile: () => Promise.resolve("") };
  return runCli([command], ["trade"], silent as unknown as CliIo);
}

test("who interrupts a trade before it is signed was refused nothing, and after it knows no outcome", async () => {
  expect(await codeOf(new TradeError("ABORTED", "aborted"))).toBe(EXIT.failed);
  expect(await codeOf(new TradeError("ABORTED", "aborted", { signature: "s" }))).toBe(EXIT.undecided);
});

test("a reference that gives no price is not reached, as a node is", async () => {
  for (const code of ["NODE_UNAVAILABLE", "REFERENCE_UNAVAILABLE"]) {
    expect(await codeOf(new TradeError(code, "down", { retryable: true })), code).toBe(EXIT.unreachable);
  }
});
