import type { Address } from "../../primitives/address.ts";
import { hex, pooledBytes, writeU64 } from "../../primitives/bytes.ts";
import { associatedTokenAccount, type DerivedAddress } from "../../solana/derived-address.ts";
import { type AccountMeta, type Instruction, readonly, writable, writableSigner } from "../../solana/instruction.ts";
import { ASSOCIATED_TOKEN_PROGRAM, SYSTEM_PROGRAM } from "../../solana/programs.ts";
import { PUMP_FEE_PROGRAM } from "../shared/pump-fees.ts";
import { buybackRecipientOf, feeRecipientOf } from "../shared/pump-recipients.ts";
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

const DISCRIMINATORS: Readonly<Record<PumpSwapInstruction, Uint8Array>> = {
  buy: hex("66063d1201daebea"),
  buyWithBudget: hex("c62e1552b4d9e870"),
  sell: hex("33e685a4017f83ad"),
};
const EXTEND_ACCOUNT = hex("ea66c2cb96483ee5");

interface PumpSwapRecipient {
  readonly wallet: AccountMeta;
  readonly tokenAccount: AccountMeta;
  readonly bumpSteps: number;
}

/** Everything of a pool's instructions that no wallet and no amount changes. Derived when the market is read. */
export interface PumpSwapAccounts {
  readonly pool: AccountMeta;
  readonly quoteMint: Address;
  readonly quoteProgram: Address;
  readonly cashback: boolean;
  readonly feeRecipients: readonly PumpSwapRecipient[];
  readonly buybackRecipients: readonly PumpSwapRecipient[];
  readonly head: readonly AccountMeta[];
  readonly vaults: readonly AccountMeta[];
  readonly middle: readonly AccountMeta[];
  /** The account named if the creator takes a fee; else empty. */
  readonly poolV2: readonly AccountMeta[];
  /** The token account for the quote mint where the creator's fees gather. */
  readonly vaultQuote: DerivedAddress;
  /** Steps of the program's searches for the addresses of the pool. */
  readonly bumpSteps: number;
}

const global = readonly(PUMP_SWAP_GLOBAL);
const globalVolume = readonly(PUMP_SWAP_GLOBAL_VOLUME);
const systemProgram = readonly(SYSTEM_PROGRAM);
const eventAuthority = readonly(PUMP_SWAP_EVENT_AUTHORITY);
const program = readonly(PUMP_SWAP_PROGRAM);
const feeConfig = readonly(PUMP_SWAP_FEE_CONFIG);
const feeProgram = readonly(PUMP_FEE_PROGRAM);

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
  const [baseProgram, quoteProgram] = pool.tokenPrograms;
  const recipient =
    (meta: (address: Address) => AccountMeta) =>
    (wallet: Address): PumpSwapRecipient => {
      const { address, bump } = associatedTokenAccount(wallet, quoteMint, quoteProgram);
      return { wallet: meta(wallet), tokenAccount: writable(address), bumpSteps: 255 - bump };
    };
  const vault = pumpSwapCreatorVaultOf(coinCreator);
  const vaultQuote = associatedTokenAccount(vault.address, quoteMint, quoteProgram);
  const poolV2 = poolV2Of(baseMint);
  return {
    pool: writable(market.address),
    quoteMint,
    quoteProgram,
    cashback,
    feeRecipients: pool.feeRecipients.map(recipient(readonly)),
    buybackRecipients: pool.buybackRecipients.map(recipient(readonly)),
    head: [global, readonly(baseMint), readonly(quoteMint)],
    vaults: [writable(market.vaults[0]), writable(market.vaults[1])],
    middle: [
      readonly(baseProgram),
      readonly(quoteProgram),
      systemProgram,
      readonly(ASSOCIATED_TOKEN_PROGRAM),
      eventAuthority,
      program,
      writable(vaultQuote.address),
      readonly(vault.address),
    ],
    poolV2: paysCreator ? [readonly(poolV2.address)] : [],
    vaultQuote,
    bumpSteps:
      3 * 255 - (vault.bump + vaultQuote.bump + poolAuthorityOf(baseMint).bump) + (paysCreator ? 255 - poolV2.bump : 0),
  };
}

interface PumpSwapCall {
  readonly instruction: Instruction;
  /** Steps the program's searches for derived addresses take beside those of the pool itself. */
  readonly bumpSteps: number;
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
  const volumeQuote = associatedTokenAccount(volume.address, accounts.quoteMint, accounts.quoteProgram);
  const selling = kind === "sell";
  const data = pooledBytes(selling ? 24 : 25);
  data.set(DISCRIMINATORS[kind]);
  writeU64(data, 8, amount);
  writeU64(data, 16, bound);
  if (!selling) data[24] = TRACK_VOLUME;
  const cashback = accounts.cashback
    ? selling
      ? [writable(volumeQuote.address), writable(volume.address)]
      : [writable(volumeQuote.address)]
    : NO_ACCOUNTS;
  return {
    instruction: {
      program: PUMP_SWAP_PROGRAM,
      accounts: [
        accounts.pool,
        writableSigner(terms.wallet),
        ...accounts.head,
        writable(selling ? terms.source : terms.destination),
        writable(selling ? terms.destination : terms.source),
        ...accounts.vaults,
        fee.wallet,
        fee.tokenAccount,
        ...accounts.middle,
        ...(selling ? NO_ACCOUNTS : [globalVolume, writable(volume.address)]),
        feeConfig,
        feeProgram,
        ...cashback,
        ...accounts.poolV2,
        buyback.wallet,
        buyback.tokenAccount,
      ],
      data,
    },
    bumpSteps:
      fee.bumpSteps +
      buyback.bumpSteps +
      (selling && !accounts.cashback ? 0 : 255 - volume.bump) +
      (accounts.cashback ? 255 - volumeQuote.bump : 0),
    volume,
    volumeQuote,
  };
}

const TRACK_VOLUME = 1;
const NO_ACCOUNTS: readonly AccountMeta[] = [];

/** Brings a pool of an older layout to today's size, at the wallet's expense; anyone may. */
export function extendPool(pool: Address, wallet: Address): Instruction {
  return {
    program: PUMP_SWAP_PROGRAM,
    accounts: [writable(pool), writableSigner(wallet), systemProgram, eventAuthority, program],
    data: EXTEND_ACCOUNT,
  };
}
