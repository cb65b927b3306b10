import { expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import { isTipAccount } from "./tip-accounts.ts";

test.each([
  "96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5",
  "HFqU5x63VTqvQss8hp11i4wVV8bD44PvwucfZ2bU7gRe",
  "Cw8CFyM9FkoMi7K7Crf6HNQqf4uEMzpKw6QNghXLvLkY",
  "ADaUMid9yfUytqMBgopwjb2DTLSokTSzL1zt6iGPaS49",
  "DfXygSm4jCyNCybVYYK6DwvWqjKee8pbDmJGcLWNDXjh",
  "ADuUkR4vqLUMWXxW9gh6D6L8pMSawimctcNZ5pGwDcEt",
  "DttWaMuVvTiduZRnguLF7jNxTgiMBZ1hyAumKUiL2KRL",
  "3AVi9Tg9Uo68tJfuvoKvqKNWKkC5wPdSSdeBnizKZ6jT",
])("%s receives tips", (text) => {
  expect(isTipAccount(Address.of(text))).toBe(true);
});

test("no other account receives tips, not even the program's own", () => {
  for (const text of ["T1pyyaTNZsKv2WcRAB8oVnk93mLJw2XzjtVYqCsaHqt", "11111111111111111111111111111111"]) {
    expect(isTipAccount(Address.of(text))).toBe(false);
  }
});
