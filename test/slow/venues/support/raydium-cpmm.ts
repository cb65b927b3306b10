import { Address, compareAddresses } from "../../../../src/primitives/address.ts";
import { concatBytes, hex, writeU64 } from "../../../../src/primitives/bytes.ts";
import { type Instruction, readonly, writable, writableSigner } from "../../../../src/solana/instruction.ts";
import { associatedTokenAddress, derive, findPda } from "../../../../src/solana/pda.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  RENT_SYSVAR,
  SOL_MINT,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../../src/solana/programs.ts";
import { CPMM_AUTHORITY, CPMM_PROGRAM, cpmmConfigAddress } from "../../../../src/venues/raydium-cpmm/layout.ts";
import type { Svm } from "../../../support/svm.ts";

const INITIALIZE = hex("afaf6d1f0d989bed");
const CREATE_POOL_FEE_ACCOUNT = Address.of("DNXgeM9EiiaAbaWvwjHj9fQQLAX5ZsfHyvmYUNRAdNC8");

/** Rates in millionths of the amount (trade, creator) or of the trade fee (protocol, fund). */
export interface CpmmRates {
  readonly trade: bigint;
  readonly protocol: bigint;
  readonly fund: bigint;
  readonly creator: bigint;
}

/** Writes a fee configuration: its creation belongs to the program's admin. */
export function writeCpmmConfig(svm: Svm, index: number, rates: CpmmRates): Address {
  const address = cpmmConfigAddress(index);
  const data = new Uint8Array(236);
  data.set(hex("daf42168cbcb2b6f"));
  data[8] = findPda(
    [new TextEncoder().encode("amm_config"), Uint8Array.of(index >> 8, index & 0xff)],
    CPMM_PROGRAM,
  ).bump;
  new DataView(data.buffer).setUint16(10, index, true);
  writeU64(data, 12, rates.trade);
  writeU64(data, 20, rates.protocol);
  writeU64(data, 28, rates.fund);
  writeU64(data, 108, rates.creator);
  return svm.setAccount({ address, owner: CPMM_PROGRAM, data });
}

/** Creates a pool by the program's own `initialize`, at its derived address or at `address`, and waits until it is open. */
export function createCpmmPool(
  svm: Svm,
  pool: {
    readonly creator: Address;
    readonly config: Address;
    readonly mints: readonly [Address, Address];
    readonly amounts: readonly [bigint, bigint];
    readonly address?: Address;
  },
): Address {
  if (svm.get(CREATE_POOL_FEE_ACCOUNT) === null) {
    svm.setTokens(CPMM_AUTHORITY, SOL_MINT, 0n, CREATE_POOL_FEE_ACCOUNT);
  }
  const swapped = compareAddresses(pool.mints[0], pool.mints[1]) > 0;
  const [mint0, mint1] = swapped ? [pool.mints[1], pool.mints[0]] : pool.mints;
  const [amount0, amount1] = swapped ? [pool.amounts[1], pool.amounts[0]] : pool.amounts;
  const { creator, config } = pool;
  const address = pool.address ?? derive(CPMM_PROGRAM, "pool", config, mint0, mint1);
  const lpMint = derive(CPMM_PROGRAM, "pool_lp_mint", address);
  const program = (mint: Address): Address => svm.get(mint)!.owner;
  svm.setTokens(creator, mint0, amount0);
  svm.setTokens(creator, mint1, amount1);
  const data = concatBytes(INITIALIZE, new Uint8Array(24));
  writeU64(data, 8, amount0);
  writeU64(data, 16, amount1);
  const initialize: Instruction = {
    program: CPMM_PROGRAM,
    accounts: [
      writableSigner(creator),
      readonly(config),
      readonly(CPMM_AUTHORITY),
      pool.address === undefined ? writable(address) : writableSigner(address),
      readonly(mint0),
      readonly(mint1),
      writable(lpMint),
      writable(associatedTokenAddress(creator, mint0, program(mint0))),
      writable(associatedTokenAddress(creator, mint1, program(mint1))),
      writable(associatedTokenAddress(creator, lpMint, TOKEN_PROGRAM)),
      writable(derive(CPMM_PROGRAM, "pool_vault", address, mint0)),
      writable(derive(CPMM_PROGRAM, "pool_vault", address, mint1)),
      writable(CREATE_POOL_FEE_ACCOUNT),
      writable(derive(CPMM_PROGRAM, "observation", address)),
      readonly(TOKEN_PROGRAM),
      readonly(program(mint0)),
      readonly(program(mint1)),
      readonly(ASSOCIATED_TOKEN_PROGRAM),
      readonly(SYSTEM_PROGRAM),
      readonly(RENT_SYSVAR),
    ],
    data,
  };
  const done = svm.send(creator, [initialize]);
  if (!done.ok) throw new Error(`CPMM initialize: ${done.error}\n${done.logs.join("\n")}`);
  const clock = svm.clock();
  svm.setClock({ ...clock, slot: clock.slot + 5n, unixTimestamp: clock.unixTimestamp + 2n });
  return address;
}
