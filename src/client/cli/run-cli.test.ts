import http from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { TradeError } from "../trade-error.ts";
import { type CliIo, type Command, EXIT } from "./command.ts";
import { runCli } from "./run-cli.ts";

/** The exit code of a command that ends with this failure. */
function codeOf(
  failure: Error,
  words: readonly string[] = [],
  notes: string[] = [],
  out: string[] = [],
): Promise<number> {
  const command: Command = {
    name: "trade",
    usage: "trade",
    summary: "fails",
    flags: [],
    help: "",
    run: () => Promise.reject(failure),
  };
  const note = (line: string) => void notes.push(line);
  const silent = { out: (line: string) => void out.push(line), note, env: {}, readFile: () => Promise.resolve("") };
  return runCli([command], ["trade", ...words], silent as unknown as CliIo);
}

test("who interrupts a trade before it is signed was refused nothing, and after it knows no outcome", async () => {
  expect(await codeOf(new TradeError("ABORTED", "aborted"))).toBe(EXIT.failed);
  expect(await codeOf(new TradeError("ABORTED", "aborted", { signature: "s" }))).toBe(EXIT.undecided);
});

test("a failure that is no trade's, such as a node's refusal, is told in its own words, to scripts too", async () => {
  const [notes, out]: string[][] = [[], []];
  expect(await codeOf(new Error("The node answered: no."), ["--json"], notes, out)).toBe(EXIT.failed);
  expect(notes).toEqual(["The node answered: no."]);
  expect(JSON.parse(out![0]!)).toEqual({ error: { code: "FAILED", message: "The node answered: no." } });
});

test("a reference that gives no price is not reached, as a node is", async () => {
  for (const code of ["NODE_UNAVAILABLE", "REFERENCE_UNAVAILABLE"]) {
    expect(await codeOf(new TradeError(code, "down", { retryable: true })), code).toBe(EXIT.unreachable);
  }
});

test.each([
  ["never ends", (response: http.ServerResponse) => void response.write("event: 1\n")],
  ["breaks off", (response: http.ServerResponse) => void response.write("event: 1\n", () => response.destroy())],
])(
  "a stranger whose answer %s is told apart from the service",
  async (_, answer) => {
    const stranger = http.createServer((_request, response) => answer(response.writeHead(200)));
    await new Promise<void>((resolve) => void stranger.listen(0, "127.0.0.1", resolve));
    try {
      const url = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
      const notes: string[] = [];
      const lost = new TradeError("CONNECTION_ERROR", "The service did not answer.", { retryable: true });
      expect(await codeOf(lost, ["--url", url], notes)).toBe(EXIT.unreachable);
      expect(notes).toEqual([
        "CONNECTION_ERROR: The service did not answer.",
        `${url} answers, but it is not a Tradewire service.`,
      ]);
    } finally {
      stranger.closeAllConnections();
      stranger.close();
    }
  },
  60_000,
);
