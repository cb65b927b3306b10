import { Address, compareAddresses } from "../../../../src/primitives/address.ts";
import { concatBytes, hex, writeU32, writeU64 } from "../../../../src/primitives/bytes.ts";
import { readonly, writable, writableSigner } from "../../../../src/solana/instruction.ts";
import { derive } from "../../../../src/solana/pda.ts";
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM } from "../../../../src/solana/programs.ts";
import {
  DAMM_V2_AUTHORITY,
  DAMM_V2_EVENT_AUTHORITY,
  DAMM_V2_PROGRAM,
} from "../../../../src/venues/meteora-damm-v2/layout.ts";
import type { Svm } from "../../../support/svm.ts";

const INITIALIZE_CUSTOMIZABLE_POOL = hex("14a1f118bdddb402");

export const MIN_SQRT_PRICE = 4_295_048_016n;
export const MAX_SQRT_PRICE = 79_226_673_521_066_979_257_578_248_091n;

export interface NewDammV2Pool {
  readonly mintA: Address;
  readonly mintB: Address;
  /** 27 bytes, see the makers below. */
  readonly baseFee: Uint8Array;
  readonly volatility?: boolean;
  readonly compoundingBps?: number;
  readonly minSqrtPrice?: bigint;
  readonly maxSqrtPrice?: bigint;
  readonly sqrtPrice: bigint;
  readonly liquidity: bigint;
  readonly countsSeconds: boolean;
  /** 0 output, 1 token B, 2 compounding. */
  readonly collectFeeMode: number;
  readonly activationPoint?: bigint;
}

/** Base fee by time. Fees in parts per billion; exponential reductions in bps. */
export function timeFee(cliff: bigint, periods: number, frequency: bigint, reduction: bigint, exponential: boolean) {
  const bytes = new Uint8Array(27);
  const view = new DataView(bytes.buffer);
  writeU64(bytes, 0, cliff);
  view.setUint16(8, periods, true);
  writeU64(bytes, 10, frequency);
  writeU64(bytes, 18, reduction);
  bytes[26] = exponential ? 1 : 0;
  return bytes;
}

/** Base fee by size of buy. */
export function limiterFee(cliff: bigint, incrementBps: number, duration: number, maxBps: number, reference: bigint) {
  const bytes = new Uint8Array(27);
  writeU64(bytes, 0, cliff);
  new DataView(bytes.buffer).setUint16(8, incrementBps, true);
  writeU32(bytes, 10, duration);
  writeU32(bytes, 14, maxBps);
  writeU64(bytes, 18, reference);
  bytes[26] = 2;
  return bytes;
}

/** Base fee by rise of the price. */
export function marketCapFee(
  cliff: bigint,
  periods: number,
  stepBps: number,
  duration: number,
  reduction: bigint,
  exponential: boolean,
) {
  const bytes = new Uint8Array(27);
  writeU64(bytes, 0, cliff);
  new DataView(bytes.buffer).setUint16(8, periods, true);
  writeU32(bytes, 10, stepBps);
  writeU32(bytes, 14, duration);
  writeU64(bytes, 18, reduction);
  bytes[26] = exponential ? 4 : 3;
  return bytes;
}

/** Volatility fee: bin step 1 bp, filter 10 s, decay 120 s, reduction 50 %. */
function volatilityParameters(): Uint8Array {
  const bytes = new Uint8Array(2 + 16 + 2 + 2 + 2 + 4 + 4);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, 1, true);
  writeU64(bytes, 2, 1_844_674_407_370_955n);
  view.setUint16(18, 10, true);
  view.setUint16(20, 120, true);
  view.setUint16(22, 5000, true);
  writeU32(bytes, 24, 14_460_000);
  writeU32(bytes, 28, 956);
  return bytes;
}

const u64 = (value: bigint): Uint8Array => {
  const bytes = new Uint8Array(8);
  writeU64(bytes, 0, value);
  return bytes;
};
const u128 = (value: bigint): Uint8Array => concatBytes(u64(value & ((1n << 64n) - 1n)), u64(value >> 64n));

/** Has the program create a customizable pool, paid by `payer`, who must hold both tokens. @throws Error with the program's logs */
export function createDammV2Pool(svm: Svm, payer: Address, pool: NewDammV2Pool): Address {
  const { mintA, mintB } = pool;
  const programOf = (mint: Address): Address => svm.get(mint)!.owner;
  const tokensOf = (mint: Address): Address =>
    derive(Address.of("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL"), payer, programOf(mint), mint);
  const [first, second] = compareAddresses(mintA, mintB) > 0 ? [mintA, mintB] : [mintB, mintA];
  const address = derive(DAMM_V2_PROGRAM, "cpool", first, second);
  const nft = svm.newAddress();
  const done = svm.send(payer, [
    {
      program: DAMM_V2_PROGRAM,
      accounts: [
        readonly(payer),
        writableSigner(nft),
        writable(derive(DAMM_V2_PROGRAM, "position_nft_account", nft)),
        writableSigner(payer),
        readonly(DAMM_V2_AUTHORITY),
        writable(address),
        writable(derive(DAMM_V2_PROGRAM, "position", nft)),
        readonly(mintA),
        readonly(mintB),
        writable(derive(DAMM_V2_PROGRAM, "token_vault", mintA, address)),
        writable(derive(DAMM_V2_PROGRAM, "token_vault", mintB, address)),
        writable(tokensOf(mintA)),
        writable(tokensOf(mintB)),
        readonly(programOf(mintA)),
        readonly(programOf(mintB)),
        readonly(TOKEN_2022_PROGRAM),
        readonly(SYSTEM_PROGRAM),
        readonly(DAMM_V2_EVENT_AUTHORITY),
        readonly(DAMM_V2_PROGRAM),
      ],
      data: concatBytes(
        INITIALIZE_CUSTOMIZABLE_POOL,
        pool.baseFee,
        Uint8Array.of((pool.compoundingBps ?? 0) & 255, (pool.compoundingBps ?? 0) >> 8, 0),
        pool.volatility ? concatBytes(Uint8Array.of(1), volatilityParameters()) : Uint8Array.of(0),
        u128(pool.minSqrtPrice ?? MIN_SQRT_PRICE),
        u128(pool.maxSqrtPrice ?? MAX_SQRT_PRICE),
        Uint8Array.of(0),
        u128(pool.liquidity),
        u128(pool.sqrtPrice),
        Uint8Array.of(pool.countsSeconds ? 1 : 0, pool.collectFeeMode),
        pool.activationPoint === undefined
          ? Uint8Array.of(0)
          : concatBytes(Uint8Array.of(1), u64(pool.activationPoint)),
      ),
    },
  ]);
  if (!done.ok) throw new Error(`pool not created: ${done.error}\n${done.logs.join("\n")}`);
  return address;
}
