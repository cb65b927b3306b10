import type { Address } from "../../primitives/address.ts";
import type { AccountView } from "../../solana/account.ts";
import { decodeOnce, decodeOnceFor } from "../../solana/decode-once.ts";
import { SYSTEM_PROGRAM } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import type { PumpSide } from "../curves/pump.ts";
import { feeTierUnits } from "../shared/pump-costs.ts";
import { decodePumpFeeConfig, pumpFeesFor } from "../shared/pump-fees.ts";
import { payableRecipients, uncertainAccounts } from "../shared/pump-recipients.ts";
import { degraded } from "../shared/refusals.ts";
import { requireAccount, requireMint } from "../shared/required.ts";
import { requireReserves } from "../shared/reserves.ts";
import { type PumpSwapAccounts, type PumpSwapInstruction, pumpSwapAccounts } from "./instruction.ts";
import {
  decodePumpPool,
  decodePumpSwapGlobal,
  isPumpSwapPool,
  PUMP_SWAP_FEE_CONFIG,
  PUMP_SWAP_GLOBAL,
  type PumpPool,
  type PumpSwapGlobal,
  type PumpSwapMarket,
  poolAuthorityOf,
} from "./layout.ts";
import { quoteCreationUnitsOf, unitsOf } from "./units.ts";

/** What a pool prices and swaps with. */
export interface PumpSwapState {
  readonly market: PumpSwapMarket;
  readonly pool: PumpPool;
  readonly global: PumpSwapGlobal;
  /** Base, then quote. */
  readonly mints: readonly [Mint, Mint];
  readonly side: PumpSide;
  /** The fees of the same pool with other reserves; undefined if no schedule applies. */
  readonly feesAt: (tokens: bigint, quote: bigint) => PumpSide["fees"] | undefined;
  /** The part of the quote vault that can be paid out. */
  readonly payable: bigint;
  /** With those recipients of fees alone that a trade can pay. */
  readonly accounts: PumpSwapAccounts;
  /** True if there are none of them: nothing can be traded. */
  readonly lacksRecipients: boolean;
  /** Without account creations and address searches that depend on the wallet and the recipients. */
  readonly computeUnits: Readonly<Record<PumpSwapInstruction, number>>;
  /** Bytes of an associated token account of the quote mint, and compute units of its creation. */
  readonly quoteAccountSize: number;
  readonly quoteCreationUnits: number;
}

/** The supply by which the market capitalisation of a mayhem coin is computed. */
const MAYHEM_SUPPLY = 1_000_000_000_000_000n;

const pumpSwapGlobalIn = decodeOnce(decodePumpSwapGlobal);
const feeConfigIn = decodeOnce(decodePumpFeeConfig);

const accountsOf = decodeOnceFor(
  (
    market: PumpSwapMarket,
    baseProgram: Address,
    quoteProgram: Address,
    coinCreator: Address,
    paysCreator: boolean,
    cashback: boolean,
    feeRecipients: readonly Address[],
    buybackRecipients: readonly Address[],
  ) => {
    const tokenPrograms = [baseProgram, quoteProgram] as const;
    const creator = { coinCreator, paysCreator, cashback };
    return pumpSwapAccounts({ market, tokenPrograms, ...creator, feeRecipients, buybackRecipients });
  },
);

/** Who may take the fees of a pool, and who may buy back. */
const recipientsOf = ({ mayhem }: PumpPool, global: PumpSwapGlobal) =>
  [mayhem ? global.mayhemFeeRecipients : global.feeRecipients, global.buybackFeeRecipients] as const;

/** The token accounts of a pool's recipients of fees that may not exist; none before its settings are read. */
export function recipientAccountsOf(
  { mints }: PumpSwapMarket,
  pool: PumpPool,
  quoteProgram: Address,
  have: AccountView,
): readonly Address[] {
  const account = have.get(PUMP_SWAP_GLOBAL);
  const global = account ? pumpSwapGlobalIn(account) : undefined;
  return global === undefined ? [] : uncertainAccounts(recipientsOf(pool, global).flat(), mints[1], quoteProgram);
}

/** What a pool prices and swaps with, from its accounts. @throws TradewireError if one is missing or of an unknown layout */
export function readState(market: PumpSwapMarket, have: AccountView): PumpSwapState {
  const account = requireAccount(have, market.address, "pump_swap", "pool");
  const global = pumpSwapGlobalIn(requireAccount(have, PUMP_SWAP_GLOBAL, "pump_swap", "settings account"));
  const config = feeConfigIn(requireAccount(have, PUMP_SWAP_FEE_CONFIG, "pump_swap", "fee configuration"));
  if (!isPumpSwapPool(account) || global === undefined || config === undefined) {
    throw degraded("pump_swap", `the accounts of ${market.address} do not have the known layout`);
  }
  const pool = decodePumpPool(account);
  const [baseMint, quoteMint] = market.mints;
  const mints = [requireMint(have, baseMint, "pump_swap"), requireMint(have, quoteMint, "pump_swap")] as const;
  const [tokens, vault] = requireReserves(have, market, market.vaults);
  const effective = vault + pool.virtualQuote;
  const recipients = recipientsOf(pool, global);
  if (recipients.some(({ length }) => length === 0)) {
    throw degraded("pump_swap", "the settings account names no fee recipients");
  }
  const supply = pool.mayhem ? MAYHEM_SUPPLY : mints[0].supply;
  const canonical = market.creator === poolAuthorityOf(baseMint).address;
  const ownRate = global.creatorFeeConfigurable && pool.creatorFeeBps !== 0n;
  const feesAt: PumpSwapState["feesAt"] = (base, reserve) => {
    const marketCap = base === 0n || reserve <= 0n ? 0n : (reserve * supply) / base;
    const found = canonical ? pumpFeesFor(config, quoteMint, marketCap) : config.flat;
    if (found === undefined) return undefined;
    const creator = pool.coinCreator === SYSTEM_PROGRAM ? 0n : ownRate ? pool.creatorFeeBps : found.creator;
    return { lp: found.lp, protocol: found.protocol, creator };
  };
  const fees = feesAt(tokens, effective);
  if (fees === undefined) {
    throw degraded("pump_swap", `no fee schedule for coins priced in ${quoteMint}`);
  }
  // To the program, a creator whose rate is zero is none, and gives no cashback.
  const paysCreator = fees.creator > 0n;
  const cashback = paysCreator && pool.cashback;
  const programs = [mints[0].program, mints[1].program] as const;
  const listed = accountsOf(market, ...programs, pool.coinCreator, paysCreator, cashback, ...recipients);
  // Nothing is read from it: a swap asks whether it exists, so it has to be known.
  have.get(listed.vaultQuote.address);
  const feeRecipients = payableRecipients(listed.feeRecipients, quoteMint, have);
  const buybackRecipients = payableRecipients(listed.buybackRecipients, quoteMint, have);
  const paying = cashback === pool.cashback ? pool : { ...pool, cashback };
  const extensions = [mints[0].extensions, mints[1].extensions] as const;
  return {
    market,
    pool: paying,
    global,
    mints,
    side: { tokens, quote: effective, fees },
    feesAt,
    payable: vault - pool.owedFees,
    accounts: feeRecipients === listed.feeRecipients ? listed : { ...listed, feeRecipients, buybackRecipients },
    lacksRecipients: feeRecipients.length === 0 || buybackRecipients.length === 0,
    computeUnits: unitsOf(paying, mints, extensions, listed.bumpSteps, feeTierUnits(config)),
    quoteAccountSize: mints[1].accountSize,
    quoteCreationUnits: quoteCreationUnitsOf(mints[1], extensions[1]),
  };
}
