import { expect, test } from "vitest";
import { invalidField, TradewireError } from "../../errors/tradewire-error.ts";
import { namingFields } from "./trade-fields.ts";

const FIELDS = { amount: "solAmount", inMint: undefined, outMint: "mint" };

async function fieldOf(argument: string): Promise<string | undefined> {
  const failing = namingFields(FIELDS, () => {
    throw invalidField(argument, "At fault.");
  });
  const error = await failing.catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "VALIDATION_ERROR", message: "At fault." });
  return (error as TradewireError).facts.field;
}

test("an argument at fault is named as its request field; other fields stay", async () => {
  expect(await fieldOf("amount")).toBe("solAmount");
  expect(await fieldOf("outMint")).toBe("mint");
  expect(await fieldOf("slippage")).toBe("slippage");
});

test("an argument that the request implies has no field", async () => {
  expect(await fieldOf("inMint")).toBeUndefined();
});

test("results and other errors pass through", async () => {
  expect(await namingFields(FIELDS, () => 7)).toBe(7);
  const details = { tried: "a market" };
  const refused = new TradewireError("NO_ROUTE", "None.", { details });
  await expect(namingFields(FIELDS, async () => Promise.reject(refused))).rejects.toBe(refused);
});
