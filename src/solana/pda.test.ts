import { PublicKey } from "@solana/web3.js";
import { expect, test } from "vitest";
import { Address } from "../primitives/address.ts";
import { createRandom } from "../primitives/random.ts";
import { associatedTokenAddress, derive, findPda, isOnCurve } from "./pda.ts";
import { tokenAccountOf } from "./pda-memo.ts";
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "./programs.ts";
import { seededAddress } from "./wrapped-sol.ts";

test("derived addresses and bumps equal web3.js's, over random seeds", () => {
  const random = createRandom(3);
  for (let round = 0; round < 200; round++) {
    const seeds = Array.from({ length: 1 + (random.u32() % 3) }, () => random.bytes(random.u32() % 33));
    const program = Address.from(random.bytes(32));
    const [address, bump] = PublicKey.findProgramAddressSync(seeds, new PublicKey(program.bytes));
    expect(findPda(seeds, program)).toEqual({ address: Address.of(address.toBase58()), bump });
  }
});

test("well-known derived addresses", () => {
  const pump = Address.of("6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P");
  expect(derive(pump, "global").toString()).toBe("4wTV1YmiEkRvAtNtsSGPtUrqRYQMe5SKy2uB4Jjaxnjf");
  expect(isOnCurve(SYSTEM_PROGRAM.bytes)).toBe(
    new PublicKey(SYSTEM_PROGRAM.bytes).toBytes() !== undefined && PublicKey.isOnCurve(SYSTEM_PROGRAM.bytes),
  );
});

test("token accounts and seeded accounts", async () => {
  const random = createRandom(4);
  const wallet = Address.from(random.bytes(32));
  const mint = Address.from(random.bytes(32));
  for (const program of [TOKEN_PROGRAM, TOKEN_2022_PROGRAM]) {
    expect(tokenAccountOf(wallet, mint, program).address).toBe(associatedTokenAddress(wallet, mint, program));
    expect(tokenAccountOf(wallet, mint, program)).toBe(tokenAccountOf(wallet, mint, program));
  }
  const theirs = await PublicKey.createWithSeed(
    new PublicKey(wallet.bytes),
    "tw1z",
    new PublicKey(TOKEN_PROGRAM.bytes),
  );
  expect(seededAddress(wallet, "tw1z", TOKEN_PROGRAM).toString()).toBe(theirs.toBase58());
});
