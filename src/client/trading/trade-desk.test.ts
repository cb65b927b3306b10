import { expect, test } from "vitest";
import { compileMessage, unsignedTransaction } from "../../solana/message.ts";
import type { BuiltResponse } from "../answers/answers.ts";
import { TradeError } from "../trade-error.ts";
import { fromBase58 } from "../wallet.ts";
import { TradeDesk } from "./trade-desk.ts";

const KEY = "4Z7cXSyeFR8wNGMVXUE1TwtKn5D5Vu7FzEv69dokLv7KrQk7h6pu4LF8ZRR9yQBhc7uSM6RTTZtU1fmaxiNrxXrs";
const wallet = fromBase58(KEY);

function built(): BuiltResponse {
  const plan = { payer: wallet.publicKey, instructions: [], blockhash: new Uint8Array(32), lookupTables: [] };
  const estimates = { inputAmountRaw: "1", outputAmountRaw: "1" };
  return { unsignedTransaction: unsignedTransaction(compileMessage(plan)), estimates } as unknown as BuiltResponse;
}

test("a wallet that refuses to sign again is no lost connection: the failure names what was signed, and is final", async () => {
  let signed = 0;
  const signMessageBytes = (message: Uint8Array) => {
    signed += 1;
    if (signed > 1) throw new Error("User rejected the request.");
    return wallet.signMessageBytes(message);
  };
  const verifier = { wallet: { ...wallet, signMessageBytes }, witnesses: {}, decimals: {} } as never;
  const desk = new TradeDesk(verifier, false, () => 0);
  const course = {
    build: () => Promise.resolve(built()),
    submit: () => Promise.reject(new TradeError("TX_EXPIRED", "expired", { safeToRebuild: true })),
    signal: new AbortController().signal,
  };
  const signatures: string[] = [];
  const failure = await desk
    .trade(course, {
      rebuild: { times: 1, maxPriceMove: 0 },
      onProgress: (progress) => void (progress.step === "signed" && signatures.push(progress.signature)),
    })
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(TradeError);
  expect(failure).toMatchObject({ code: "ABORTED", retryable: false, signature: signatures[0] });
  expect((failure as TradeError).message).toContain("User rejected the request.");
  expect((failure as TradeError).message).toContain(signatures[0]);
});

test("a proof of expiry that fails is no reason to forget what was signed", async () => {
  const desk = new TradeDesk({ wallet, witnesses: {}, decimals: {} } as never, false, () => 0);
  const course = {
    build: () => Promise.resolve(built()),
    submit: () => Promise.reject(new TradeError("TX_EXPIRED", "expired", { safeToRebuild: true })),
    signal: new AbortController().signal,
  };
  const proveExpiry = () => Promise.reject(new Error("The explorer is down."));
  const failure = await desk
    .trade(course, { rebuild: { times: 1, maxPriceMove: 0, proveExpiry } })
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(TradeError);
  expect(failure).toMatchObject({ code: "ABORTED", signature: expect.stringMatching(/^\w{64,88}$/) });
  expect((failure as TradeError).message).toContain("The explorer is down.");
});

test("a limit of the build call stays unless the call that signs sets another: one that is undefined takes none away", async () => {
  const { signal } = new AbortController();
  const desk = new TradeDesk({ wallet, witnesses: {}, decimals: {} } as never, true, () => 0);
  const order = { inputMint: "SOL", outputMint: "SOL", swapMode: "exactIn", amount: 1, slippage: 0.5 } as const;
  const codeOf = async (given: object | undefined) => {
    const build = built();
    desk.ordered(build, order, { maxSlippage: 0.1 });
    const failure: unknown = await desk.sign(build, given, signal).catch((error: unknown) => error);
    return failure instanceof TradeError ? failure.code : (failure as Error).name;
  };
  for (const given of [undefined, {}, { maxSlippage: undefined }, { maxSlippage: 0.4 }]) {
    expect(await codeOf(given), JSON.stringify(given)).toBe("LIMIT_EXCEEDED");
  }
  expect(await codeOf({ maxSlippage: 0.5 })).toBe("TypeError");
});
