import { expect, test } from "vitest";
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";
import { asAccount } from "./rpc-values.ts";

const COLD = 100;
const HOT_BESIDE = 100;
const VAULT_BYTES = 165;
const POOL_BYTES = 637;

/** What a node says of an account with so many bytes. */
const said = (bytes: number, fill: number) => ({
  lamports: 1_000,
  data: [Buffer.alloc(bytes, fill).toString("base64"), "base64"],
  owner: TOKEN_PROGRAM.toString(),
  executable: false,
});

test("accounts that stay hold their own bytes, and none of those that came and went beside them", () => {
  const kept = Array.from({ length: COLD }, (_, fill) => {
    const account = asAccount(SYSTEM_PROGRAM, said(VAULT_BYTES, fill), 7n);
    for (let hot = 0; hot < HOT_BESIDE; hot++) asAccount(SYSTEM_PROGRAM, said(POOL_BYTES, fill), 7n);
    return account!;
  });
  const memory = new Set(kept.map(({ data }) => data.buffer));
  expect([...memory].reduce((sum, { byteLength }) => sum + byteLength, 0)).toBe(COLD * VAULT_BYTES);
  for (const [fill, account] of kept.entries())
    expect(account).toMatchObject({
      address: SYSTEM_PROGRAM,
      owner: TOKEN_PROGRAM,
      lamports: 1_000n,
      data: new Uint8Array(VAULT_BYTES).fill(fill),
      executable: false,
      slot: 7n,
    });
});
