import { create, type DescMethodUnary } from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import bs58 from "bs58";
import { expect, test, vi } from "vitest";
import { ErrorDetailSchema } from "../../gen/tradewire/v1/errors_pb.ts";
import { Address } from "../primitives/address.ts";
import { compileMessage, type MessagePlan, unsignedTransaction } from "../solana/message.ts";
import { SYSTEM_PROGRAM } from "../solana/programs.ts";
import type { ConnectOptions, TradeOptions } from "./order/options.ts";
import { Tradewire } from "./tradewire.ts";
import { fromBase58 } from "./wallet.ts";

const KEY = "4Z7cXSyeFR8wNGMVXUE1TwtKn5D5Vu7FzEv69dokLv7KrQk7h6pu4LF8ZRR9yQBhc7uSM6RTTZtU1fmaxiNrxXrs";
const wallet = fromBase58(KEY);
const mint = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
const mints = { inputMint: "SOL", outputMint: mint };
const amounts = { inputAmountRaw: "100000000", outputAmountRaw: "15000000" };
const order = { mint, solAmount: 0.1, slippage: 0.01, priority: "fast" } as const;
/** More than the service offers. */
const tooMuch = { minOutputAmount: 16 };

/** A service that builds one trade of 0.1 SOL for 15 USDC, an empty transaction, and says of whatever is submitted that it expired. */
function connect(more: Partial<ConnectOptions> = {}, parts: Partial<MessagePlan> = {}) {
  const requests: { readonly solAmount?: number }[] = [];
  const plan = { payer: wallet.publicKey, instructions: [], blockhash: new Uint8Array(32), lookupTables: [], ...parts };
  const answer = {
    ...mints,
    platform: "raydium_cpmm",
    submissionToken: "token",
    unsignedTransaction: unsignedTransaction(compileMessage(plan)),
    estimates: { inputAmount: 0.1, outputAmount: 15, priceImpact: 0, ...amounts },
    costs: { baseFee: "5000", priorityFee: "0", tip: "0", rentPaid: "0", rentReturned: "0" },
    route: [{ venue: "raydium_cpmm", market: "9n4nbM75f5Ui33ZbPYXn59EwSgE8CGsHtAeTH5YFeJ9E", ...mints, ...amounts }],
  };
  const unary = async (method: DescMethodUnary, ...[, , , request]: readonly unknown[]) => {
    if (method.name === "Submit") {
      if ((request as { readonly submissionToken: string }).submissionToken === "silent")
        return new Promise(() => undefined);
      const value = { code: "TX_EXPIRED", message: "expired", safeToRebuild: true };
      throw new ConnectError("expired", Code.Aborted, undefined, [{ desc: ErrorDetailSchema, value }]);
    }
    requests.push(request as never);
    return { message: create(method.output, answer as never) };
  };
  const transport = { unary } as unknown as Transport;
  const client = Tradewire.connect({ baseUrl: "http://service.example", wallet, transport, keepAliveMs: 0, ...more });
  return { client, requests };
}

test("a limit counts wherever the caller's object has it from: its class, its prototype, a getter", async () => {
  class Limits {
    get minOutputAmount() {
      return tooMuch.minOutputAmount;
    }
  }
  for (const limits of [tooMuch, Object.create(tooMuch), new Limits()] as readonly TradeOptions[]) {
    const { client } = connect();
    await expect(client.buy(order, limits)).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
    const built = await client.buildBuy(order);
    await expect(client.sign(built, limits)).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
    await expect(client.verify(await client.buildBuy(order, limits))).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
  }
});

test("what the caller does with its limits during a call changes nothing of it", async () => {
  const { client } = connect();
  const limits = { ...tooMuch };
  const bought = client.buy(order, limits);
  limits.minOutputAmount = 0.000001;
  await expect(bought).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
  const venues = ["pump_swap"];
  const elsewhere = client.buy(order, { venues });
  venues.push("raydium_cpmm");
  await expect(elsewhere).rejects.toMatchObject({ code: "UNEXPECTED_TRANSACTION" });
});

test("an order that its caller fills in anew while it is traded is built again as it was", async () => {
  const { client, requests } = connect({ verify: "off" });
  const reused = { ...order, solAmount: 0.1 };
  const rebuild = { times: 1, maxPriceMove: 0 };
  const bought = client.buy(reused, { rebuild });
  reused.solAmount = 100;
  await expect(bought).rejects.toMatchObject({ code: "TX_EXPIRED" });
  expect(requests.map(({ solAmount }) => solAmount)).toEqual([0.1, 0.1]);
});

