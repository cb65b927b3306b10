import type { Address } from "../../primitives/address.ts";
import { hex } from "../../primitives/bytes.ts";
import { associatedTokenAccount, type DerivedAddress } from "../../solana/derived-address.ts";
import { FilledInstruction, type Instruction, InstructionPattern } from "../../solana/instruction.ts";
import { ASSOCIATED_TOKEN_PROGRAM, SOL_MINT, SYSTEM_PROGRAM } from "../../solana/programs.ts";
import { PUMP_FEE_PROGRAM } from "../shared/pump-fees.ts";
import {
  buybackRecipientOf,
  feeRecipientOf,
  mostRecipientSteps,
  type PaidRecipient,
  recipientsIn,
} from "../shared/pump-recipients.ts";
import { DESTINATION, FURTHER, SOURCE, WALLET } from "../swap-pattern.ts";
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

/** The accounts of a coin's instructions that do not depend on wallet or amount. Derived when the market is read. */
export interface PumpAccounts {
  readonly named: PumpNamed;
  readonly feeRecipients: readonly PaidRecipient[];
  readonly buybackRecipients: readonly PaidRecipient[];
  /** Steps of the searches for the recipients' token accounts at most, whichever a swap names. */
  readonly mostRecipientSteps: number;
  /** The creator's fee vault, and its token account for the quote mint. */
  readonly vault: DerivedAddress;
  readonly vaultQuote: DerivedAddress;
  /** Steps of the program's searches for the addresses of the coin. */
  readonly bumpSteps: number;
  /** The same of the older instructions. */
  readonly olderBumpSteps: number;
}

/** The accounts of a swap that depend on neither the wallet nor the fee recipients. One object for as long as none of them changes. */
export interface PumpNamed {
  readonly baseMint: Address;
  readonly quoteMint: Address;
  readonly baseProgram: Address;
  readonly quoteProgram: Address;
  readonly curve: Address;
  readonly curveTokens: Address;
  readonly curveQuote: Address;
  readonly vault: Address;
  readonly vaultQuote: Address;
  readonly sharing: Address;
  /** Of the older instructions alone. */
  readonly secondCurve: Address;
}

/** Numbers of accounts that swaps bring, in the pattern's order. */
const [FEE_WALLET, FEE_TOKENS, BUYBACK_WALLET, BUYBACK_TOKENS, VOLUME, VOLUME_QUOTE] = [
  FURTHER,
  FURTHER + 1,
  FURTHER + 2,
  FURTHER + 3,
  FURTHER + 4,
  FURTHER + 5,
];

const pattern = (discriminator: string, selling: boolean) =>
  new InstructionPattern<PumpNamed>({
    program: PUMP_PROGRAM,
    rights: `rrr rrr ww ww www W ww wwr ${selling ? "" : "r"} ww rrrrr`,
    accounts: (coin) => [
      PUMP_GLOBAL,
      coin.baseMint,
      coin.quoteMint,
      coin.baseProgram,
      coin.quoteProgram,
      ASSOCIATED_TOKEN_PROGRAM,
      FEE_WALLET,
      FEE_TOKENS,
      BUYBACK_WALLET,
      BUYBACK_TOKENS,
      coin.curve,
      coin.curveTokens,
      coin.curveQuote,
      WALLET,
      selling ? SOURCE : DESTINATION,
      selling ? DESTINATION : SOURCE,
      coin.vault,
      coin.vaultQuote,
      coin.sharing,
      ...(selling ? [] : [PUMP_GLOBAL_VOLUME]),
      VOLUME,
      VOLUME_QUOTE,
      PUMP_FEE_CONFIG,
      PUMP_FEE_PROGRAM,
      SYSTEM_PROGRAM,
      PUMP_EVENT_AUTHORITY,
      PUMP_PROGRAM,
    ],
    data: () => hex(discriminator.padEnd(48, "0")),
    amountsAt: 8,
    amounts: 2,
  });

const PATTERNS: Readonly<Record<PumpInstruction, InstructionPattern<PumpNamed>>> = {
  buy: pattern("b817ee6167c5d33d", false),
  buyWithBudget: pattern("c2ab1c46684d5b2f", false),
  sell: pattern("5df6823ce7e940b2", true),
};

/**
 * How often the program searches for the address of a token account of the quote mint. If the coin is priced in a token, it lets the
 * associated token program create these accounts, which searches for their addresses once more.
 */
const quoteSearchesOf = (quoteMint: Address): number => (quoteMint === SOL_MINT ? 1 : 2);

/** Derives the fixed accounts of a coin's instructions. Cold path. */
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
  const quoteSearches = quoteSearchesOf(quoteMint);
  const base = associatedTokenAccount(coin.curve, coin.baseMint, coin.baseProgram);
  const quote = associatedTokenAccount(coin.curve, quoteMint, quoteProgram);
  const vault = pumpCreatorVaultOf(coin.creator);
  const vaultQuote = associatedTokenAccount(vault.address, quoteMint, quoteProgram);
  const sharing = sharingConfigOf(coin.baseMint);
  const secondCurve = secondCurveOf(coin.baseMint);
  const feeRecipients = recipientsIn(coin.feeRecipients, quoteMint, quoteProgram);
  const buybackRecipients = recipientsIn(coin.buybackRecipients, quoteMint, quoteProgram);
  return {
    named: {
      baseMint: coin.baseMint,
      quoteMint,
      baseProgram: coin.baseProgram,
      quoteProgram,
      curve: coin.curve,
      curveTokens: base.address,
      curveQuote: quote.address,
      vault: vault.address,
      vaultQuote: vaultQuote.address,
      sharing: sharing.address,
      secondCurve: secondCurve.address,
    },
    feeRecipients,
    buybackRecipients,
    mostRecipientSteps: quoteSearches * mostRecipientSteps(feeRecipients, buybackRecipients),
    vault,
    vaultQuote,
    bumpSteps:
      4 * 255 -
      (coin.curveBump + base.bump + vault.bump + sharing.bump) +
      quoteSearches * (2 * 255 - quote.bump - vaultQuote.bump),
    olderBumpSteps: 4 * 255 - (coin.curveBump + base.bump + vault.bump + secondCurve.bump),
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
  const { named } = accounts;
  const fee = feeRecipientOf(accounts.feeRecipients, terms.salt, terms.wallet);
  const buyback = buybackRecipientOf(accounts.buybackRecipients, terms.salt, terms.wallet);
  const volume = pumpUserVolumeOf(terms.wallet);
  const volumeQuote = associatedTokenAccount(volume.address, named.quoteMint, named.quoteProgram);
  const own = [
    terms.wallet,
    terms.source,
    terms.destination,
    fee.wallet,
    fee.tokenAccount,
    buyback.wallet,
    buyback.tokenAccount,
    volume.address,
    volumeQuote.address,
  ];
  return {
    instruction: new FilledInstruction(PATTERNS[kind], named, 0, own, amount, bound),
    bumpSteps: quoteSearchesOf(named.quoteMint) * (fee.bumpSteps + buyback.bumpSteps),
    volume,
    volumeQuote,
  };
}
