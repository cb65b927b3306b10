import type { Address } from "../../primitives/address.ts";
import { hex } from "../../primitives/bytes.ts";
import { associatedTokenAccount, type DerivedAddress } from "../../solana/derived-address.ts";
import { FilledInstruction, type Instruction, InstructionPattern } from "../../solana/instruction.ts";
import { ASSOCIATED_TOKEN_PROGRAM, SYSTEM_PROGRAM } from "../../solana/programs.ts";
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
  PUMP_SWAP_EVENT_AUTHORITY,
  PUMP_SWAP_FEE_CONFIG,
  PUMP_SWAP_GLOBAL,
  PUMP_SWAP_GLOBAL_VOLUME,
  PUMP_SWAP_PROGRAM,
  type PumpSwapMarket,
  poolAuthorityOf,
  poolV2Of,
  pumpSwapCreatorVaultOf,
  pumpSwapUserVolumeOf,
} from "./layout.ts";

/** The three instructions. @see pump-swap-sdk IDL pump_amm: buy, buy_exact_quote_in, sell */
export type PumpSwapInstruction = "buy" | "buyWithBudget" | "sell";

/** Everything of a pool's instructions that no wallet and no amount changes. Derived when the market is read. */
export interface PumpSwapAccounts {
  readonly named: PumpSwapNamed;
  readonly paysCreator: boolean;
  readonly cashback: boolean;
  readonly feeRecipients: readonly PaidRecipient[];
  readonly buybackRecipients: readonly PaidRecipient[];
  /** Steps of the searches for the recipients' token accounts at most, whichever a swap names. */
  readonly mostRecipientSteps: number;
  /** The token account for the quote mint where the creator's fees gather. */
  readonly vaultQuote: DerivedAddress;
  /** Steps of the program's searches for the addresses of the pool. */
  readonly bumpSteps: number;
}

/** The accounts of a swap that depend on neither the wallet nor the fee recipients. One object for as long as none of them changes. */
export interface PumpSwapNamed {
  readonly market: PumpSwapMarket;
  readonly tokenPrograms: readonly [Address, Address];
  readonly vaultQuote: Address;
  readonly vault: Address;
  readonly poolV2: Address;
}

/** Numbers of accounts that swaps bring; not all name the last two. */
const [FEE_WALLET, FEE_TOKENS, BUYBACK_WALLET, BUYBACK_TOKENS, VOLUME, VOLUME_QUOTE] = [
  FURTHER,
  FURTHER + 1,
  FURTHER + 2,
  FURTHER + 3,
  FURTHER + 4,
  FURTHER + 5,
];

interface PatternKind {
  readonly discriminator: string;
  readonly selling: boolean;
  readonly cashback: boolean;
  readonly paysCreator: boolean;
}

const pattern = ({ discriminator, selling, cashback, paysCreator }: PatternKind) => {
  const volume = selling ? "" : "rw";
  const back = cashback ? (selling ? "ww" : "w") : "";
  return new InstructionPattern<PumpSwapNamed>({
    program: PUMP_SWAP_PROGRAM,
    rights: `w W rrr ww ww rw rr rrrr w r ${volume} rr ${back} ${paysCreator ? "r" : ""} rw`,
    accounts: ({ market, tokenPrograms, vaultQuote, vault, poolV2 }) => [
      market.address,
      WALLET,
      PUMP_SWAP_GLOBAL,
      market.mints[0],
      market.mints[1],
      selling ? SOURCE : DESTINATION,
      selling ? DESTINATION : SOURCE,
      market.vaults[0],
      market.vaults[1],
      FEE_WALLET,
      FEE_TOKENS,
      tokenPrograms[0],
      tokenPrograms[1],
      SYSTEM_PROGRAM,
      ASSOCIATED_TOKEN_PROGRAM,
      PUMP_SWAP_EVENT_AUTHORITY,
      PUMP_SWAP_PROGRAM,
      vaultQuote,
      vault,
      ...(selling ? [] : [PUMP_SWAP_GLOBAL_VOLUME, VOLUME]),
      PUMP_SWAP_FEE_CONFIG,
      PUMP_FEE_PROGRAM,
      ...(cashback ? (selling ? [VOLUME_QUOTE, VOLUME] : [VOLUME_QUOTE]) : []),
      // The account named if the creator takes a fee.
      ...(paysCreator ? [poolV2] : []),
      BUYBACK_WALLET,
      BUYBACK_TOKENS,
    ],
    data: () => hex(discriminator.padEnd(48, "0") + (selling ? "" : TRACK_VOLUME)),
    amountsAt: 8,
    amounts: 2,
  });
};

/** The last byte of the data of purchases. */
const TRACK_VOLUME = "01";

/** Of one instruction, by `placeOf`. */
const patternsOf = (discriminator: string, selling: boolean) =>
  [0, 1, 2, 3].map((place) =>
    pattern({ discriminator, selling, paysCreator: (place & 1) !== 0, cashback: (place & 2) !== 0 }),
  );
