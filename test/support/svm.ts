import { readFileSync } from "node:fs";
import { getTransactionDecoder, address as kitAddress, lamports } from "@solana/kit";
import { Clock, FailedTransactionMetadata, LiteSVM, Rent } from "litesvm";
import { Address } from "../../src/primitives/address.ts";
import { concatBytes, writeU64 } from "../../src/primitives/bytes.ts";
import type { Account, AccountView, ChainClock } from "../../src/solana/account.ts";
import type { Instruction } from "../../src/solana/instruction.ts";
import { compileMessage, type LookupTable, SIGNATURE_SIZE } from "../../src/solana/message.ts";
import { associatedTokenAddress } from "../../src/solana/pda.ts";
import { SOL_MINT, SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../src/solana/programs.ts";
import { TOKEN_ACCOUNT_SIZE, tokenBalance } from "../../src/solana/token/token-account.ts";

/** Lamports per byte of rent since the third step of SIMD-0437. */
const LAMPORTS_PER_BYTE = 5080n;
const ACCOUNT_OVERHEAD = 128n;

export interface Executed {
  readonly ok: boolean;
  /** The runtime's name of the failure; empty on success. */
  readonly error: string;
  readonly logs: readonly string[];
  readonly computeUnits: number;
  /** Instructions that programs called. */
  readonly calls: number;
}

export interface NewMint {
  readonly decimals: number;
  readonly program?: Address;
  readonly supply?: bigint;
  readonly transferFee?: { readonly bps: number; readonly maximum: bigint };
  readonly address?: Address;
}

/** A real SVM for tests: any account can be set; signatures and blockhashes are not checked. */
export class Svm implements AccountView {
  /** Programs that every runtime starts with in place of LiteSVM's own copies. */
  static readonly instead = new Map<Address, Uint8Array>();

  readonly inner: LiteSVM;
  readonly #programFiles = new Map<Address, string>();
  #unique = 0;
  #lamportsPerByte = LAMPORTS_PER_BYTE;

  constructor(clock: ChainClock = { slot: 450_000_000n, epoch: 1041n, unixTimestamp: 1_795_000_000n }) {
    this.inner = new LiteSVM()
      .withSigverify(false)
      .withBlockhashCheck(false)
      .withTransactionHistory(0n)
      .withNativeMints();
    for (const [id, code] of Svm.instead) this.addProgram(id, code);
    this.setRent(LAMPORTS_PER_BYTE);
    this.setClock(clock);
  }

  setClock(clock: ChainClock): void {
    this.inner.setClock(new Clock(clock.slot, clock.unixTimestamp, clock.epoch, clock.epoch, clock.unixTimestamp));
  }

  clock(): ChainClock {
    const { slot, epoch, unixTimestamp } = this.inner.getClock();
    return { slot, epoch, unixTimestamp };
  }

  /** Sets what the chain charges for a byte. */
  setRent(lamportsPerByte: bigint): void {
    this.inner.setRent(new Rent(lamportsPerByte, 1, 50));
    this.#lamportsPerByte = lamportsPerByte;
  }

  rent(space: number): bigint {
    return (BigInt(space) + ACCOUNT_OVERHEAD) * this.#lamportsPerByte;
  }

  /** Installs a program from its bytes or its file. `file`: where bytes come from that are not as they lie there. */
  addProgram(
    id: Address,
    program: Uint8Array | string,
    file = typeof program === "string" ? program : undefined,
  ): void {
    if (file !== undefined) this.#programFiles.set(id, file);
    else this.#programFiles.delete(id);
    this.inner.addProgram(kitAddress(id.toString()), typeof program === "string" ? readFileSync(program) : program);
  }

  /** The file a program was installed from; undefined if it came as bytes of none. */
  programFile(id: Address): string | undefined {
    return this.#programFiles.get(id);
  }

  setAccount(account: {
    address: Address;
    owner: Address;
    data: Uint8Array;
    lamports?: bigint;
    executable?: boolean;
  }): Address {
    const held = account.lamports ?? this.rent(account.data.length);
    this.inner.setAccount({
      address: kitAddress(account.address.toString()),
      programAddress: kitAddress(account.owner.toString()),
      data: account.data,
      lamports: lamports(held),
      executable: account.executable ?? false,
      space: BigInt(account.data.length),
    });
    return account.address;
  }

  /** The current account; null if there is none. */
  get(address: Address): Account | null {
    const found = this.inner.getAccount(kitAddress(address.toString()));
    if (!found.exists) return null;
    return {
      address,
      owner: Address.of(found.programAddress),
      lamports: found.lamports,
      data: Uint8Array.from(found.data),
      executable: found.executable,
      slot: this.inner.getClock().slot,
    };
  }

  lamports(address: Address): bigint {
    return this.get(address)?.lamports ?? 0n;
  }

  /** Token balance of an account; 0 without one. */
  tokens(address: Address): bigint {
    const account = this.get(address);
    return account === null || account.data.length < TOKEN_ACCOUNT_SIZE ? 0n : tokenBalance(account);
  }

  /** An address without a known key; the same sequence in every run. */
  newAddress(): Address {
    const bytes = new Uint8Array(32).fill(7);
    writeU64(bytes, 1, BigInt(++this.#unique));
    return Address.from(bytes);
  }

  /** A system account with SOL. */
  newWallet(held = 1_000_000_000_000n): Address {
    return this.setAccount({
      address: this.newAddress(),
      owner: SYSTEM_PROGRAM,
      data: new Uint8Array(0),
      lamports: held,
    });
  }

  /** Writes a mint, plain or Token-2022 with a transfer fee. */
  newMint(mint: NewMint): Address {
    const program = mint.program ?? TOKEN_PROGRAM;
    const fee = mint.transferFee;
    const data = new Uint8Array(fee === undefined ? 82 : 166 + 4 + 108);
    const view = new DataView(data.buffer);
    view.setBigUint64(36, mint.supply ?? 0n, true);
    data[44] = mint.decimals;
    data[45] = 1;
    if (fee !== undefined) {
      data[165] = 1;
      view.setUint16(166, 1, true);
      view.setUint16(168, 108, true);
      for (const at of [170 + 72, 170 + 90]) {
        view.setBigUint64(at + 8, fee.maximum, true);
        view.setUint16(at + 16, fee.bps, true);
      }
    }
    return this.setAccount({ address: mint.address ?? this.newAddress(), owner: program, data });
  }

  /** Writes a token account (the associated one unless `address` is given) holding `amount`. */
  setTokens(owner: Address, mint: Address, amount: bigint, address?: Address): Address {
    const mintAccount = this.get(mint);
    if (mintAccount === null) throw new Error(`no mint ${mint}`);
    const withFee = mintAccount.data.length > 165;
    const data = new Uint8Array(withFee ? TOKEN_ACCOUNT_SIZE + 1 + 4 + 8 : TOKEN_ACCOUNT_SIZE);
    const view = new DataView(data.buffer);
    data.set(mint.bytes, 0);
    data.set(owner.bytes, 32);
    view.setBigUint64(64, amount, true);
    data[108] = 1;
    if (withFee) {
      data[TOKEN_ACCOUNT_SIZE] = 2;
      view.setUint16(166, 2, true);
      view.setUint16(168, 8, true);
    }
    const rent = this.rent(data.length);
    const native = mint === SOL_MINT;
    if (native) {
      view.setUint32(109, 1, true);
      view.setBigUint64(113, rent, true);
    }
    return this.setAccount({
      address: address ?? associatedTokenAddress(owner, mint, mintAccount.owner),
      owner: mintAccount.owner === TOKEN_2022_PROGRAM ? TOKEN_2022_PROGRAM : TOKEN_PROGRAM,
      data,
      lamports: native ? rent + amount : rent,
    });
  }

  /** The wire transaction of these instructions, with empty signature slots. */
  wire(payer: Address, instructions: readonly Instruction[], lookupTables: readonly LookupTable[] = []): Uint8Array {
    const blockhash = new Uint8Array(32).fill(1);
    const message = compileMessage({ payer, instructions, blockhash, lookupTables });
    const signers = message[1]!;
    return concatBytes(Uint8Array.of(signers), new Uint8Array(SIGNATURE_SIZE * signers), message);
  }

  /** Executes and keeps the result. */
  send(payer: Address, instructions: readonly Instruction[], lookupTables: readonly LookupTable[] = []): Executed {
    const transaction = getTransactionDecoder().decode(this.wire(payer, instructions, lookupTables));
    const result = this.inner.sendTransaction(transaction);
    const failed = result instanceof FailedTransactionMetadata;
    const meta = failed ? result.meta() : result;
    return {
      ok: !failed,
      error: failed ? result.toString() : "",
      logs: meta.logs(),
      computeUnits: Number(meta.computeUnitsConsumed()),
      calls: meta.innerInstructions().reduce((sum, { length }) => sum + length, 0),
    };
  }

  /** Executes and throws the result away. */
  simulate(payer: Address, instructions: readonly Instruction[]): Executed {
    const result = this.inner.simulateTransaction(getTransactionDecoder().decode(this.wire(payer, instructions)));
    const failed = result instanceof FailedTransactionMetadata;
    const meta = result.meta();
    return {
      ok: !failed,
      error: failed ? result.toString() : "",
      logs: meta.logs(),
      computeUnits: Number(meta.computeUnitsConsumed()),
      calls: meta.innerInstructions().reduce((sum, { length }) => sum + length, 0),
    };
  }
}
