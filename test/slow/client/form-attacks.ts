import { tokenAccountAddress } from "../../../src/client/verify/derived-address.ts";
import { Address } from "../../../src/primitives/address.ts";
import { concatBytes, textBytes, writeU32, writeU64 } from "../../../src/primitives/bytes.ts";
import {
  type Instruction,
  readonly,
  readonlySigner,
  writable,
  writableSigner,
} from "../../../src/solana/instruction.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  MEMO_PROGRAM,
  SOL_MINT,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../src/solana/programs.ts";
import type { Attack } from "./attacks.ts";
import type { HonestBuild } from "./honest-builds.ts";
import { planOf, wireOf } from "./mutations.ts";

const STRANGER = Address.from(new Uint8Array(32).fill(0x66));
const INSTRUCTIONS_SYSVAR = Address.of("Sysvar1nstructions1111111111111111111111111");
const ED25519_PROGRAM = Address.of("Ed25519SigVerify111111111111111111111111111");
const LOADER = Address.of("BPFLoaderUpgradeab1e11111111111111111111111");
const STAKE_PROGRAM = Address.of("Stake11111111111111111111111111111111111111");
const TABLE_PROGRAM = Address.of("AddressLookupTab1e1111111111111111111111111");

const u32 = (value: number): Uint8Array => {
  const bytes = new Uint8Array(4);
  writeU32(bytes, 0, value);
  return bytes;
};
const u64 = (value: bigint): Uint8Array => {
  const bytes = new Uint8Array(8);
  writeU64(bytes, 0, value);
  return bytes;
};

