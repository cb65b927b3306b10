import { expect, test } from "vitest";
import { concatBytes, viewOf } from "../../primitives/bytes.ts";
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";
import { hidesTransferFee } from "./node-accounts.ts";

const FEE = [1, 108] as const;
const SCALED = [25, 56] as const;

function mintWith(...extensions: readonly (readonly [kind: number, size: number])[]): Uint8Array {
  const entries = extensions.map(([kind, size]) => {
    const entry = new Uint8Array(4 + size);
    viewOf(entry).setUint16(0, kind, true);
    viewOf(entry).setUint16(2, size, true);
    return entry;
  });
  const head = new Uint8Array(166);
  head[165] = 1;
  return concatBytes(head, ...entries);
}

test("a transfer fee is hidden behind an extension that a venue may not know, and behind no other", () => {
  const isHidden = (data: Uint8Array, owner = TOKEN_2022_PROGRAM) => hidesTransferFee({ owner, lamports: 1n, data });
  const hiding = mintWith(SCALED, FEE);
  expect([hiding, mintWith([18, 64], [26, 33], FEE)].map((data) => isHidden(data))).toEqual([true, true]);
  const known = [mintWith(FEE, SCALED), mintWith([18, 64], [19, 9], FEE), mintWith(SCALED), new Uint8Array(82)];
  expect(known.map((data) => isHidden(data))).toEqual([false, false, false, false]);
  expect(isHidden(hiding, TOKEN_PROGRAM)).toBe(false);
  const account = hiding.slice();
  account[165] = 2;
  expect(isHidden(account)).toBe(false);
  // Malformed lengths end the search.
  expect(isHidden(hiding.subarray(0, 180))).toBe(false);
});
