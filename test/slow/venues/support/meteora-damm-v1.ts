import { Address, compareAddresses } from "../../../../src/primitives/address.ts";
import { concatBytes, hex, textBytes, writeU32, writeU64 } from "../../../../src/primitives/bytes.ts";
import { setComputeUnitLimit } from "../../../../src/solana/compute-budget.ts";
import { type AccountMeta, readonly, writable, writableSigner } from "../../../../src/solana/instruction.ts";
import { associatedTokenAddress, derive } from "../../../../src/solana/pda.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  RENT_SYSVAR,
  SOL_MINT,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../../src/solana/programs.ts";
import { DAMM_V1_PROGRAM, VAULT_PROGRAM } from "../../../../src/venues/meteora-damm-v1/layout.ts";
import type { Svm } from "../../../support/svm.ts";

/** First eight bytes of sha256("global:<name>"). */
const INITIALIZE_VAULT = hex("afaf6d1f0d989bed");
const INITIALIZE_WITH_FEE_TIER = hex("06874493e552a971");
const INITIALIZE_CUSTOMIZABLE = hex("9118acc2db7d03be");
const VAULT_BASE = Address.of("HWzXGcGHy4tcpYfaRDCyLNzXqBTv3E6BttpCH2vJxArv");
const FEE_OWNER = Address.of("6WaLrrRfReGKBYUSkmx2K6AuT21ida4j8at2SUiZdXu8");
export const METAPLEX_PROGRAM = Address.of("metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s");

export interface NewDammV1Pool {
  readonly mintA: Address;
  readonly mintB: Address;
  readonly amountA: bigint;
  readonly amountB: bigint;
  /** A fee tier in bps, or any fee (numerator over 100 000) of a customizable pool. */
  readonly fee: { readonly tierBps: bigint } | { readonly numerator: number };
  /** Undefined: constant product. */
  readonly stable?: {
    readonly amplification: bigint;
    readonly multipliers: readonly [bigint, bigint];
    readonly precision: number;
  };
}

const u64 = (value: bigint): Uint8Array => {
  const bytes = new Uint8Array(8);
  writeU64(bytes, 0, value);
  return bytes;
};
const u32 = (value: number): Uint8Array => {
  const bytes = new Uint8Array(4);
  writeU32(bytes, 0, value);
  return bytes;
};

function run(
  svm: Svm,
  payer: Address,
  what: string,
  program: Address,
  data: Uint8Array,
  accounts: AccountMeta[],
): void {
  const done = svm.send(payer, [setComputeUnitLimit(1_400_000), { program, accounts, data }]);
  if (!done.ok) throw new Error(`${what}: ${done.error.slice(0, 200)}\n${done.logs.join("\n")}`);
}

/** Address of a mint's shared vault. */
export const vaultAddress = (mint: Address): Address => derive(VAULT_PROGRAM, "vault", mint, VAULT_BASE);

/** Has the vault program create the shared vault of a mint, unless it is there. */
function createVault(svm: Svm, payer: Address, mint: Address): void {
  const vault = vaultAddress(mint);
  if (svm.get(vault) !== null) return;
  run(svm, payer, "vault", VAULT_PROGRAM, INITIALIZE_VAULT, [
    writable(vault),
    writableSigner(payer),
    writable(derive(VAULT_PROGRAM, "token_vault", vault)),
    readonly(mint),
    writable(derive(VAULT_PROGRAM, "lp_mint", vault)),
    readonly(RENT_SYSVAR),
    readonly(TOKEN_PROGRAM),
    readonly(SYSTEM_PROGRAM),
  ]);
}

