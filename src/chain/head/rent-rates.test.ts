import { expect, test } from "vitest";
import { fakeEndpoint } from "../../../test/support/fake-chain.ts";
import { createRpcPool } from "../rpc/rpc-pool.ts";
import { RentRates } from "./rent-rates.ts";

const HONEST = 3_480;
const [LOW, HIGH] = [1, 1_000_000];
const TRUE_RENT = 128n * BigInt(HONEST);

/** Nodes that ask for so many lamports a byte; undefined: one that does not serve the method. */
function poolOf(...perByte: readonly (number | undefined)[]) {
  const endpoints = perByte.map((lamports, i) =>
    fakeEndpoint(
      lamports === undefined ? {} : { getMinimumBalanceForRentExemption: (size: number) => (128 + size) * lamports },
      `node ${i}`,
    ),
  );
  return createRpcPool({ endpoints, now: Date.now, warn: () => {} });
}

test.each([
  [LOW, HONEST, HONEST],
  [HIGH, HONEST, HONEST],
  [HIGH, undefined, HONEST],
  [LOW, HONEST],
])("no node alone says what rent is, wherever it stands: %s, %s, %s", async (...perByte) => {
  const rates = new RentRates();
  await rates.refresh(poolOf(...perByte));
  expect(rates.exemption(0)).toBe(TRUE_RENT);
});

test("divided nodes change nothing that is known, and the trusted one decides", async () => {
  const rates = new RentRates();
  await rates.refresh(poolOf(HONEST, HONEST));
  await rates.refresh(poolOf(10 * HONEST, HONEST));
  expect(rates.exemption(0)).toBe(TRUE_RENT);
  const pool = poolOf(LOW, LOW, HONEST);
  const trusting = new RentRates(pool.endpoints[2]);
  await trusting.refresh(pool);
  expect(trusting.exemption(0)).toBe(TRUE_RENT);
});

test.each([LOW, 10 * HONEST])("what one of two said while the other was away does not stay: %s", async (lie) => {
  const rates = new RentRates();
  await rates.refresh(poolOf(HONEST, HONEST));
  for (const other of [undefined, HONEST]) {
    await rates.refresh(poolOf(lie, other));
    expect(rates.exemption(0)).toBe(TRUE_RENT);
  }
  const begunAlone = new RentRates();
  await begunAlone.refresh(poolOf(LOW, undefined));
  await begunAlone.refresh(poolOf(LOW, HONEST));
  expect(begunAlone.exemption(0)).toBe(TRUE_RENT);
});
