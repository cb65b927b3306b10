import { sha256 } from "@noble/hashes/sha2.js";
import { Address } from "../../primitives/address.ts";
import { pooledBytes, putAscii, writeU32, writeU64 } from "../../primitives/bytes.ts";
import { FilledInstruction, type Instruction, InstructionPattern } from "../instruction.ts";
import { SOL_MINT, SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../programs.ts";
import { TOKEN_ACCOUNT_SIZE } from "./token-account.ts";
import { createTokenAccount, syncNative, transferLamports } from "./token-instructions.ts";

const CREATE_WITH_SEED = 3;
const INITIALIZE_ACCOUNT_3 = 18;
const MAX_SEED_LENGTH = 32;

/** Numbers of their own accounts. Their data is their own, too: it names the wallet and the seed. */
const [ACCOUNT, WALLET] = [0, 1];
const CREATE = new InstructionPattern<undefined>({
  program: SYSTEM_PROGRAM,
  rights: "W w",
  accounts: () => [WALLET, ACCOUNT],
});
const INITIALIZE = new InstructionPattern<undefined>({
  program: TOKEN_PROGRAM,
  rights: "w r",
  accounts: () => [ACCOUNT, SOL_MINT],
});

/** Preimage of a seeded address; overwritten for each. */
const preimage = new Uint8Array(32 + MAX_SEED_LENGTH + 32);
/** Its first bytes, by the length of the seed. */
const preimages = Array.from({ length: MAX_SEED_LENGTH + 1 }, (_, length) => preimage.subarray(0, 64 + length));

/**
 * The address of the account that `seed` makes for `base` under `program`, for an account that exists in one transaction only:
 * the address is not interned.
 *
 * @param seed at most 32 ASCII characters
 * @param digest SHA-256, the native one if there is one
 * @throws RangeError for a longer seed
 * @see System program `create_address_with_seed`
 */
export function seededAddress(
  base: Address,
  seed: string,
  program: Address,
  digest: (bytes: Uint8Array) => Uint8Array = sha256,
): Address {
  if (seed.length > MAX_SEED_LENGTH) throw new RangeError(`a seed is at most ${MAX_SEED_LENGTH} characters`);
  preimage.set(base.bytes, 0);
  putAscii(preimage, 32, seed);
  preimage.set(program.bytes, 32 + seed.length);
  return Address.alone(digest(preimages[seed.length]!));
}

/**
 * Creates a temporary wrapped-SOL account for one transaction, holding `lamports` on top of its rent. It is seeded, not the
 * wallet's associated account, so that wrapped SOL the wallet already holds is never touched.
 *
 * @param rent lamports that make a token account rent exempt; they return when the account is closed
 */
export function openWrappedSol(order: {
  readonly account: Address;
  readonly wallet: Address;
  readonly seed: string;
  readonly lamports: bigint;
  readonly rent: bigint;
}): readonly [create: Instruction, initialize: Instruction] {
  const { account, wallet, seed } = order;
  const create = pooledBytes(4 + 32 + 8 + seed.length + 8 + 8 + 32);
  writeU32(create, 0, CREATE_WITH_SEED);
  create.set(wallet.bytes, 4);
  writeU32(create, 36, seed.length);
  putAscii(create, 44, seed);
  writeU64(create, 44 + seed.length, order.rent + order.lamports);
  writeU32(create, 52 + seed.length, TOKEN_ACCOUNT_SIZE);
  create.set(TOKEN_PROGRAM.bytes, 60 + seed.length);

  const initialize = pooledBytes(33);
  initialize[0] = INITIALIZE_ACCOUNT_3;
  initialize.set(wallet.bytes, 1);
  return [
    new FilledInstruction(CREATE, undefined, 0, [account, wallet], 0n, 0n, create),
    new FilledInstruction(INITIALIZE, undefined, 0, [account], 0n, 0n, initialize),
  ];
}

/**
 * Creates the wallet's associated wrapped-SOL account `account` and puts `lamports` into it on top of its rent.
 * Closing it afterwards unwraps all it holds, so use it only for wallets without such an account.
 */
export function fillWrappedSol(order: {
  readonly account: Address;
  readonly wallet: Address;
  readonly lamports: bigint;
}): readonly Instruction[] {
  const { account, wallet, lamports } = order;
  const create = createTokenAccount(account, wallet, SOL_MINT, TOKEN_PROGRAM);
  return lamports === 0n
    ? [create]
    : [create, transferLamports(wallet, account, lamports), syncNative(account, TOKEN_PROGRAM)];
}
