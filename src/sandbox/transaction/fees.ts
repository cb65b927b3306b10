import { Address } from "../../primitives/address.ts";
import { readU64, viewOf } from "../../primitives/bytes.ts";
import { ceilDiv } from "../../primitives/integer.ts";
import { COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM } from "../../solana/programs.ts";
import type { WireTransaction } from "./wire-transaction.ts";

const LAMPORTS_PER_SIGNATURE = 5_000n;
const MICRO_LAMPORTS = 1_000_000n;
const MAX_UNITS = 1_400_000;
const DEFAULT_UNITS = 200_000;
const DEFAULT_UNITS_OF_BUILTIN = 3_000;

const ED25519_PROGRAM = Address.of("Ed25519SigVerify111111111111111111111111111");
const SECP256K1_PROGRAM = Address.of("KeccakSecp256k11111111111111111111111111111");
const SECP256R1_PROGRAM = Address.of("Secp256r1SigVerify1111111111111111111111111");

/** Programs that verify signatures: the first data byte is their number, and each one costs a fee. */
const SIGNATURE_PROGRAMS = new Set([ED25519_PROGRAM, SECP256K1_PROGRAM, SECP256R1_PROGRAM]);

/** Programs built into the runtime, for which less is reserved by default. @see agave `builtins-default-costs` */
const BUILTIN_PROGRAMS = new Set([
  SYSTEM_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  ED25519_PROGRAM,
  SECP256K1_PROGRAM,
  Address.of("Vote111111111111111111111111111111111111111"),
  Address.of("BPFLoader1111111111111111111111111111111111"),
  Address.of("BPFLoader2111111111111111111111111111111111"),
  Address.of("BPFLoaderUpgradeab1e11111111111111111111111"),
  Address.of("LoaderV411111111111111111111111111111111111"),
]);

const SET_UNIT_LIMIT = 2;
const SET_UNIT_PRICE = 3;

/** What a transaction pays, and what it bids for priority. */
interface TransactionFee {
  /** Signatures and priority together. */
  readonly lamports: bigint;
  readonly unitPriceMicroLamports: bigint;
}

/** The fee of a transaction by the chain's rule: 5,000 lamports a signature, plus price × compute-unit limit rounded up. */
export function feeOf(transaction: WireTransaction): TransactionFee {
  let signatures = BigInt(transaction.header.requiredSignatures);
  let unitLimit: number | undefined;
  let defaultUnits = 0;
  let unitPrice = 0n;
  for (const { programIndex, data } of transaction.instructions) {
    const program = transaction.staticAccounts[programIndex]!;
    if (SIGNATURE_PROGRAMS.has(program)) signatures += BigInt(data[0] ?? 0);
    defaultUnits += BUILTIN_PROGRAMS.has(program) ? DEFAULT_UNITS_OF_BUILTIN : DEFAULT_UNITS;
    if (program !== COMPUTE_BUDGET_PROGRAM) continue;
    if (data[0] === SET_UNIT_LIMIT && data.length >= 5) unitLimit = viewOf(data).getUint32(1, true);
    if (data[0] === SET_UNIT_PRICE && data.length >= 9) unitPrice = readU64(data, 1);
  }
  const base = signatures * LAMPORTS_PER_SIGNATURE;
  if (transaction.version === 1) {
    const priority = transaction.config?.priorityFeeLamports ?? 0n;
    const units = BigInt(transaction.config?.unitLimit ?? 0);
    return {
      lamports: base + priority,
      unitPriceMicroLamports: units === 0n ? 0n : (priority * MICRO_LAMPORTS) / units,
    };
  }
  const units = BigInt(Math.min(unitLimit ?? defaultUnits, MAX_UNITS));
  return { lamports: base + ceilDiv(unitPrice * units, MICRO_LAMPORTS), unitPriceMicroLamports: unitPrice };
}
