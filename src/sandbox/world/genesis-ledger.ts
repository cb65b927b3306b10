import type { Address } from "../../primitives/address.ts";
import { concatBytes, textBytes, viewOf, writeU32, writeU64 } from "../../primitives/bytes.ts";
import { associatedTokenAddress } from "../../solana/pda.ts";
import { SOL_MINT, SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";

/** Lamports of rent per byte of an account, its 128-byte record included. */
const LAMPORTS_PER_BYTE = 5_080n;
const ACCOUNT_RECORD_SIZE = 128n;

/** The least balance that keeps an account of `space` bytes, in lamports. */
export function rentExempt(space: number): bigint {
  return (ACCOUNT_RECORD_SIZE + BigInt(space)) * LAMPORTS_PER_BYTE;
}

const MINT_SIZE = 82;
const TOKEN_ACCOUNT_SIZE = 165;
const KIND_MINT = 1;
const KIND_TOKEN_ACCOUNT = 2;
const EXTENSION = { transferFeeConfig: 1, transferFeeAmount: 2, immutableOwner: 7, metadataPointer: 18, metadata: 19 };

/** An account of the world as it stands at the first slot. */
export interface WorldAccount {
  readonly address: Address;
  readonly owner: Address;
  readonly lamports: bigint;
  readonly data: Uint8Array;
}

/** A mint to be put into the world. */
export interface MintPlan {
  readonly mint: Address;
  readonly program: Address;
  readonly decimals: number;
  readonly name: string;
  readonly symbol: string;
  /** Token-2022 only: what a transfer withholds, and at most how much, in base units. */
  readonly transferFee?: { readonly bps: number; readonly maximum: bigint };
  /** Token-2022 only: name and symbol are kept in the mint itself. */
  readonly metadata?: boolean;
}

/** Collects the accounts of a world and keeps every mint's supply equal to the sum of its balances. */
export interface WorldLedger {
  /** A plain account holding exactly its rent, plus `above`. */
  put(address: Address, owner: Address, data: Uint8Array, above?: bigint): void;
  /** A new mint; its supply follows from the balances given out. */
  mint(plan: MintPlan): void;
  /** A token account at `address`; wrapped SOL is backed by lamports. */
  hold(address: Address, owner: Address, mint: Address, amount: bigint): void;
  /** The associated token account of `owner`, made if it is not there yet. @returns its address */
  holdAssociated(owner: Address, mint: Address, amount: bigint): Address;
  /** The mint's token program. */
  programOf(mint: Address): Address;
  accounts(): WorldAccount[];
}

/** An empty ledger that knows wrapped SOL. */
export function createWorldLedger(): WorldLedger {
  const accounts = new Map<Address, WorldAccount>();
  const plans = new Map<Address, MintPlan>();
  const supplies = new Map<Address, bigint>();

  const planOf = (mint: Address): MintPlan => {
    const plan = plans.get(mint);
    if (plan === undefined) throw new RangeError(`the world has no mint ${mint}`);
    return plan;
  };
  const put = (address: Address, owner: Address, data: Uint8Array, above = 0n) => {
    if (accounts.has(address)) throw new RangeError(`the world already has an account ${address}`);
    accounts.set(address, { address, owner, lamports: rentExempt(data.length) + above, data });
  };
  const hold = (address: Address, owner: Address, mint: Address, amount: bigint, associated = false) => {
    const plan = planOf(mint);
    const native = mint === SOL_MINT;
    put(address, plan.program, tokenAccountData(plan, owner, amount, native, associated), native ? amount : 0n);
    if (!native) supplies.set(mint, supplies.get(mint)! + amount);
  };

  const ledger: WorldLedger = {
    put,
    mint(plan) {
      plans.set(plan.mint, plan);
      supplies.set(plan.mint, 0n);
    },
    hold: (address, owner, mint, amount) => hold(address, owner, mint, amount),
    holdAssociated(owner, mint, amount) {
      const address = associatedTokenAddress(owner, mint, planOf(mint).program);
      if (!accounts.has(address)) hold(address, owner, mint, amount, true);
      return address;
    },
    programOf: (mint) => planOf(mint).program,
    accounts() {
      const mints = [...plans.values()].map((plan): WorldAccount => {
        const data = mintData(plan, supplies.get(plan.mint)!);
        return { address: plan.mint, owner: plan.program, lamports: rentExempt(data.length), data };
      });
      return [...mints, ...accounts.values()];
    },
  };
  ledger.mint({ mint: SOL_MINT, program: TOKEN_PROGRAM, decimals: 9, name: "Wrapped SOL", symbol: "SOL" });
  return ledger;
}

/** Data of a wallet or any account without data of its own. */
export const NO_DATA = new Uint8Array(0);

/** A wallet of the system program with `lamports` above its rent. */
export function putWallet(ledger: WorldLedger, address: Address, lamports: bigint): void {
  ledger.put(address, SYSTEM_PROGRAM, NO_DATA, lamports);
}

function mintData(plan: MintPlan, supply: bigint): Uint8Array {
  const base = new Uint8Array(MINT_SIZE);
  writeU64(base, 36, supply);
  base[44] = plan.decimals;
  base[45] = 1;
  const extensions: Uint8Array[] = [];
  if (plan.transferFee !== undefined) {
    const config = new Uint8Array(108);
    for (const setting of [72, 90]) {
      writeU64(config, setting + 8, plan.transferFee.maximum);
      viewOf(config).setUint16(setting + 16, plan.transferFee.bps, true);
    }
    extensions.push(extension(EXTENSION.transferFeeConfig, config));
  }
  if (plan.metadata) {
    const pointer = new Uint8Array(64);
    pointer.set(plan.mint.bytes, 32);
    extensions.push(extension(EXTENSION.metadataPointer, pointer));
    const strings = [plan.name, plan.symbol, ""].map(lengthPrefixed);
    const fields = concatBytes(new Uint8Array(32), plan.mint.bytes, ...strings, new Uint8Array(4));
    extensions.push(extension(EXTENSION.metadata, fields));
  }
  return plan.program === TOKEN_2022_PROGRAM ? extended(base, KIND_MINT, extensions) : base;
}

function tokenAccountData(
  plan: MintPlan,
  owner: Address,
  amount: bigint,
  native: boolean,
  associated: boolean,
): Uint8Array {
  const base = new Uint8Array(TOKEN_ACCOUNT_SIZE);
  base.set(plan.mint.bytes, 0);
  base.set(owner.bytes, 32);
  writeU64(base, 64, amount);
  base[108] = 1;
  if (native) {
    writeU32(base, 109, 1);
    writeU64(base, 113, rentExempt(TOKEN_ACCOUNT_SIZE));
  }
  if (plan.program !== TOKEN_2022_PROGRAM) return base;
  const extensions: Uint8Array[] = [];
  if (associated) extensions.push(extension(EXTENSION.immutableOwner, NO_DATA));
  if (plan.transferFee !== undefined) extensions.push(extension(EXTENSION.transferFeeAmount, new Uint8Array(8)));
  return extended(base, KIND_TOKEN_ACCOUNT, extensions);
}

/** Token-2022 appends an account kind and the extensions where a plain token account ends; without extensions, nothing. */
function extended(base: Uint8Array, kind: number, extensions: readonly Uint8Array[]): Uint8Array {
  if (extensions.length === 0) return base;
  const padding = new Uint8Array(TOKEN_ACCOUNT_SIZE - base.length);
  return concatBytes(base, padding, Uint8Array.of(kind), ...extensions);
}

function extension(type: number, value: Uint8Array): Uint8Array {
  const header = new Uint8Array(4);
  viewOf(header).setUint16(0, type, true);
  viewOf(header).setUint16(2, value.length, true);
  return concatBytes(header, value);
}

function lengthPrefixed(text: string): Uint8Array {
  const bytes = textBytes(text);
  const length = new Uint8Array(4);
  writeU32(length, 0, bytes.length);
  return concatBytes(length, bytes);
}
