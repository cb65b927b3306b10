import { create, type DescMethodUnary } from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { ErrorDetailSchema } from "../../../gen/tradewire/v1/errors_pb.ts";
import { Tradewire } from "../../../src/client/tradewire.ts";
import { findSwapTable } from "../../../src/client/verify/match-swap.ts";
import { readTransaction } from "../../../src/client/verify/read-transaction.ts";
import { Address } from "../../../src/primitives/address.ts";
import { toWholeUnits } from "../../../src/primitives/amount.ts";
import { writeU64 } from "../../../src/primitives/bytes.ts";
import { createRandom } from "../../../src/primitives/random.ts";
import type { HonestBuild } from "./honest-builds.ts";
import { planOf, wireOf } from "./mutations.ts";
import { buildSample } from "./sample-builds.ts";

/** An honest build of one market whose bound is 1 % below its estimate, by the mode of its order. */
async function honestBuild(swapMode: "exactIn" | "exactOut"): Promise<HonestBuild> {
  const random = createRandom(7);
  for (;;) {
    const build = await buildSample(random, "raydium_cpmm");
    const isPlain = build?.form === "plain" && build.order.swapMode === swapMode && build.order.slippage === 0.01;
    if (isPlain && BigInt(build.answer.estimates!.outputAmountRaw) > 10n ** 6n) return build;
  }
}

/** The same trade for one base unit of estimated input and output, and bytes that ask for no more than that unit. */
function emptied({ wire, answer, decimals }: HonestBuild): object {
  const plan = planOf(wire);
  const instructions = plan.instructions.map((one, at) => {
    const table = findSwapTable(readTransaction(wire).instructions[at]!);
    if (table === undefined) return one;
    const data = one.data.slice();
    writeU64(data, table.outAt, 1n);
    return { ...one, data };
  });
  const estimates = {
    ...answer.estimates!,
    inputAmountRaw: "1",
    outputAmountRaw: "1",
    inputAmount: toWholeUnits(1n, decimals.input),
    outputAmount: toWholeUnits(1n, decimals.output),
  };
  const route = answer.route.map((leg) => ({ ...leg, inputAmountRaw: "1", outputAmountRaw: "1" }));
  return { ...answer, estimates, route, unsignedTransaction: wireOf({ ...plan, instructions }) };
}

test("a rebuild that claims to take less than the order is no better price, for its bytes take the order's amount", async () => {
  const build = await honestBuild("exactIn");
  const answers = [{ ...build.answer, unsignedTransaction: build.wire }, emptied(build)];
  let signed = 0;
  const expired = new ConnectError("expired", Code.FailedPrecondition, undefined, [
    { desc: ErrorDetailSchema, value: { code: "TX_EXPIRED", message: "expired", safeToRebuild: true } },
  ]);
  const transport = {
    unary: async (method: DescMethodUnary) => {
      if (method.name === "Submit") throw expired;
      const message = create(method.output, { ...answers.shift(), submissionToken: "token" } as never);
      return { stream: false, method, service: method.parent, header: new Headers(), trailer: new Headers(), message };
    },
  } as unknown as Transport;
  const client = Tradewire.connect({
    baseUrl: "https://hostile.example",
    apiKey: "api_key",
    transport,
    keepAliveMs: 0,
    wallet: {
      publicKey: Address.of(build.wallet.toString()),
      signMessageBytes: () => {
        signed += 1;
        return new Uint8Array(64).fill(signed);
      },
    },
  });
  const { inputMint, outputMint, swapMode, amount, slippage } = build.order;
  const order = { inputMint, outputMint, swapMode, amount: amount!, slippage, priority: "fast" } as const;
  const options = { decimals: build.decimals, rebuild: { times: 1, maxPriceMove: 0.01 } };
  const failure = await client.swap(order, options).catch((error: unknown) => error);
  client.close();
  expect([(failure as { code: string }).code, signed]).toEqual(["PRICE_MOVED", 1]);
});
