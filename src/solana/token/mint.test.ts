import { expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import { concatBytes, viewOf } from "../../primitives/bytes.ts";
import { TOKEN_2022_PROGRAM } from "../programs.ts";
import { decodeMint } from "./mint.ts";

const FEE = 1;

/** A Token-2022 mint with extensions of these types and sizes, in this order. */
function mintWith(...extensions: readonly (readonly [type: number, size: number])[]) {
  const entries = extensions.map(([type, size]) => {
    const entry = new Uint8Array(4 + size);
    viewOf(entry).setUint16(0, type, true);
    viewOf(entry).setUint16(2, size, true);
    return entry;
  });
  const head = new Uint8Array(166);
  head[45] = 1;
  head[165] = 1;
  const address = Address.from(new Uint8Array(32).fill(3));
  const data = concatBytes(head, ...entries);
  return decodeMint({ address, owner: TOKEN_2022_PROGRAM, lamports: 1n, data, executable: false, slot: 1n });
}

test("a transfer fee that a venue's program may not find makes a token untradable", () => {
  for (const [type, size] of [
    [20, 64],
    [22, 64],
    [25, 56],
    [26, 33],
  ] as const) {
    expect(mintWith([type, size], [FEE, 108]).unsupported).toContain(`(type ${type})`);
    expect(mintWith([18, 64], [type, size], [3, 32], [FEE, 108]).unsupported).toContain(`(type ${type})`);
    const behind = mintWith([FEE, 108], [type, size]);
    expect([behind.unsupported, behind.transferFees]).toEqual([undefined, expect.anything()]);
    expect(mintWith([type, size]).unsupported).toBeUndefined();
  }
  expect(mintWith([3, 32], [12, 32], [18, 64], [19, 80], [FEE, 108]).unsupported).toBeUndefined();
});
