import { Address } from "../../src/primitives/address.ts";
import { concatBytes, hex, readI128, readU64, writeU64 } from "../../src/primitives/bytes.ts";
import { BUYBACK_FEE_RECIPIENTS, FEE_PROGRAM, FEE_RECIPIENTS } from "../../src/sandbox/world/pump-fees.ts";
import { PUMP_SWAP_PROGRAM } from "../../src/sandbox/world/pump-swap.ts";
import {
  type AccountMeta,
  type Instruction,
  readonly,
  writable,
  writableSigner,
} from "../../src/solana/instruction.ts";
import { associatedTokenAddress, derive } from "../../src/solana/pda.ts";
import { ASSOCIATED_TOKEN_PROGRAM, SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../../src/solana/programs.ts";
import type { Svm } from "./svm.ts";

const DISCRIMINATOR = {
  buy: hex("66063d1201daebea"),
  buyExactQuoteIn: hex("c62e1552b4d9e870"),
  sell: hex("33e685a4017f83ad"),
};

/** A pool as its account says, with what its vaults hold. Base units. */
export interface PumpPool {
  readonly address: Address;
  readonly creator: Address;
  readonly base: Address;
  readonly quote: Address;
  readonly baseProgram: Address;
  readonly baseVault: Address;
  readonly quoteVault: Address;
  readonly baseReserve: bigint;
  readonly quoteReserve: bigint;
  readonly coinCreator: Address;
  readonly cashback: boolean;
  readonly creatorFee: bigint;
}

export function readPumpPool(svm: Svm, address: Address): PumpPool {
  const { data } = svm.get(address)!;
  const base = Address.from(data, 43);
  const baseVault = Address.from(data, 139);
  const quoteVault = Address.from(data, 171);
  return {
    address,
    creator: Address.from(data, 11),
    base,
    quote: Address.from(data, 75),
    baseProgram: svm.get(base)!.owner,
    baseVault,
    quoteVault,
    baseReserve: svm.tokens(baseVault),
    quoteReserve: svm.tokens(quoteVault) + readI128(data, 245),
    coinCreator: Address.from(data, 211),
    cashback: data[244] === 1,
    creatorFee: readU64(data, 261),
  };
}

/** The token accounts a trade pays fees into. */
export function pumpPoolFeeAccounts(pool: PumpPool, user: Address, salt: number) {
  const of = (owner: Address): Address => associatedTokenAddress(owner, pool.quote, TOKEN_PROGRAM);
  const creatorAuthority = derive(PUMP_SWAP_PROGRAM, "creator_vault", pool.coinCreator);
  const userVolume = derive(PUMP_SWAP_PROGRAM, "user_volume_accumulator", user);
  return {
    recipient: FEE_RECIPIENTS[salt % 8]!,
    protocol: of(FEE_RECIPIENTS[salt % 8]!),
    buybackRecipient: BUYBACK_FEE_RECIPIENTS[salt % 8]!,
    buyback: of(BUYBACK_FEE_RECIPIENTS[salt % 8]!),
    creatorAuthority,
    creatorVault: of(creatorAuthority),
    userVolume,
    userVolumeQuote: of(userVolume),
  };
}

/** A trade as raw numbers: (tokens, most quote), (quote, least tokens), (tokens, least quote). */
export interface PumpPoolTrade {
  readonly kind: keyof typeof DISCRIMINATOR;
  readonly first: bigint;
  readonly second: bigint;
}

export function pumpPoolInstruction(pool: PumpPool, user: Address, trade: PumpPoolTrade, salt: number): Instruction {
  const fees = pumpPoolFeeAccounts(pool, user, salt);
  const numbers = new Uint8Array(16);
  writeU64(numbers, 0, trade.first);
  writeU64(numbers, 8, trade.second);
  const selling = trade.kind === "sell";
  const trackVolume = selling ? new Uint8Array(0) : Uint8Array.of(1);
  const cashback: AccountMeta[] = pool.cashback
    ? [writable(fees.userVolumeQuote), ...(selling ? [writable(fees.userVolume)] : [])]
    : [];
  const poolV2 = pool.coinCreator === SYSTEM_PROGRAM ? [] : [readonly(derive(PUMP_SWAP_PROGRAM, "pool-v2", pool.base))];
  return {
    program: PUMP_SWAP_PROGRAM,
    accounts: [
      writable(pool.address),
      writableSigner(user),
      readonly(derive(PUMP_SWAP_PROGRAM, "global_config")),
      readonly(pool.base),
      readonly(pool.quote),
      writable(associatedTokenAddress(user, pool.base, pool.baseProgram)),
      writable(associatedTokenAddress(user, pool.quote, TOKEN_PROGRAM)),
      writable(pool.baseVault),
      writable(pool.quoteVault),
      readonly(fees.recipient),
      writable(fees.protocol),
      readonly(pool.baseProgram),
      readonly(TOKEN_PROGRAM),
      readonly(SYSTEM_PROGRAM),
      readonly(ASSOCIATED_TOKEN_PROGRAM),
      readonly(derive(PUMP_SWAP_PROGRAM, "__event_authority")),
      readonly(PUMP_SWAP_PROGRAM),
      writable(fees.creatorVault),
      readonly(fees.creatorAuthority),
      ...(selling ? [] : [readonly(derive(PUMP_SWAP_PROGRAM, "global_volume_accumulator")), writable(fees.userVolume)]),
      readonly(derive(FEE_PROGRAM, "fee_config", PUMP_SWAP_PROGRAM)),
      readonly(FEE_PROGRAM),
      ...cashback,
      ...poolV2,
      readonly(fees.buybackRecipient),
      writable(fees.buyback),
    ],
    data: concatBytes(DISCRIMINATOR[trade.kind], numbers, trackVolume),
  };
}
