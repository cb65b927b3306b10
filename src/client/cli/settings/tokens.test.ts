import { expect, test } from "vitest";
import { findToken } from "./tokens.ts";

const USDC = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
const OTHER = "9n4nbM75f5Ui33ZbPYXn59EwSgE8CGsHtAeTH5YFeJ9E";

test("a mint is shown by a symbol only if no other mint has it", () => {
  expect(findToken(USDC, {}).symbol).toBe("USDC");
  expect(findToken(OTHER, { EMBER: OTHER }).symbol).toBe("EMBER");
  for (const symbol of ["USDC", "usdc", "SOL", "sol"]) {
    expect(findToken(OTHER, { [symbol]: OTHER }).symbol, symbol).toBe("9n4n…eJ9E");
  }
  expect(() => findToken("USDC", { usdc: OTHER })).toThrow(/several mints/);
  expect(findToken("SOL", { SOL: OTHER }).mint).toBe("SOL");
});
