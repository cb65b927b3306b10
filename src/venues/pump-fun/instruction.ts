import type { Address } from "../../primitives/address.ts";
import { hex, pooledBytes, writeU64 } from "../../primitives/bytes.ts";
import { associatedTokenAccount, type DerivedAddress } from "../../solana/derived-address.ts";
import { type AccountMeta, type Instruction, readonly, writable, writableSigner } from "../../solana/instruction.ts";
import { ASSOCIATED_TOKEN_PROGRAM, SOL_MINT, SYSTEM_PROGRAM } from "../../solana/programs.ts";
import { PUMP_FEE_PROGRAM } from "../shared/pump-fees.ts";
import { buybackRecipientOf, feeRecipientOf } from "../shared/pump-recipients.ts";
import type { SwapTerms } from "../venue.ts";
import {
  PUMP_EVENT_AUTHORITY,
  PUMP_FEE_CONFIG,
  PUMP_GLOBAL,
  PUMP_GLOBAL_VOLUME,
  PUMP_PROGRAM,
  pumpCreatorVaultOf,
  pumpUserVolumeOf,
  secondCurveOf,
  sharingConfigOf,
} from "./layout.ts";

/** The three instructions, all with two 64-bit arguments. @see pump-sdk IDL pump: buy_v2, buy_exact_quote_in_v2, sell_v2 */
export type PumpInstruction = "buy" | "buyWithBudget" | "sell";

const DISCRIMINATORS: Readonly<Record<PumpInstruction, Uint8Array>> = {
  buy: hex("b817ee6167c5d33d"),
  buyWithBudget: hex("c2ab1c46684d5b2f"),
  sell: hex("5df6823ce7e940b2"),
};

/** A fee recipient with its token account for the quote mint. */
interface PumpRecipient {
  readonly wallet: AccountMeta;
  readonly tokenAccount: AccountMeta;
  /** Steps the searches for the token account's bump take beyond the first. */
  readonly bumpSteps: number;
}

/** The accounts of a coin's instructions that do not depend on wallet or amount. Derived when the market is read. */
export interface PumpAccounts {
  readonly quoteMint: Address;
  readonly quoteProgram: Address;
  readonly feeRecipients: readonly PumpRecipient[];
  readonly buybackRecipients: readonly PumpRecipient[];
  /** The accounts up to the fee recipients: settings, mints, programs. */
  readonly head: readonly AccountMeta[];
  readonly curve: readonly AccountMeta[];
  readonly creator: readonly AccountMeta[];
  /** The creator's fee vault, and its token account for the quote mint. */
  readonly vault: DerivedAddress;
  readonly vaultQuote: DerivedAddress;
  /** Steps of the program's searches for the addresses of the coin. */
  readonly bumpSteps: number;
  readonly older: OlderPumpAccounts;
}

/** The accounts of the older instructions that do not depend on wallet or amount, without the recipients. */
interface OlderPumpAccounts {
  readonly mint: AccountMeta;
  readonly tokenProgram: AccountMeta;
  readonly curve: AccountMeta;
  readonly curveTokens: AccountMeta;
  readonly vault: AccountMeta;
  readonly secondCurve: AccountMeta;
  /** Steps of the program's searches for the addresses of the coin. */
  readonly bumpSteps: number;
}

const tail: readonly AccountMeta[] = [
  readonly(PUMP_FEE_CONFIG),
  readonly(PUMP_FEE_PROGRAM),
  readonly(SYSTEM_PROGRAM),
  readonly(PUMP_EVENT_AUTHORITY),
  readonly(PUMP_PROGRAM),
];
const globalMeta = readonly(PUMP_GLOBAL);
const globalVolume = readonly(PUMP_GLOBAL_VOLUME);
const tokenAccountProgram = readonly(ASSOCIATED_TOKEN_PROGRAM);

/**
 * Derives the fixed accounts of a coin's instructions. Cold path.
 * If the coin is priced in a token, the program lets the associated token program create the token accounts of the quote mint,
 * which searches for their addresses once more.
 */
