import { afterAll, beforeAll, expect, it } from "vitest";
import { TradeService } from "../../gen/tradewire/v1/trade_pb.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { createWires, type Wire } from "../support/wires.ts";

let service: TestService;
let wires: Wire[];
const ANY_NUMBER = { COLD_SEARCHES_PER_KEY: "0", COLD_SEARCHES_PER_ADDRESS: "0", COLD_SEARCHES_PER_SECOND: "0" };

beforeAll(async () => {
  service = await startTestService(ANY_NUMBER);
  wires = createWires(service.url);
});
afterAll(async () => {
  for (const wire of wires ?? []) wire.close();
  await service?.close();
});

it("answers amounts at the edges of u64 and slippages of 0 and 0.99 alike over every wire, or refuses them with a code", async () => {
  const client = await service.newClient();
  const codes = new Set<string>();
  let answered = 0;
  for (const venue of ["pump_fun", "pump_swap"]) {
    const mint = service.mintOn(venue);
    for (const swapMode of ["exactIn", "exactOut"]) {
      for (const amountRaw of ["1", "9223372036854775808", "18446744073709551615"]) {
        for (const slippage of [0, 0.99]) {
          const ask = { inputMint: mint, outputMint: "SOL", swapMode, amountRaw, slippage, worstCase: true };
          const answers: string[] = [];
          for (const wire of wires) {
            const answer = await wire.call(TradeService.method.quote, ask, `Bearer ${client.apiKey}`);
            const said = answer as {
              value?: { estimates: { worstCase: object } };
              code?: string;
              error?: { code: string };
            };
            const code = said.code ?? said.error?.code;
            if (said.value === undefined) codes.add(String(code));
            else answered++;
            answers.push(said.value === undefined ? String(code) : JSON.stringify(said.value.estimates.worstCase));
          }
          expect(new Set(answers).size, JSON.stringify(ask)).toBe(1);
        }
      }
    }
  }
  expect(answered).toBeGreaterThan(0);
  for (const code of codes) expect(["VALIDATION_ERROR", "INSUFFICIENT_LIQUIDITY", "NO_ROUTE"]).toContain(code);
});