/** Attacks by the form of a transaction: its budget, other programs, extensions of tokens, authorities, closed accounts. */
export function formAttacks({ wire, wallet, answer }: HonestBuild): Attack[] {
  const plan = planOf(wire);
  const payer = writableSigner(wallet);
  const owner = readonlySigner(wallet);
  const outMint = Address.of(answer.outputMint);
  const held = tokenAccountAddress(wallet, outMint, TOKEN_PROGRAM);
  const first = (...more: Instruction[]) => wireOf({ ...plan, instructions: [...more, ...plan.instructions] });
  const last = (...more: Instruction[]) => wireOf({ ...plan, instructions: [...plan.instructions, ...more] });
  const call = (program: Address, accounts: Instruction["accounts"], ...data: Uint8Array[]): Instruction => ({
    program,
    accounts,
    data: concatBytes(...data),
  });
  const byte = (...values: number[]) => Uint8Array.from(values);
  /** The honest budget with one of its instructions replaced. */
  const budget = (tag: number, value: Uint8Array) =>
    wireOf({
      ...plan,
      instructions: plan.instructions.map((one) =>
        one.program === COMPUTE_BUDGET_PROGRAM && one.data[0] === tag
          ? { ...one, data: concatBytes(byte(tag), value) }
          : one,
      ),
    });
  const token = (tag: readonly number[], accounts: Instruction["accounts"], ...data: Uint8Array[]) =>
    call(TOKEN_2022_PROGRAM, accounts, byte(...tag), ...data);
  const create = (data: Uint8Array, holder: Address, account: Address, program = TOKEN_PROGRAM): Instruction =>
    call(
      ASSOCIATED_TOKEN_PROGRAM,
      [payer, writable(account), readonly(holder), readonly(outMint), readonly(SYSTEM_PROGRAM), readonly(program)],
      data,
    );
  const unknown = /calls the unknown program/;
  const base = /calls the (System|Token|Token-2022|Associated Token|Compute Budget|Memo) program/;
  const attack = (name: string, takes: string, stopped: RegExp, changed: Uint8Array): Attack => ({
    name,
    takes,
    stopped,
    wire: changed,
  });
  return [
    attack(
      "a compute limit of nothing",
      "the fee of a transaction that cannot run",
      /compute units is too low|announced/,
      budget(2, u32(0)),
    ),
    attack(
      "a compute limit that no swap fits",
      "the priority fee",
      /compute units is too low|announced/,
      budget(2, u32(9_999)),
    ),
    attack(
      "a price so high that its product overflows 64 bits",
      "every lamport",
      /more than the limit/,
      budget(3, u64(2n ** 64n - 1n)),
    ),
    attack(
      "a compute limit of 2^32 − 1",
      "a fee above the announced one",
      /announced|more than the limit/,
      budget(2, u32(0xffff_ffff)),
    ),
    attack(
      "a limit on loaded accounts that no program fits",
      "the priority fee",
      /bytes of accounts is too low/,
      budget(4, u32(1)),
    ),
    attack(
      "a limit on loaded accounts of nothing",
      "the priority fee",
      /bytes of accounts is too low/,
      budget(4, u32(0)),
    ),
    attack("a heap frame", "compute units", base, first(call(COMPUTE_BUDGET_PROGRAM, [], byte(1), u32(262_144)))),
    attack(
      "the budget's first instruction of 2021",
      "a second fee",
      base,
      first(call(COMPUTE_BUDGET_PROGRAM, [], byte(0), u32(1_400_000), u32(10 ** 9))),
    ),
    attack(
      "a budget instruction with an account",
      "an account nobody explains",
      base,
      first(call(COMPUTE_BUDGET_PROGRAM, [readonly(STRANGER)], byte(2), u32(300_000))),
    ),
    attack(
      "a durable nonce, so that the transaction never expires",
      "a trade at any later time",
      base,
      first(call(SYSTEM_PROGRAM, [writable(STRANGER), readonly(INSTRUCTIONS_SYSVAR), owner], u32(4))),
    ),
    attack(
      "a nonce account made of the wallet's SOL",
      "its lamports",
      base,
      first(
        call(
          SYSTEM_PROGRAM,
          [writable(STRANGER), readonly(INSTRUCTIONS_SYSVAR), readonly(INSTRUCTIONS_SYSVAR)],
          u32(6),
          wallet.bytes,
        ),
      ),
    ),
    attack(
      "the token account under another owner, created if it is missing",
      "what is bought, in the next trade",
      /another owner|not derived/,
      first(create(byte(1), STRANGER, tokenAccountAddress(STRANGER, outMint, TOKEN_PROGRAM))),
    ),
    attack(
      "the wallet's name on the stranger's token account",
      "what is bought",
      /not derived/,
      first(create(byte(1), wallet, tokenAccountAddress(STRANGER, outMint, TOKEN_PROGRAM))),
    ),
    attack(
      "creation that fails if the account exists",
      "the fee of a failing transaction",
      base,
      first(create(byte(0), wallet, held)),
    ),
    attack("creation with no data", "the fee of a failing transaction", base, first(create(byte(), wallet, held))),
    attack(
      "recovery of a nested token account",
      "what a mistake left there",
      base,
      first(
        call(
          ASSOCIATED_TOKEN_PROGRAM,
          [
            writable(held),
            readonly(outMint),
            writable(held),
            readonly(held),
            readonly(outMint),
            payer,
            readonly(TOKEN_PROGRAM),
          ],
          byte(2),
        ),
      ),
    ),
    attack(
      "the token account closed to a stranger by Token-2022",
      "its rent and what it holds",
      /another account|does not open/,
      last(token([9], [writable(held), writable(STRANGER), owner])),
    ),
    attack(
      "a memo that says another trade",
      "the owner's judgement",
      base,
      last(call(MEMO_PROGRAM, [owner], textBytes("approved: transfer of all funds"))),
    ),
    attack(
      "a memo without a signer",
      "the owner's judgement",
      base,
      last(call(MEMO_PROGRAM, [], textBytes("\u202edlos"))),
    ),
    attack(
      "Token-2022: a memo demanded of all who pay in",
      "every later payment",
      base,
      first(token([30, 0], [writable(held), owner])),
    ),
    attack(
      "Token-2022: a processor guard lifted",
      "transfers by programs",
      base,
      first(token([34, 1], [writable(held), owner])),
    ),
    attack(
      "Token-2022: an account enlarged at the wallet's cost",
      "its rent",
      base,
      first(token([29], [writable(held), payer, readonly(SYSTEM_PROGRAM), owner], byte(7, 0))),
    ),
    attack(
      "Token-2022: withheld fees harvested to a stranger",
      "fees",
      base,
      first(token([26, 3], [readonly(outMint), writable(STRANGER), owner, writable(held)], byte(1))),
    ),
    attack(
      "Token-2022: lamports beyond the rent withdrawn",
      "lamports of the token account",
      base,
      last(token([38], [writable(held), writable(STRANGER), owner])),
    ),
    attack(
      "Token: all wrapped SOL unwrapped to a stranger",
      "the wallet's wrapped SOL",
      base,
      last(
        call(
          TOKEN_PROGRAM,
          [writable(tokenAccountAddress(wallet, SOL_MINT, TOKEN_PROGRAM)), writable(STRANGER), owner],
          byte(45, 0),
        ),
      ),
    ),
    attack(
      "Token: several instructions in one",
      "a transfer inside",
      base,
      last(call(TOKEN_PROGRAM, [writable(held), writable(STRANGER), owner], byte(255, 3, 9, 3), u64(1n))),
    ),
    attack(
      "a close authority set to a stranger",
      "the account's rent, later",
      base,
      last(call(TOKEN_PROGRAM, [writable(held), owner], byte(6, 3, 1), STRANGER.bytes)),
    ),
    attack(
      "an approval revoked",
      "nothing, but nobody ordered it",
      base,
      last(call(TOKEN_PROGRAM, [writable(held), owner], byte(5))),
    ),
    attack(
      "the wallet assigned to a token program",
      "the whole wallet",
      base,
      last(call(SYSTEM_PROGRAM, [payer], u32(1), TOKEN_PROGRAM.bytes)),
    ),
    attack(
      "the wallet's stake taken",
      "stake",
      unknown,
      last(call(STAKE_PROGRAM, [writable(STRANGER), owner], u32(1), STRANGER.bytes, u32(0))),
    ),
    attack(
      "a program's upgrade authority",
      "the owner's programs",
      unknown,
      last(call(LOADER, [writable(STRANGER), owner, readonly(STRANGER)], u32(4))),
    ),
    attack(
      "a lookup table made",
      "its rent",
      unknown,
      last(
        call(TABLE_PROGRAM, [writable(STRANGER), owner, payer, readonly(SYSTEM_PROGRAM)], u32(0), u64(1n), byte(255)),
      ),
    ),
    attack(
      "a signature check of a text",
      "a signature by proxy",
      unknown,
      first(call(ED25519_PROGRAM, [], byte(0, 0))),
    ),
    attack(
      "the sysvar of instructions added to the swap",
      "an account nobody explains",
      /accounts instead of|unknown/,
      wireOf({
        ...plan,
        instructions: plan.instructions.map((one) =>
          one.accounts.length > 8 ? { ...one, accounts: [...one.accounts, readonly(INSTRUCTIONS_SYSVAR)] } : one,
        ),
      }),
    ),
    attack(
      "the paying account in place of the receiving one",
      "the output",
      /receiving account|output mint|traded mint/,
      aliased(plan, wallet, outMint),
    ),
  ];
}

/** The swap with the wallet's first token account on both sides. */
function aliased(plan: ReturnType<typeof planOf>, wallet: Address, outMint: Address): Uint8Array {
  const own = [TOKEN_PROGRAM, TOKEN_2022_PROGRAM].map((program) => tokenAccountAddress(wallet, outMint, program));
  const swap = plan.instructions.find(
    ({ accounts }) => accounts.length > 8 && accounts.some(({ address }) => own.includes(address)),
  )!;
  const at = swap.accounts.findIndex(({ address }) => own.includes(address));
  const accounts = swap.accounts.with(at, { ...swap.accounts[at]!, address: swap.accounts[at - 1]!.address });
  return wireOf({ ...plan, instructions: plan.instructions.map((one) => (one === swap ? { ...one, accounts } : one)) });
}
