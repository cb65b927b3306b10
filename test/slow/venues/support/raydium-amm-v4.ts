import { Address } from "../../../../src/primitives/address.ts";
import { type Instruction, readonly, writable } from "../../../../src/solana/instruction.ts";
import { AMM_V4_AUTHORITY, AMM_V4_POOL_SIZE, AMM_V4_PROGRAM } from "../../../../src/venues/raydium-amm-v4/layout.ts";
import type { Svm } from "../../../support/svm.ts";
import { le } from "./anchor.ts";

export interface NewAmmV4Pool {
  readonly mints: readonly [Address, Address];
  readonly amounts: readonly [bigint, bigint];
  /** Numerator and denominator. */
  readonly fee: readonly [bigint, bigint];
  /** Profit in the vaults that is not reserve. */
  readonly owed: readonly [bigint, bigint];
  readonly status: bigint;
  readonly openTime: bigint;
}

/** Writes a pool with its vaults: to create one through the program takes a market of an order book that is no more. */
export function writeAmmV4Pool(svm: Svm, { mints, amounts, fee, owed, status, openTime }: NewAmmV4Pool): Address {
  const data = new Uint8Array(AMM_V4_POOL_SIZE);
  const vaults = [0, 1].map((side) =>
    svm.setTokens(AMM_V4_AUTHORITY, mints[side]!, amounts[side]! + owed[side]!, svm.newAddress()),
  );
  const numbers: readonly (readonly [number, bigint])[] = [
    [0, status],
    [8, 254n],
    [176, fee[0]],
    [184, fee[1]],
    [192, owed[0]],
    [200, owed[1]],
    [224, openTime],
  ];
  for (const [at, value] of numbers) data.set(le(value, 8), at);
  for (const [at, address] of [
    [336, vaults[0]!],
    [368, vaults[1]!],
    [400, mints[0]],
    [432, mints[1]],
  ] as const) {
    data.set(address.bytes, at);
  }
  return svm.setAccount({ address: svm.newAddress(), owner: AMM_V4_PROGRAM, data });
}

/**
 * The same trade as the program knew it before its instructions 16 and 17: 9 and 11, with the accounts of a market and its
 * open orders in between, which a pool of status 6 does not look at.
 */
export function asOlderInstruction({ program, accounts, data }: Instruction): Instruction {
  const [tokenProgram, pool, authority, coinVault, pcVault, source, destination, owner] = accounts;
  const unused = readonly(Address.from(new Uint8Array(32).fill(201)));
  const older = Uint8Array.from(data);
  older[0] = data[0] === 16 ? 9 : 11;
  return {
    program,
    data: older,
    accounts: [
      tokenProgram!,
      pool!,
      authority!,
      unused,
      coinVault!,
      pcVault!,
      unused,
      unused,
      unused,
      unused,
      unused,
      unused,
      unused,
      unused,
      writable(source!.address),
      writable(destination!.address),
      owner!,
    ],
  };
}
