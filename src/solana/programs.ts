import { Address } from "../primitives/address.ts";

/** Program ids and sysvars of the base chain. Venue programs live with their venues. */
export const SYSTEM_PROGRAM = Address.of("11111111111111111111111111111111");
export const TOKEN_PROGRAM = Address.of("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA");
export const TOKEN_2022_PROGRAM = Address.of("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb");
export const ASSOCIATED_TOKEN_PROGRAM = Address.of("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL");
export const COMPUTE_BUDGET_PROGRAM = Address.of("ComputeBudget111111111111111111111111111111");
export const MEMO_PROGRAM = Address.of("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr");
export const INSTRUCTIONS_SYSVAR = Address.of("Sysvar1nstructions1111111111111111111111111");
export const CLOCK_SYSVAR = Address.of("SysvarC1ock11111111111111111111111111111111");
export const SLOT_HASHES_SYSVAR = Address.of("SysvarS1otHashes111111111111111111111111111");
export const RECENT_BLOCKHASHES_SYSVAR = Address.of("SysvarRecentB1ockHashes11111111111111111111");
export const RENT_SYSVAR = Address.of("SysvarRent111111111111111111111111111111111");

/** The loaders of programs: one keeps the code in an account of its own and can replace it, the other never can. */
export const UPGRADEABLE_LOADER = Address.of("BPFLoaderUpgradeab1e11111111111111111111111");
export const LEGACY_LOADER = Address.of("BPFLoader2111111111111111111111111111111111");
export const NATIVE_LOADER = Address.of("NativeLoader1111111111111111111111111111111");
/** Owner of the sysvars, such as the clock. */
export const SYSVAR_OWNER = Address.of("Sysvar1111111111111111111111111111111111111");

/** The address that burns what it receives: its key does not exist. */
export const INCINERATOR = Address.of("1nc1nerator11111111111111111111111111111111");

/** The mint of wrapped SOL, which also names SOL on every wire. */
export const SOL_MINT = Address.of("So11111111111111111111111111111111111111112");

/** The mint of USDC on mainnet. */
export const USDC_MINT = Address.of("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v");

/** The native pseudo-mint some callers write for SOL: accepted in requests, never in answers. */
export const NATIVE_PSEUDO_MINT = Address.of("So11111111111111111111111111111111111111111");