const placeOf = ({ paysCreator, cashback }: PumpSwapAccounts) => (paysCreator ? 1 : 0) + (cashback ? 2 : 0);

const PATTERNS: Readonly<Record<PumpSwapInstruction, readonly InstructionPattern<PumpSwapNamed>[]>> = {
  buy: patternsOf("66063d1201daebea", false),
  buyWithBudget: patternsOf("c62e1552b4d9e870", false),
  sell: patternsOf("33e685a4017f83ad", true),
};

const EXTEND_ACCOUNT = new InstructionPattern<Address>({
  program: PUMP_SWAP_PROGRAM,
  rights: "w W rrr",
  accounts: (pool) => [pool, WALLET, SYSTEM_PROGRAM, PUMP_SWAP_EVENT_AUTHORITY, PUMP_SWAP_PROGRAM],
  data: () => hex("ea66c2cb96483ee5"),
});

/** Derives the fixed accounts of a pool's instructions. Cold path; the derivations are remembered. */
export function pumpSwapAccounts(pool: {
  readonly market: PumpSwapMarket;
  readonly tokenPrograms: readonly [Address, Address];
  readonly coinCreator: Address;
  readonly paysCreator: boolean;
  readonly cashback: boolean;
  readonly feeRecipients: readonly Address[];
  readonly buybackRecipients: readonly Address[];
}): PumpSwapAccounts {
  const { market, coinCreator, paysCreator, cashback } = pool;
  const [baseMint, quoteMint] = market.mints;
  const [, quoteProgram] = pool.tokenPrograms;
  const vault = pumpSwapCreatorVaultOf(coinCreator);
  const vaultQuote = associatedTokenAccount(vault.address, quoteMint, quoteProgram);
  const poolV2 = poolV2Of(baseMint);
  const feeRecipients = recipientsIn(pool.feeRecipients, quoteMint, quoteProgram);
  const buybackRecipients = recipientsIn(pool.buybackRecipients, quoteMint, quoteProgram);
  return {
    named: {
      market,
      tokenPrograms: pool.tokenPrograms,
      vaultQuote: vaultQuote.address,
      vault: vault.address,
      poolV2: poolV2.address,
    },
    paysCreator,
    cashback,
    feeRecipients,
    buybackRecipients,
    mostRecipientSteps: mostRecipientSteps(feeRecipients, buybackRecipients),
    vaultQuote,
    bumpSteps:
      3 * 255 - (vault.bump + vaultQuote.bump + poolAuthorityOf(baseMint).bump) + (paysCreator ? 255 - poolV2.bump : 0),
  };
}

interface PumpSwapCall {
  readonly instruction: Instruction;
  /** Steps the program's searches for derived addresses take beside those of the pool itself. */
  readonly bumpSteps: number;
  /** Steps that other recipients may take beyond these. */
  readonly spareSteps: number;
  /** The wallet's volume account and its token account for the quote mint. */
  readonly volume: DerivedAddress;
  readonly volumeQuote: DerivedAddress;
}

/** The first amount is the tokens (buy, sell) or the budget (buyWithBudget), the second the bound on the other side. */
export function pumpSwapCall(
  kind: PumpSwapInstruction,
  accounts: PumpSwapAccounts,
  amount: bigint,
  bound: bigint,
  terms: SwapTerms,
): PumpSwapCall {
  const fee = feeRecipientOf(accounts.feeRecipients, terms.salt, terms.wallet);
  const buyback = buybackRecipientOf(accounts.buybackRecipients, terms.salt, terms.wallet);
  const volume = pumpSwapUserVolumeOf(terms.wallet);
  const { market, tokenPrograms } = accounts.named;
  const volumeQuote = associatedTokenAccount(volume.address, market.mints[1], tokenPrograms[1]);
  const selling = kind === "sell";
  const own = [
    terms.wallet,
    terms.source,
    terms.destination,
    fee.wallet,
    fee.tokenAccount,
    buyback.wallet,
    buyback.tokenAccount,
  ];
  if (!selling || accounts.cashback) own.push(volume.address);
  if (accounts.cashback) own.push(volumeQuote.address);
  const chosen = PATTERNS[kind][placeOf(accounts)]!;
  return {
    instruction: new FilledInstruction(chosen, accounts.named, 0, own, amount, bound),
    bumpSteps:
      fee.bumpSteps +
      buyback.bumpSteps +
      (selling && !accounts.cashback ? 0 : 255 - volume.bump) +
      (accounts.cashback ? 255 - volumeQuote.bump : 0),
    spareSteps: accounts.mostRecipientSteps - fee.bumpSteps - buyback.bumpSteps,
    volume,
    volumeQuote,
  };
}

/** Brings a pool of an older layout to today's size, at the wallet's expense; anyone may. */
export function extendPool(pool: Address, wallet: Address): Instruction {
  return new FilledInstruction(EXTEND_ACCOUNT, pool, 0, [wallet]);
}
