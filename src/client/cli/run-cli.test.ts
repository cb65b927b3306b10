import http from "node:http";
import type { AddressInfo } from "node:net";
import { create, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { GetProfileResponseSchema } from "../../../gen/tradewire/v1/account_pb.ts";
import { Address } from "../../primitives/address.ts";
import { encodeBase58 } from "../../primitives/encoding/base58.ts";
import { TradeError } from "../trade-error.ts";
import { UnexpectedTransactionError } from "../verify/problem.ts";
import { type CliIo, type Command, EXIT } from "./command.ts";
import { runCli } from "./run-cli.ts";

/** The exit code of a command that ends with this failure. */
function codeOf(
  failure: Error,
  words: readonly string[] = [],
  notes: string[] = [],
  out: string[] = [],
  env: CliIo["env"] = {},
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
  const silent = { out: (line: string) => void out.push(line), note, env, readFile: () => Promise.resolve("") };
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

test("a refusal of the service is no failed trade, whatever it says of rebuilding: nothing was signed", async () => {
  for (const safeToRebuild of [true, false]) {
    expect(await codeOf(new TradeError("TX_EXPIRED", "expired", { safeToRebuild }))).toBe(EXIT.refused);
    const signed = new TradeError("TX_EXPIRED", "expired", { safeToRebuild, signature: "s" });
    expect(await codeOf(signed)).toBe(safeToRebuild ? EXIT.tradeFailed : EXIT.undecided);
  }
});

test("a service that names another wallet explains no transaction that is not that wallet's", async () => {
  const other = Address.from(new Uint8Array(32).fill(9));
  const profile = create(GetProfileResponseSchema, { walletAddress: other.toString() });
  const service = http.createServer((_request, response) => {
    response.writeHead(200, { "content-type": "application/proto" }).end(toBinary(GetProfileResponseSchema, profile));
  });
  await new Promise<void>((resolve) => void service.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const env = { TRADEWIRE_KEY: encodeBase58(new Uint8Array(32).fill(7)), TRADEWIRE_API_KEY: "api_key" };
  const refused = (reason: string, account: Address) =>
    new UnexpectedTransactionError([{ instruction: undefined, account, reason }]);
  try {
    const notes: string[] = [];
    const stranger = Address.from(new Uint8Array(32).fill(3));
    const attack = refused("it transfers 1 SOL to an account outside this trade", stranger);
    expect(await codeOf(attack, ["--url", url], notes, [], env)).toBe(EXIT.distrusted);
    expect(notes).toEqual([`UNEXPECTED_TRANSACTION: ${attack.message}`]);
    const mixed = refused("another account pays the fee", other);
    expect(await codeOf(mixed, ["--url", url], notes, [], env)).toBe(EXIT.usage);
    expect(notes.at(-1)).toContain(`This API key belongs to ${other}`);
  } finally {
    service.closeAllConnections();
    service.close();
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