/** Has the program create a pool paid by `payer`, who must hold both tokens. @throws Error with the program's logs */
export function createDammV1Pool(svm: Svm, payer: Address, pool: NewDammV1Pool): Address {
  const { mintA, mintB, stable, fee } = pool;
  createVault(svm, payer, mintA);
  createVault(svm, payer, mintB);
  const [first, second] = compareAddresses(mintA, mintB) > 0 ? [mintA, mintB] : [mintB, mintA];
  const tiered = "tierBps" in fee;
  const usual = stable === undefined ? 25n : 1n;
  const address = tiered
    ? derive(
        DAMM_V1_PROGRAM,
        Uint8Array.of(stable === undefined ? 0 : 1),
        first,
        second,
        fee.tierBps === usual ? new Uint8Array(0) : u64(fee.tierBps),
      )
    : derive(DAMM_V1_PROGRAM, "pool", first, second);
  const lpMint = derive(DAMM_V1_PROGRAM, "lp_mint", address);
  const vaults = [vaultAddress(mintA), vaultAddress(mintB)] as const;
  const under = (seed: string): [Address, Address] => [
    derive(VAULT_PROGRAM, seed, vaults[0]),
    derive(VAULT_PROGRAM, seed, vaults[1]),
  ];
  const curve =
    stable === undefined
      ? Uint8Array.of(0)
      : concatBytes(
          Uint8Array.of(1),
          u64(stable.amplification),
          u64(stable.multipliers[0]),
          u64(stable.multipliers[1]),
          Uint8Array.of(stable.precision),
          new Uint8Array(8 + 8 + 1 + 8),
        );
  const amounts = concatBytes(u64(pool.amountA), u64(pool.amountB));
  const data = tiered
    ? concatBytes(INITIALIZE_WITH_FEE_TIER, curve, u64(fee.tierBps), amounts)
    : concatBytes(INITIALIZE_CUSTOMIZABLE, amounts, u32(fee.numerator), Uint8Array.of(0, 0, 0), new Uint8Array(90));
  run(svm, payer, "pool", DAMM_V1_PROGRAM, data, [
    writable(address),
    writable(lpMint),
    readonly(mintA),
    readonly(mintB),
    ...vaults.map(writable),
    ...under("token_vault").map(writable),
    ...under("lp_mint").map(writable),
    ...vaults.map((vault) => writable(derive(DAMM_V1_PROGRAM, vault, address))),
    writable(associatedTokenAddress(payer, mintA, TOKEN_PROGRAM)),
    writable(associatedTokenAddress(payer, mintB, TOKEN_PROGRAM)),
    writable(associatedTokenAddress(payer, lpMint, TOKEN_PROGRAM)),
    writable(derive(DAMM_V1_PROGRAM, "fee", mintA, address)),
    writable(derive(DAMM_V1_PROGRAM, "fee", mintB, address)),
    writableSigner(payer),
    ...(tiered ? [readonly(FEE_OWNER)] : []),
    readonly(RENT_SYSVAR),
    writable(derive(METAPLEX_PROGRAM, textBytes("metadata"), METAPLEX_PROGRAM, lpMint)),
    readonly(METAPLEX_PROGRAM),
    readonly(VAULT_PROGRAM),
    readonly(TOKEN_PROGRAM),
    readonly(ASSOCIATED_TOKEN_PROGRAM),
    readonly(SYSTEM_PROGRAM),
  ]);
  return address;
}

/** Makes a vault look as after a lender's report: `profit` more tokens, locked, coming free by `degradation` a second. */
export function reportProfit(svm: Svm, mint: Address, profit: bigint, degradation: bigint, reportedAt: bigint): void {
  const vault = svm.get(vaultAddress(mint))!;
  const view = new DataView(vault.data.buffer, vault.data.byteOffset);
  view.setBigUint64(11, view.getBigUint64(11, true) + profit, true);
  writeU64(vault.data, 1203, profit);
  writeU64(vault.data, 1211, reportedAt);
  writeU64(vault.data, 1219, degradation);
  svm.setAccount(vault);
  const tokens = svm.get(derive(VAULT_PROGRAM, "token_vault", vault.address))!;
  const held = new DataView(tokens.data.buffer, tokens.data.byteOffset);
  held.setBigUint64(64, held.getBigUint64(64, true) + profit, true);
  // Wrapped SOL is the account's own lamports.
  svm.setAccount({ ...tokens, lamports: tokens.lamports + (mint === SOL_MINT ? profit : 0n) });
}
