import { expect, test } from "vitest";
import { QuoteRequestSchema, SwapRequestSchema } from "../../../gen/tradewire/v1/trade_pb.ts";
import { invalidField, TradewireError } from "../../errors/tradewire-error.ts";
import { namingFields } from "./trade-fields.ts";

const FIELDS = { amount: "solAmount", inMint: undefined, outMint: "mint" };

/** The field that the error names, thrown at once or after a wait. */
async function fieldOf(argument: string, waits: boolean): Promise<string | undefined> {
  const refused = invalidField(argument, "At fault.");
  const fail = waits
    ? () => Promise.reject(refused)
    : () => {
        throw refused;
      };
  const error = await (async () => namingFields(FIELDS, fail))().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "VALIDATION_ERROR", message: "At fault." });
  return (error as TradewireError).facts.field;
}

test.each([false, true])(
  "an argument at fault is named as its request field; other fields stay (waits: %s)",
  async (waits) => {
    expect(await fieldOf("amount", waits)).toBe("solAmount");
    expect(await fieldOf("outMint", waits)).toBe("mint");
    expect(await fieldOf("slippage", waits)).toBe("slippage");
  },
);

test.each([false, true])("an argument that the request implies has no field (waits: %s)", async (waits) => {
  expect(await fieldOf("inMint", waits)).toBeUndefined();
});

test("a call that does not wait returns no promise", () => {
  expect(namingFields(FIELDS, () => 7)).toBe(7);
});

test("results and other errors pass through", async () => {
  expect(await namingFields(FIELDS, () => 7)).toBe(7);
  const details = { tried: "a market" };
  const refused = new TradewireError("NO_ROUTE", "None.", { details });
  await expect(namingFields(FIELDS, async () => Promise.reject(refused))).rejects.toBe(refused);
});

test("the body of a swap can be sent as a quote, whatever fields it has", () => {
  const known = new Set(QuoteRequestSchema.fields.map(({ name, scalar }) => `${name} ${scalar}`));
  expect(
    SwapRequestSchema.fields.map(({ name, scalar }) => `${name} ${scalar}`).filter((one) => !known.has(one)),
  ).toEqual([]);
});
