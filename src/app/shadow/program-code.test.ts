import { expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import { ProgramCode } from "./program-code.ts";

const id = Address.from(new Uint8Array(32).fill(7));

test("code that two nodes do not show alike is named once it stays so, and not while a program is replaced", async () => {
  const build = { id, isUpgradeable: true, codeAddress: id, slot: 5n };
  const lines: unknown[] = [];
  let nowMs = 0;
  const code = new ProgramCode({
    reader: { fetchCode: async () => undefined },
    watch: { get: () => build, refresh: async () => {} },
    logger: { info: () => {}, warn: (facts: unknown) => void lines.push(facts) },
    now: () => nowMs,
  });
  await code.fetch(id);
  nowMs += 9_000;
  await code.fetch(id);
  build.slot = 6n;
  nowMs += 9_000;
  await code.fetch(id);
  expect(lines).toEqual([]);
  nowMs += 11_000;
  for (let again = 0; again < 5; again++) await code.fetch(id);
  expect(lines).toEqual([{ program: id.toString(), reason: expect.stringContaining("another deployment") }]);
});
