import { create, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { Keypair } from "@solana/web3.js";
import { expect, test } from "vitest";
import { ErrorDetailSchema } from "../../gen/tradewire/v1/errors_pb.ts";
import { QuoteResponseSchema } from "../../gen/tradewire/v1/trade_pb.ts";
import { TradeError } from "../../src/client/trade-error.ts";
import { Tradewire } from "../../src/client/tradewire.ts";

/** A service that refuses these fields as 0.1.0 does: by number in binary form, by name in JSON. */
function olderService(unknown: readonly string[], named: (no: number, name: string) => string) {
  const requests: string[][] = [];
  const transport = {
    async unary<I extends DescMessage>({ input }: { input: I }, ...rest: unknown[]) {
      const request = rest.at(-1) as MessageInitShape<I> & object;
      requests.push(Object.keys(request));
      const field = input.fields.find(({ localName }) => unknown.includes(localName) && localName in request);
      if (field === undefined) return { message: create(QuoteResponseSchema, { valueRaw: "7" }) };
      const value = { code: "VALIDATION_ERROR", message: "no such field", field: named(field.number, field.jsonName) };
      throw new ConnectError("refused", Code.InvalidArgument, undefined, [{ desc: ErrorDetailSchema, value }]);
    },
  };
  const wallet = Keypair.generate();
  const client = Tradewire.connect({
    baseUrl: "http://127.0.0.1:9",
    wallet,
    transport: transport as unknown as Transport,
    keepAliveMs: 0,
  });
  return { client, requests };
}

const swap = {
  inputMint: "SOL",
  outputMint: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
  slippage: 0.05,
  swapMode: "exactIn",
} as const;

const refusal = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );

test.each([
  ["binary", (no: number) => `#${no}`],
  ["JSON", (_no: number, name: string) => name],
])("a field that only allows more is left out from then on (%s)", async (_form, named) => {
  const { client, requests } = olderService(["maxTransactionVersion"], named);
  expect((await client.quote({ ...swap, amount: 1 })).valueRaw).toBe("7");
  expect((await client.quote({ ...swap, amount: 1 })).valueRaw).toBe("7");
  expect(requests.map((fields) => fields.includes("maxTransactionVersion"))).toEqual([true, false, false]);
});

test("calls at once are each answered", async () => {
  const { client, requests } = olderService(["maxTransactionVersion"], (no) => `#${no}`);
  await Promise.all([1, 2, 3].map((amount) => client.quote({ ...swap, amount })));
  expect(requests.length).toBe(6);
});

test.each([
  ["amountRaw", { amountRaw: "1000" }, {}],
  ["maxPaths", { amount: 1 }, { maxPaths: 1 }],
  ["directOnly", { amount: 1 }, { directOnly: true }],
  ["requireChecked", { amount: 1 }, { requireChecked: true }],
  ["excludeVenues", { amount: 1 }, { excludeVenues: ["raydium_cpmm"] }],
])("%s, which the caller set, is never left out", async (field, amount, limits) => {
  const { client, requests } = olderService([field, "maxTransactionVersion"], (no) => `#${no}`);
  const refused = await refusal(client.quote({ ...swap, ...amount }, limits));
  expect(refused).toBeInstanceOf(TradeError);
  expect(refused).toMatchObject({ code: "VALIDATION_ERROR", field, retryable: false });
  expect((refused as TradeError).message).toMatch(`older version and does not know ${field}`);
  expect(requests.length).toBe(1);
});

test("a refusal that names a field that was not sent is passed on, and nothing is sent again", async () => {
  const { client, requests } = olderService(["maxTransactionVersion"], () => "#22");
  expect(await refusal(client.quote({ ...swap, amount: 1 }))).toMatchObject({ message: "no such field", field: "#22" });
  expect(requests.length).toBe(1);
});
