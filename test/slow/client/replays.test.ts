import { create, type DescMethodUnary } from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import bs58 from "bs58";
import { expect, test } from "vitest";
import { ErrorDetailSchema } from "../../../gen/tradewire/v1/errors_pb.ts";
import { TradeStatus } from "../../../gen/tradewire/v1/types_pb.ts";
import type { TradeOptions } from "../../../src/client/order/options.ts";
import type { SwapOrder } from "../../../src/client/order/order.ts";
import type { TradeReview } from "../../../src/client/proof/review.ts";
import { Tradewire } from "../../../src/client/tradewire.ts";
import { createRandom, type Random } from "../../../src/primitives/random.ts";
import type { HonestBuild } from "./honest-builds.ts";
import { buildSample } from "./sample-builds.ts";

async function wholeBuild(random: Random): Promise<HonestBuild> {
  for (;;) {
    const build = await buildSample(random, "raydium_cpmm");
    if (build?.form === "plain" && build.order.swapMode === "exactIn") return build;
  }
}

const random = createRandom(5);

/** A client of a service that answers every order for one trade with the same honest build of it. */
async function replaying(isExpired: () => boolean = () => false, given?: HonestBuild) {
  const build = given ?? (await wholeBuild(random));
  const signatures: string[] = [];
  const answer = (method: DescMethodUnary): object => {
    if (method.name !== "Submit") {
      return { ...build.answer, unsignedTransaction: build.wire.slice(), submissionToken: "token" };
    }
    if (isExpired()) {
      const value = { code: "TX_EXPIRED", message: "It expired.", safeToRebuild: true };
      throw new ConnectError("error", Code.FailedPrecondition, undefined, [{ desc: ErrorDetailSchema, value }]);
    }
    const { inputAmountRaw, outputAmountRaw } = build.answer.estimates!;
    const tradeResult = { inputAmount: 1, outputAmount: 1, inputAmountRaw, outputAmountRaw };
    return { ...build.answer, signature: signatures.at(-1)!, status: TradeStatus.FINALIZED, tradeResult };
  };
  const transport = {
    unary: async (method: DescMethodUnary) => ({
      stream: false,
      method,
      service: method.parent,
      header: new Headers(),
      trailer: new Headers(),
      message: create(method.output, answer(method) as never),
    }),
  } as unknown as Transport;
  let refusals = 0;
  const signMessageBytes = () => {
    if (refusals-- > 0) throw new Error("User rejected the request.");
    // A wallet may sign one message in several ways.
    const signature = createRandom(signatures.length).bytes(64);
    signatures.push(bs58.encode(signature));
    return signature;
  };
  const client = Tradewire.connect({
    baseUrl: "https://hostile.example",
    apiKey: "api_key",
    transport,
    keepAliveMs: 0,
    decimals: { [build.order.inputMint]: build.decimals.input!, [build.order.outputMint]: build.decimals.output! },
    wallet: { publicKey: build.wallet, signMessageBytes },
  });
  const { inputMint, outputMint, swapMode, amount, slippage } = build.order;
  const order: SwapOrder = { inputMint, outputMint, swapMode, amount: amount!, slippage, priority: "fast" };
  const refuseNext = () => {
    refusals = 1;
  };
  return {
    build,
    client,
    order,
    signatures,
    refuseNext,
    trade: (options?: TradeOptions) => client.swap(order, options),
  };
}

const REPLAYED = { code: "UNEXPECTED_TRANSACTION", message: expect.stringContaining("signed for an earlier order") };

test("one transaction is never signed for two orders: the service would pass one trade off as both", async () => {
  const { trade, signatures, client } = await replaying();
  expect((await trade()).status).toBe("finalized");
  await expect(trade()).rejects.toMatchObject(REPLAYED);
  expect(signatures).toHaveLength(1);
  client.close();
});

test("nor for two orders at once", async () => {
  const { trade, signatures, client } = await replaying();
  const ends = await Promise.allSettled([trade(), trade(), trade()]);
  expect(ends.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected", "rejected"]);
  expect(signatures).toHaveLength(1);
  client.close();
});

test("nor as the rebuild of one that expired; the failure names what was signed", async () => {
  const { trade, signatures, client } = await replaying(() => true);
  const failure = await trade({ rebuild: { times: 2, maxPriceMove: 0.1 } }).catch((error: unknown) => error);
  expect(failure).toMatchObject({ ...REPLAYED, signature: signatures[0] });
  expect(signatures).toHaveLength(1);
  client.close();
});

test("nor for two orders of two clients: each would be told that the one trade is its own", async () => {
  const first = await replaying();
  const second = await replaying(undefined, first.build);
  expect((await first.trade()).status).toBe("finalized");
  await expect(second.trade()).rejects.toMatchObject(REPLAYED);
  expect(second.signatures).toEqual([]);
  first.client.close();
  second.client.close();
});

test("where proof is required, nothing is signed that would be signed anew on the service's word that it expired", async () => {
  const { trade, signatures, client } = await replaying(() => true);
  const rebuild = { times: 1, maxPriceMove: 0.1 };
  const proven = { requireProof: true, minOutputRaw: "1" };
  await expect(trade({ ...proven, rebuild })).rejects.toMatchObject({
    code: "UNPROVEN",
    message: expect.stringContaining("expiry"),
  });
  expect(signatures).toEqual([]);
  // Nobody is asked for a rebuild, or somebody else proves it.
  for (const harmless of [
    { ...rebuild, times: 0 },
    { ...rebuild, proveExpiry: async () => false },
  ]) {
    const other = await replaying(() => true);
    await expect(other.trade({ ...proven, rebuild: harmless })).rejects.toMatchObject({ code: "TX_EXPIRED" });
    other.client.close();
  }
  client.close();
});

test("a trade that would be built again on the service's word says so before it is signed", async () => {
  const { trade, client } = await replaying();
  const seen: string[][] = [];
  const confirm = ({ unproven }: TradeReview) => {
    seen.push([...unproven]);
    return true;
  };
  const { unproven } = await trade({ minOutputRaw: "1", rebuild: { times: 1, maxPriceMove: 0.1 }, confirm });
  expect([...seen, unproven]).toEqual([["expiry"], ["expiry"]]);
  client.close();
});

test("a build may be signed again for its own order, and by a wallet that refused it at first", async () => {
  const { client, order, refuseNext, signatures, trade } = await replaying();
  const built = await client.buildSwap(order);
  refuseNext();
  await expect(client.sign(built)).rejects.toThrow("User rejected");
  await client.sign(built);
  await client.sign(built);
  expect(signatures).toHaveLength(2);
  await expect(trade()).rejects.toMatchObject(REPLAYED);
  client.close();
});

test("what the wallet refused was not signed: another order may have it", async () => {
  const { trade, refuseNext, client } = await replaying();
  refuseNext();
  await expect(trade()).rejects.toThrow("User rejected");
  expect((await trade()).status).toBe("finalized");
  client.close();
});
