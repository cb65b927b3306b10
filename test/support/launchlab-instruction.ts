import { Address } from "../../src/primitives/address.ts";
import { hex, readU64, writeU64 } from "../../src/primitives/bytes.ts";
import { LAUNCHLAB_PROGRAM } from "../../src/sandbox/world/launchlab.ts";
import { type Instruction, readonly, writable, writableSigner } from "../../src/solana/instruction.ts";
import { associatedTokenAddress, derive } from "../../src/solana/pda.ts";
import { SYSTEM_PROGRAM } from "../../src/solana/programs.ts";
import type { Svm } from "./svm.ts";

const DISCRIMINATOR = {
  buyExactIn: hex("faea0d7bd59c13ec"),
  buyExactOut: hex("18d3742869039938"),
  sellExactIn: hex("9527de9bd37c981a"),
  sellExactOut: hex("5fc8472208090ba6"),
};

/** A launch as its account has it at this moment. */
export interface Launch {
  readonly address: Address;
  readonly status: number;
  readonly forSale: bigint;
  readonly virtualBase: bigint;
  readonly virtualQuote: bigint;
  readonly sold: bigint;
  readonly raised: bigint;
  readonly protocolFee: bigint;
  readonly config: Address;
  readonly platform: Address;
  readonly mints: readonly [base: Address, quote: Address];
  readonly tokenPrograms: readonly [base: Address, quote: Address];
  readonly vaults: readonly [base: Address, quote: Address];
  readonly platformVault: Address;
  readonly creatorVault: Address;
}

export function readLaunch(svm: Svm, address: Address): Launch {
  const { data } = svm.get(address)!;
  const [platform, base, quote] = [173, 205, 237].map((at) => Address.from(data, at)) as [Address, Address, Address];
  return {
    address,
    status: data[17]!,
    forSale: readU64(data, 29),
    virtualBase: readU64(data, 37),
    virtualQuote: readU64(data, 45),
    sold: readU64(data, 53),
    raised: readU64(data, 61),
    protocolFee: readU64(data, 77),
    config: Address.from(data, 141),
    platform,
    mints: [base, quote],
    tokenPrograms: [svm.get(base)!.owner, svm.get(quote)!.owner],
    vaults: [Address.from(data, 269), Address.from(data, 301)],
    platformVault: derive(LAUNCHLAB_PROGRAM, platform, quote),
    creatorVault: derive(LAUNCHLAB_PROGRAM, Address.from(data, 333), quote),
  };
}

/** One trade as raw numbers: the exact amount, then the bound on the other one. */
export interface LaunchTrade {
  readonly kind: keyof typeof DISCRIMINATOR;
  readonly amount: bigint;
  readonly limit: bigint;
  /** Who else gets a part of the fee, in parts per million of the trade. */
  readonly share?: { readonly rate: bigint; readonly receiver: Address };
}

/** The instruction of a trade between the wallet's associated token accounts. */
export function launchInstruction(launch: Launch, wallet: Address, trade: LaunchTrade): Instruction {
  const data = new Uint8Array(32);
  data.set(DISCRIMINATOR[trade.kind]);
  writeU64(data, 8, trade.amount);
  writeU64(data, 16, trade.limit);
  writeU64(data, 24, trade.share?.rate ?? 0n);
  const own = (side: 0 | 1): Address => associatedTokenAddress(wallet, launch.mints[side], launch.tokenPrograms[side]);
  return {
    program: LAUNCHLAB_PROGRAM,
    accounts: [
      writableSigner(wallet),
      readonly(derive(LAUNCHLAB_PROGRAM, "vault_auth_seed")),
      readonly(launch.config),
      readonly(launch.platform),
      writable(launch.address),
      writable(own(0)),
      writable(own(1)),
      writable(launch.vaults[0]),
      writable(launch.vaults[1]),
      readonly(launch.mints[0]),
      readonly(launch.mints[1]),
      readonly(launch.tokenPrograms[0]),
      readonly(launch.tokenPrograms[1]),
      readonly(derive(LAUNCHLAB_PROGRAM, "__event_authority")),
      readonly(LAUNCHLAB_PROGRAM),
      ...(trade.share === undefined ? [] : [writable(trade.share.receiver)]),
      readonly(SYSTEM_PROGRAM),
      writable(launch.platformVault),
      writable(launch.creatorVault),
    ],
    data,
  };
}
