import type { Address } from "../../../../src/primitives/address.ts";
import { hex, viewOf, writeU64 } from "../../../../src/primitives/bytes.ts";
import { findPda } from "../../../../src/solana/pda.ts";
import { SYSTEM_PROGRAM } from "../../../../src/solana/programs.ts";
import {
  canonicalPumpPool,
  PUMP_SWAP_FEE_CONFIG,
  PUMP_SWAP_GLOBAL,
  PUMP_SWAP_GLOBAL_VOLUME,
  PUMP_SWAP_PROGRAM,
  poolAuthorityOf,
  pumpSwapCreatorVaultOf,
} from "../../../../src/venues/pump-swap/layout.ts";
import { PUMP_FEE_PROGRAM } from "../../../../src/venues/shared/pump-fees.ts";
import type { Svm } from "../../../support/svm.ts";
import { BUYBACK_GROUP, type FeeSchedules, feeConfigData, recipientAddress, SCHEDULES } from "./pump-fun.ts";

/** Writes the program's settings, its fee schedules, its volume account and its fee recipients. */
export function writePumpSwapSettings(
  svm: Svm,
  options: {
    readonly schedules?: FeeSchedules;
    readonly creatorFeeConfigurable?: boolean;
    readonly buybackBps?: bigint;
    readonly quoteMint: Address;
    readonly disableFlags?: number;
  },
): void {
  const data = new Uint8Array(949);
  data.set(hex("95089ccaa0fcb0d9"));
  const list = (group: number, at: number, count: number): void => {
    for (let index = 0; index < count; index++) {
      const address = recipientAddress(group, index);
      data.set(address.bytes, at + 32 * index);
      svm.setAccount({ address, owner: SYSTEM_PROGRAM, data: new Uint8Array(0), lamports: 1_000_000_000n });
      svm.setTokens(address, options.quoteMint, 0n);
    }
  };
  writeU64(data, 40, 20n);
  writeU64(data, 48, 5n);
  data[56] = options.disableFlags ?? 0;
  list(1, 57, 8);
  writeU64(data, 313, 5n);
  list(2, 385, 1);
  data[417] = 1;
  list(4, 418, 7);
  data[642] = 1;
  list(BUYBACK_GROUP, 643, 8);
  writeU64(data, 899, options.buybackBps ?? 2_000n);
  data[940] = options.creatorFeeConfigurable === true ? 1 : 0;
  writeU64(data, 941, 500n);
  svm.setAccount({ address: PUMP_SWAP_GLOBAL, owner: PUMP_SWAP_PROGRAM, data });

  const volume = new Uint8Array(8 + 56 + 480);
  volume.set(hex("ca2af62b8ebe1eff"));
  svm.setAccount({ address: PUMP_SWAP_GLOBAL_VOLUME, owner: PUMP_SWAP_PROGRAM, data: volume });

  const { bump } = findPda([new TextEncoder().encode("fee_config"), PUMP_SWAP_PROGRAM.bytes], PUMP_FEE_PROGRAM);
  svm.setAccount({
    address: PUMP_SWAP_FEE_CONFIG,
    owner: PUMP_FEE_PROGRAM,
    data: feeConfigData(options.schedules ?? SCHEDULES, bump),
  });
}

export interface NewPumpPool {
  readonly base: Address;
  readonly quote: Address;
  readonly baseAmount: bigint;
  readonly quoteAmount: bigint;
  /** Absent: the coin's pool authority, which makes the pool its canonical one. */
  readonly creator?: Address;
  readonly coinCreator?: Address;
  readonly mayhem?: boolean;
  readonly cashback?: boolean;
  readonly virtualQuote?: bigint;
  readonly creatorFeeBps?: bigint;
  readonly holderReward?: boolean;
  readonly withoutVault?: boolean;
  /** Bytes of the account: pools have grown over the years. */
  readonly size?: number;
}

/** Writes a pool in the middle of its life. Its making belongs to a migration, or needs a pool without a coin's creator. */
export function writePumpPool(svm: Svm, pool: NewPumpPool): Address {
  const creator = pool.creator ?? poolAuthorityOf(pool.base).address;
  const index = new Uint8Array(2);
  const { address, bump } = findPda(
    [new TextEncoder().encode("pool"), index, creator.bytes, pool.base.bytes, pool.quote.bytes],
    PUMP_SWAP_PROGRAM,
  );
  if (pool.creator === undefined && address !== canonicalPumpPool(pool.base, pool.quote))
    throw new Error("not canonical");
  const data = new Uint8Array(300);
  data.set(hex("f19a6d0411b16dbc"));
  data[8] = bump;
  const baseVault = svm.setTokens(address, pool.base, pool.baseAmount);
  const quoteVault = svm.setTokens(address, pool.quote, pool.quoteAmount);
  const lpMint = svm.newMint({ decimals: 9 });
  for (const [place, key] of [creator, pool.base, pool.quote, lpMint, baseVault, quoteVault].entries()) {
    data.set(key.bytes, 11 + 32 * place);
  }
  writeU64(data, 203, 1_000_000n);
  if (pool.coinCreator !== undefined) data.set(pool.coinCreator.bytes, 211);
  data[243] = pool.mayhem === true ? 1 : 0;
  data[244] = pool.cashback === true ? 1 : 0;
  const virtual = pool.virtualQuote ?? 0n;
  writeU64(data, 245, BigInt.asUintN(64, virtual));
  viewOf(data).setBigInt64(253, BigInt.asIntN(64, virtual >> 64n), true);
  writeU64(data, 261, pool.creatorFeeBps ?? 0n);
  data[270] = pool.holderReward === true ? 1 : 0;
  svm.setAccount({ address, owner: PUMP_SWAP_PROGRAM, data: data.slice(0, pool.size ?? 300) });
  if (pool.coinCreator !== undefined && pool.withoutVault !== true) {
    svm.setTokens(pumpSwapCreatorVaultOf(pool.coinCreator).address, pool.quote, 0n);
  }
  return address;
}