test("a trade that its caller aborts while it is confirmed is not signed, whatever the confirmation says then", async () => {
  const signMessageBytes = vi.fn(wallet.signMessageBytes);
  const { client } = connect({ verify: "off", wallet: { ...wallet, signMessageBytes } });
  const caller = new AbortController();
  const confirm = () => {
    caller.abort();
    return true;
  };
  const failure = await client.buy(order, { confirm, signal: caller.signal }).catch((error: unknown) => error);
  expect(failure).toMatchObject({
    code: "ABORTED",
    signature: undefined,
    message: expect.stringMatching(/was not signed/),
  });
  expect(signMessageBytes).not.toHaveBeenCalled();
});

test("a trade that its caller aborts while lookup tables are read ends at once, and their reader is told", async () => {
  const [table, entry] = [3, 4].map((byte) => Address.from(new Uint8Array(32).fill(byte)));
  const instruction = {
    program: SYSTEM_PROGRAM,
    accounts: [{ address: entry!, signer: false, writable: true }],
    data: new Uint8Array(),
  };
  const uses = { instructions: [instruction], lookupTables: [{ address: table!, entries: [entry!] }] };
  const caller = new AbortController();
  let told: AbortSignal | undefined;
  const lookupTables = (_: readonly Address[], signal: AbortSignal) => {
    told = signal;
    queueMicrotask(() => caller.abort());
    return new Promise<never>(() => undefined);
  };
  const decimals = { input: 9, output: 6 };
  const { client } = connect({ lookupTables }, uses);
  await expect(client.buy(order, { decimals, signal: caller.signal })).rejects.toMatchObject({ code: "ABORTED" });
  expect(told?.aborted).toBe(true);
});

test("a bound on the price of a rebuild that bounds nothing is refused before anything is built", async () => {
  const { client, requests } = connect();
  for (const maxPriceMove of [1, 50, Number.POSITIVE_INFINITY, Number.NaN, undefined, "0.01"]) {
    const rebuild = { times: 1, maxPriceMove } as never;
    await expect(client.buy(order, { rebuild }), `${maxPriceMove}`).rejects.toThrow(
      /^rebuild\.maxPriceMove is a fraction/,
    );
  }
  expect(requests).toEqual([]);
});

test("a submit that its caller aborts says that what was signed may still land, at rest or in the middle of a call", async () => {
  const signed = new Uint8Array(200).fill(1);
  const { client } = connect();
  for (const afterMs of [undefined, 0]) {
    const caller = new AbortController();
    const submitted = client.submit("silent", signed, { signal: caller.signal });
    if (afterMs === undefined) caller.abort();
    else setTimeout(() => caller.abort(), afterMs);
    await expect(submitted).rejects.toMatchObject({
      code: "ABORTED",
      signature: bs58.encode(signed.subarray(1, 65)),
      message: expect.stringMatching(/may still land/),
    });
  }
});

test("a time that is none is refused before anything is sent, in the client's options and in a call's", async () => {
  for (const ms of [Number.NaN, -1, "5"] as never[]) {
    const { client, requests } = connect({ verify: "off" });
    for (const options of [{ patienceMs: ms }, { timeoutMs: ms }]) {
      await expect(client.buy(order, options), `${ms}`).rejects.toThrow(/Ms is milliseconds, 0 or more/);
      await expect(client.submit("silent", new Uint8Array(200), options)).rejects.toThrow(TypeError);
    }
    expect(requests).toEqual([]);
    for (const options of [{ timeoutMs: ms }, { keepAliveMs: ms }]) {
      expect(() => connect(options), `${ms}`).toThrow(/Ms is milliseconds, 0 or more/);
    }
  }
});

test("no timer is asked to wait longer than timers do: it would be over at once", async () => {
  const timers = vi.spyOn(globalThis, "setTimeout");
  const forever = Number.POSITIVE_INFINITY;
  const { client } = connect({ verify: "off", timeoutMs: forever, keepAliveMs: 3e9 });
  await client.buildBuy(order);
  const submitted = client.submit("silent", new Uint8Array(200), { timeoutMs: 0, patienceMs: forever });
  client.close();
  await expect(submitted).rejects.toMatchObject({ code: "ABORTED" });
  const waits = timers.mock.calls.map(([, ms = 0]) => ms);
  timers.mockRestore();
  expect(waits.length).toBeGreaterThan(2);
  expect(Math.max(...waits)).toBeLessThan(2 ** 31);
});
