import { sha256 } from "@noble/hashes/sha2.js";
import { Address } from "../../primitives/address.ts";
import { putAscii, writeU32, writeU64 } from "../../primitives/bytes.ts";
import { FilledInstruction, type Instruction, InstructionPattern } from "../instruction.ts";
import { SOL_MINT, SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../programs.ts";
import { TOKEN_ACCOUNT_SIZE } from "./token-account.ts";
import { createTokenAccount, syncNative, transferLamports } from "./token-instructions.ts";

const CREATE_WITH_SEED = 3;
const INITIALIZE_ACCOUNT_3 = 18;
const MAX_SEED_LENGTH = 32;

/** Numbers of their own accounts. */
const [ACCOUNT, WALLET] = [0, 1];

/** Where the wallet and the seed stand in the data of the first, and the lamports, space and program behind the seed. */
const [WALLET_AT, SEED_AT] = [4, 44];
const [SPACE_BEHIND, PROGRAM_BEHIND] = [8, 16];

/** Its variants are the lengths of the seed. */
const CREATE = new InstructionPattern<undefined>({
  program: SYSTEM_PROGRAM,
  rights: "W w",
  accounts: () => [WALLET, ACCOUNT],
  data: (length) => {
    const data = new Uint8Array(SEED_AT + length + PROGRAM_BEHIND + 32);
    writeU32(data, 0, CREATE_WITH_SEED);
    writeU32(data, WALLET_AT + 32, length);
    writeU32(data, SEED_AT + length + SPACE_BEHIND, TOKEN_ACCOUNT_SIZE);
    data.set(TOKEN_PROGRAM.bytes, SEED_AT + length + PROGRAM_BEHIND);
    return data;
  },
  writeMore: (out, at, { own, text, first }) => {
    own[WALLET]!.write(out, at + WALLET_AT);
    putAscii(out, at + SEED_AT, text);
    writeU64(out, at + SEED_AT + text.length, first);
  },
});

/** It names the wallet in its data alone. */
const INITIALIZE = new InstructionPattern<undefined>({
  program: TOKEN_PROGRAM,
  rights: "w r",
  accounts: () => [ACCOUNT, SOL_MINT],
  data: () => new Uint8Array(33).fill(INITIALIZE_ACCOUNT_3, 0, 1),
  writeMore: (out, at, { own }) => own[WALLET]!.write(out, at + 1),
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
  base.write(preimage, 0);
  putAscii(preimage, 32, seed);
  program.write(preimage, 32 + seed.length);
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
  const own = [account, wallet];
  return [
    new FilledInstruction(CREATE, undefined, seed.length, own, order.rent + order.lamports, 0n, seed),
    new FilledInstruction(INITIALIZE, undefined, 0, own),
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
