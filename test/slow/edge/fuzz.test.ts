import { randomFillSync } from "node:crypto";
import { afterEach, it } from "vitest";
import {
  BuyRequestSchema,
  SubmitRequestSchema,
  SwapRequestSchema,
  TradeService,
} from "../../../gen/tradewire/v1/trade_pb.ts";
import { checkRequest, warmValidation } from "../../../src/api/call/validation/validation.ts";
import { parseJson } from "../../../src/api/http/parse-json.ts";
import { createJsonDecoder } from "../../../src/api/rest/json-decoder.ts";
import { TradewireError } from "../../../src/errors/tradewire-error.ts";
import { createRandom } from "../../../src/primitives/random.ts";
import { createTokenSealer } from "../../../src/trade/build/token/submission-token.ts";
import { verifySignedBytes } from "../../../src/trade/submit/signed-bytes.ts";
import { ALICE, TOKEN } from "../../support/fake-trades.ts";
import { createTestWallet } from "../../support/wallet.ts";
import { usedMs } from "./core-times.ts";
import { type EdgeProcess, startEdgeProcess } from "./edge-process.ts";
import { requestText, sendRaw } from "./sockets.ts";
import { ms, report } from "./table.ts";

const random = createRandom(18);
let edge: EdgeProcess | undefined;
afterEach(() => edge?.stop());

const pick = <T>(of: readonly T[]): T => of[random.u32() % of.length]!;

const SCRAPS = [
  "{",
  "}",
  "[",
  "]",
  '"',
  ":",
  ",",
  "0",
  "-1",
  "1e999",
  "null",
  "true",
  "\\u0000",
  "\\ud800",
  '"mint"',
  '"SOL"',
  "0.1",
  "__proto__",
  " ",
];

/** A good body with a few bytes changed, cut, doubled or replaced. */
function mutate(text: string): string {
  let mutated = text;
  for (let i = 0; i <= random.u32() % 3; i++) {
    const at = random.u32() % (mutated.length + 1);
    const cut = random.u32() % 6;
    mutated = mutated.slice(0, at) + (random.u32() % 3 === 0 ? "" : pick(SCRAPS)) + mutated.slice(at + cut);
  }
  return mutated;
}

it("18: malformed input neither crashes nor stalls the service (by processor time)", async () => {
  const crashes = new Set<string>();
  let inputs = 0;
  let broadcastable = 0;
  let slowestMs = 0;
  const attempt = (work: () => unknown): boolean => {
    inputs++;
    const startMs = performance.now();
    try {
      work();
      return true;
    } catch (error) {
      if (!(error instanceof TradewireError)) crashes.add(String(error));
      return false;
    } finally {
      slowestMs = Math.max(slowestMs, performance.now() - startMs);
    }
  };
  // As the service does before it listens.
  warmValidation([TradeService]);
  const rest = [BuyRequestSchema, SwapRequestSchema, SubmitRequestSchema].map((schema) => ({
    schema,
    decode: createJsonDecoder(schema, "rest"),
  }));
  const bodies = [
    `{"mint":"${TOKEN}","solAmount":0.1,"slippage":0.01,"priority":"fast"}`,
    `{"inputMint":"SOL","outputMint":"${TOKEN}","amount":1,"swapMode":"exactIn","slippage":0,"priority":"fast"}`,
    '{"submissionToken":"tw1.k1.AAAA","signedTransaction":"AQAAAA=="}',
  ];
  const wallet = createTestWallet();
  const sealed = { wallet: wallet.address, messageHash: random.bytes(32), messageLength: 200 };
  const sealer = createTokenSealer({
    keys: [{ id: "k1", secret: random.bytes(32), seals: true }],
    genesisHash: "genesis",
    now: Date.now,
    fillRandom: randomFillSync,
  });
  const noise = random.bytes(1 << 16);
  const slice = () => {
    const at = random.u32() % (noise.length - 600);
    return noise.subarray(at, at + (random.u32() % 600));
  };
  const untilMs = performance.now() + 150_000;
  // No input takes longer than the slowest of its batch by the clock, nor more processor time than all of the batch.
  let longestMs = 0;
  while (inputs < 10_000_000 && performance.now() < untilMs) {
    const startMs = usedMs();
    slowestMs = 0;
    for (let i = 0; i < 300; i++) {
      if (attempt(() => verifySignedBytes(sealed, slice()))) broadcastable++;
    }
    const token = Buffer.from(slice()).toString("latin1");
    for (let i = 0; i < 300; i++) {
      const text = `${pick(["tw1.k1.", "tw1.", "tw2.k1.", ""])}${token.slice(random.u32() % (token.length + 1))}`;
      if (attempt(() => sealer.open(text, "acc_1"))) broadcastable++;
    }
    for (let i = 0; i < 30; i++) {
      const which = random.u32() % 3;
      const text = mutate(bodies[which]!);
      const { schema, decode } = rest[which]!;
      const bytes = Buffer.from(text);
      attempt(() => checkRequest(schema, decode(parseJson(bytes))));
    }
    longestMs = Math.max(longestMs, Math.min(slowestMs, usedMs() - startMs));
  }

  edge = await startEdgeProcess();
  const { port } = edge;
  await edge.usage();
  let answered = 0;
  const requests = 4_000;
  await Promise.all(
    Array.from({ length: 50 }, async () => {
      for (let i = 0; i < requests / 50; i++) {
        const body = mutate(pick(bodies));
        const head = requestText(
          pick(["/v1/tx/buy", "/v1/tx/swap", "/v1/tx/submit", "/tradewire.v1.TradeService/Buy"]),
          [
            pick(["Content-Type: application/json", "Content-Type: application/grpc", "Content-Type: \u00ff", "X: y"]),
            `Authorization: ${pick([`Bearer ${ALICE.key}`, "Bearer", "Basic x", "Bearer \u00e9"])}`,
            `Content-Length: ${Buffer.byteLength(body)}`,
            "Connection: close",
          ],
        );
        const text = random.u32() % 16 === 0 ? mutate(head) : head;
        inputs++;
        const { status, closed } = await sendRaw(port, [text + body, "\r\n\r\n"], 11_000);
        if (closed || status > 0) answered++;
      }
    }),
  );
  const alive = (await fetch(`http://127.0.0.1:${port}/v1/ping`)).status;
  const { stallMs, ownStallMs } = await edge.usage();
  report(
    18,
    "Malformed input (stalls by processor time)",
    "10,000,000 inputs: 0 crashes, nothing broadcast, event loop never stalled > 50 ms",
    `${inputs} inputs: ${crashes.size} crashes ${[...crashes].slice(0, 3).join("; ")}, ${broadcastable} taken for good; slowest ${ms(longestMs)}; over HTTP the server's longest stall ${ms(ownStallMs)} (${ms(stallMs)} with what others on the machine did); ${answered} of ${requests} requests answered or closed, then ping ${alive}`,
    inputs >= 10_000_000 &&
      crashes.size === 0 &&
      broadcastable === 0 &&
      longestMs <= 50 &&
      ownStallMs <= 50 &&
      alive === 200 &&
      answered === requests,
  );
});
