import { PublicKey } from "@solana/web3.js";
import { expect, test } from "vitest";
import { Address } from "../primitives/address.ts";
import { createRandom } from "../primitives/random.ts";
import { associatedTokenAccount } from "./derived-address.ts";
import { associatedTokenAddress, derive, findPda, isOnCurve } from "./pda.ts";
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "./programs.ts";
import { seededAddress } from "./token/wrapped-sol.ts";

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
    expect(associatedTokenAccount(wallet, mint, program).address).toBe(associatedTokenAddress(wallet, mint, program));
    expect(associatedTokenAccount(wallet, mint, program)).toBe(associatedTokenAccount(wallet, mint, program));
  }
  const theirs = await PublicKey.createWithSeed(
    new PublicKey(wallet.bytes),
    "tw1z",
    new PublicKey(TOKEN_PROGRAM.bytes),
  );
  expect(seededAddress(wallet, "tw1z", TOKEN_PROGRAM).toString()).toBe(theirs.toBase58());
});

test("isOnCurve agrees with web3.js, and with the program's own library where that is stricter", () => {
  const random = createRandom(5);
  for (let round = 0; round < 2_000; round++) {
    const bytes = random.bytes(32);
    expect(isOnCurve(bytes)).toBe(PublicKey.isOnCurve(bytes));
  }
  for (let low = 0; low < 64; low++) {
    const bytes = new Uint8Array(32);
    bytes[0] = low;
    expect(isOnCurve(bytes)).toBe(PublicKey.isOnCurve(bytes));
  }
  // The prime itself and one above it: y is taken modulo the prime. And zero with a sign.
  const prime = new Uint8Array(32).fill(255);
  prime[0] = 237;
  prime[31] = 127;
  expect(isOnCurve(prime)).toBe(isOnCurve(new Uint8Array(32)));
  prime[0] = 238;
  expect(isOnCurve(prime)).toBe(true);
  prime[31] = 255;
  expect(isOnCurve(prime)).toBe(true);
});