export function pumpAccounts(coin: {
  readonly curve: Address;
  readonly curveBump: number;
  readonly baseMint: Address;
  readonly baseProgram: Address;
  readonly quoteMint: Address;
  readonly quoteProgram: Address;
  readonly creator: Address;
  readonly feeRecipients: readonly Address[];
  readonly buybackRecipients: readonly Address[];
}): PumpAccounts {
  const { quoteMint, quoteProgram } = coin;
  const quoteSearches = quoteMint === SOL_MINT ? 1 : 2;
  const recipient =
    (searches: number) =>
    (wallet: Address): PumpRecipient => {
      const { address, bump } = associatedTokenAccount(wallet, quoteMint, quoteProgram);
      return { wallet: writable(wallet), tokenAccount: writable(address), bumpSteps: searches * (255 - bump) };
    };
  const base = associatedTokenAccount(coin.curve, coin.baseMint, coin.baseProgram);
  const quote = associatedTokenAccount(coin.curve, quoteMint, quoteProgram);
  const vault = pumpCreatorVaultOf(coin.creator);
  const vaultQuote = associatedTokenAccount(vault.address, quoteMint, quoteProgram);
  const sharing = sharingConfigOf(coin.baseMint);
  const secondCurve = secondCurveOf(coin.baseMint);
  return {
    quoteMint,
    quoteProgram,
    feeRecipients: coin.feeRecipients.map(recipient(quoteSearches)),
    buybackRecipients: coin.buybackRecipients.map(recipient(1)),
    head: [
      globalMeta,
      readonly(coin.baseMint),
      readonly(quoteMint),
      readonly(coin.baseProgram),
      readonly(quoteProgram),
      tokenAccountProgram,
    ],
    curve: [writable(coin.curve), writable(base.address), writable(quote.address)],
    creator: [writable(vault.address), writable(vaultQuote.address), readonly(sharing.address)],
    vault,
    vaultQuote,
    bumpSteps:
      4 * 255 -
      (coin.curveBump + base.bump + vault.bump + sharing.bump) +
      quoteSearches * (2 * 255 - quote.bump - vaultQuote.bump),
    older: {
      mint: readonly(coin.baseMint),
      tokenProgram: readonly(coin.baseProgram),
      curve: writable(coin.curve),
      curveTokens: writable(base.address),
      vault: writable(vault.address),
      secondCurve: readonly(secondCurve.address),
      bumpSteps: 4 * 255 - (coin.curveBump + base.bump + vault.bump + secondCurve.bump),
    },
  };
}

/**
 * The instruction, and the bump steps of its recipients, which come on top of those of the coin and the wallet.
 * The first amount is the tokens (buy, sell) or the budget (buyWithBudget), the second the bound on the other side.
 */
export function pumpFunSwap(
  kind: PumpInstruction,
  accounts: PumpAccounts,
  amount: bigint,
  bound: bigint,
  terms: SwapTerms,
): {
  readonly instruction: Instruction;
  readonly bumpSteps: number;
  /** The wallet's volume account and its token account for the quote mint. */
  readonly volume: DerivedAddress;
  readonly volumeQuote: DerivedAddress;
} {
  const fee = feeRecipientOf(accounts.feeRecipients, terms.salt, terms.wallet);
  const buyback = buybackRecipientOf(accounts.buybackRecipients, terms.salt, terms.wallet);
  const volume = pumpUserVolumeOf(terms.wallet);
  const volumeQuote = associatedTokenAccount(volume.address, accounts.quoteMint, accounts.quoteProgram);
  const selling = kind === "sell";
  const data = pooledBytes(24);
  data.set(DISCRIMINATORS[kind]);
  writeU64(data, 8, amount);
  writeU64(data, 16, bound);
  return {
    instruction: {
      program: PUMP_PROGRAM,
      accounts: [
        ...accounts.head,
        fee.wallet,
        fee.tokenAccount,
        buyback.wallet,
        buyback.tokenAccount,
        ...accounts.curve,
        writableSigner(terms.wallet),
        writable(selling ? terms.source : terms.destination),
        writable(selling ? terms.destination : terms.source),
        ...accounts.creator,
        ...(selling ? NO_ACCOUNTS : VOLUME_ACCOUNTS),
        writable(volume.address),
        writable(volumeQuote.address),
        ...tail,
      ],
      data,
    },
    bumpSteps: fee.bumpSteps + buyback.bumpSteps,
    volume,
    volumeQuote,
  };
}

const NO_ACCOUNTS: readonly AccountMeta[] = [];
const VOLUME_ACCOUNTS: readonly AccountMeta[] = [globalVolume];
