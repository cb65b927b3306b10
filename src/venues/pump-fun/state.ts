import type { Address } from "../../primitives/address.ts";
import type { AccountView } from "../../solana/account.ts";
import { decodeOnce, decodeOnceFor } from "../../solana/decode-once.ts";
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import { TOKEN_ACCOUNT_SIZE } from "../../solana/token/token-account.ts";
import type { PumpSide } from "../curves/pump.ts";
import { extensionCount } from "../shared/mint-extensions.ts";
import { feeTierUnits } from "../shared/pump-costs.ts";
import { decodePumpFeeConfig, pumpFeesFor } from "../shared/pump-fees.ts";
import { payableRecipients, uncertainAccounts } from "../shared/pump-recipients.ts";
import { degraded } from "../shared/refusals.ts";
import { requireAccount, requireMint } from "../shared/required.ts";
import { type PumpAccounts, type PumpInstruction, pumpAccounts } from "./instruction.ts";
import {
  type BondingCurve,
  bondingCurveOf,
  countShareholders,
  decodeBondingCurve,
  decodePumpGlobal,
  PUMP_FEE_CONFIG,
  PUMP_GLOBAL,
  type PumpFunMarket,
  type PumpGlobal,
  sharingConfigOf,
} from "./layout.ts";
import { olderUnitsOf, quoteCreationUnitsOf, unitsOf } from "./units.ts";

/** What a curve prices and swaps with. */
export interface PumpFunState {
  readonly market: PumpFunMarket;
  readonly curve: BondingCurve;
  /** Bytes of the curve's account, and its lamports without those that trades and their fees have left there. */
  readonly size: number;
  readonly rentHeld: bigint;
  /** Bytes to which a trade enlarges the account if it is shorter. */
  readonly fullSize: number;
  /** The coin, and the quote token if it is not SOL. */
  readonly mints: readonly Mint[];
  readonly side: PumpSide;
  /** The fees of the same coin with other reserves; undefined if no schedule applies. */
  readonly feesAt: (tokens: bigint, quote: bigint) => PumpSide["fees"] | undefined;
  /** With those recipients of fees alone that a trade can pay. */
  readonly accounts: PumpAccounts;
  /** True if there are none of them: nothing can be traded. */
  readonly lacksRecipients: boolean;
  /** Without the searches for derived addresses, and without creations. */
  readonly computeUnits: Readonly<Record<PumpInstruction, number>>;
  /** The same of the older instructions. */
  readonly olderUnits: Readonly<Record<PumpInstruction, number>>;
  /** Bytes of an associated token account of the quote mint, and compute units of its creation. */
  readonly quoteAccountSize: number;
  readonly quoteCreationUnits: number;
}

const pumpGlobalIn = decodeOnce(decodePumpGlobal);
const feeConfigIn = decodeOnce(decodePumpFeeConfig);

const accountsOf = decodeOnceFor(
  (
    { address, mints: [baseMint, quoteMint] }: PumpFunMarket,
    baseProgram: Address,
    quoteProgram: Address,
    creator: Address,
    feeRecipients: readonly Address[],
    buybackRecipients: readonly Address[],
  ) => {
    const curveBump = bondingCurveOf(baseMint).bump;
    const programs = { baseProgram, quoteProgram };
    const recipients = { feeRecipients, buybackRecipients };
    return pumpAccounts({ curve: address, curveBump, baseMint, quoteMint, creator, ...programs, ...recipients });
  },
);

/** Who may take the fees of a curve, and who may buy back. */
const recipientsOf = ({ mayhem }: BondingCurve, global: PumpGlobal) =>
  [mayhem ? global.mayhemFeeRecipients : global.feeRecipients, global.buybackFeeRecipients] as const;

/** The token accounts of a coin's fee recipients, which may not exist; empty until the accounts that name the recipients are read. */
export function recipientAccountsOf({ address, mints }: PumpFunMarket, have: AccountView): readonly Address[] {
  const [own, settings, quote] = [have.get(address), have.get(PUMP_GLOBAL), have.get(mints[1])];
  const curve = own ? decodeBondingCurve(own) : undefined;
  const global = settings ? pumpGlobalIn(settings) : undefined;
  if (curve === undefined || global === undefined || !quote) return [];
  return uncertainAccounts(recipientsOf(curve, global).flat(), mints[1], quote.owner);
}

/** What a curve prices and swaps with, from its accounts. @throws TradewireError if one is missing or of an unknown layout */
export function readState(market: PumpFunMarket, have: AccountView): PumpFunState {
  const account = requireAccount(have, market.address, "pump_fun", "bonding curve");
  const curve = decodeBondingCurve(account);
  const global = pumpGlobalIn(requireAccount(have, PUMP_GLOBAL, "pump_fun", "settings account"));
  const config = feeConfigIn(requireAccount(have, PUMP_FEE_CONFIG, "pump_fun", "fee configuration"));
  if (curve === undefined || global === undefined || config === undefined) {
    throw degraded("pump_fun", `the accounts of ${market.address} do not have the known layout`);
  }
  const [baseMint, quoteMint] = market.mints;
  const base = requireMint(have, baseMint, "pump_fun");
  const quoteToken = market.nativeSol ? undefined : requireMint(have, quoteMint, "pump_fun");
  const quoteProgram = quoteToken?.program ?? TOKEN_PROGRAM;
  // The mint of wrapped SOL has none, and is not among what a coin priced in lamports needs.
  const extensions = [extensionCount(have, baseMint), market.nativeSol ? 0 : extensionCount(have, quoteMint)] as const;
  const recipients = recipientsOf(curve, global);
  if (recipients.some(({ length }) => length === 0)) {
    throw degraded("pump_fun", "the settings account names no fee recipients");
  }
  const supply = curve.mayhem ? curve.tokenTotalSupply : base.supply;
  const ownRate = global.creatorFeeConfigurable && curve.creatorFeeBps !== 0n;
  const feesAt: PumpFunState["feesAt"] = (tokens, reserve) => {
    const fees = pumpFeesFor(config, quoteMint, tokens === 0n ? 0n : (reserve * supply) / tokens);
    if (fees === undefined) return undefined;
    const creator = curve.creator === SYSTEM_PROGRAM ? 0n : ownRate ? curve.creatorFeeBps : fees.creator;
    return { lp: 0n, protocol: fees.protocol, creator };
  };
  const fees = feesAt(curve.virtualTokens, curve.virtualQuote);
  if (fees === undefined) {
    throw degraded("pump_fun", `no fee schedule for coins priced in ${quoteMint}`);
  }
  const tierUnits = feeTierUnits(config);
  const sharing = have.get(sharingConfigOf(baseMint).address);
  const listed = accountsOf(market, base.program, quoteProgram, curve.creator, ...recipients);
  const feeRecipients = payableRecipients(listed.feeRecipients, quoteMint, have);
  const buybackRecipients = payableRecipients(listed.buybackRecipients, quoteMint, have);
  return {
    market,
    curve,
    size: account.data.length,
    rentHeld: account.lamports - (market.nativeSol ? curve.realQuote + curve.owedFees : 0n),
    fullSize: global.curveSize,
    mints: quoteToken === undefined ? [base] : [base, quoteToken],
    side: { tokens: curve.virtualTokens, quote: curve.virtualQuote, fees },
    feesAt,
    computeUnits: unitsOf({
      base,
      quoteToken,
      extensions,
      tierUnits,
      shareholders: sharing ? countShareholders(sharing) : undefined,
    }),
    olderUnits: olderUnitsOf(base, extensions[0], tierUnits),
    quoteAccountSize: quoteToken?.accountSize ?? TOKEN_ACCOUNT_SIZE,
    quoteCreationUnits: quoteCreationUnitsOf(quoteToken, extensions[1]),
    accounts: feeRecipients === listed.feeRecipients ? listed : { ...listed, feeRecipients, buybackRecipients },
    lacksRecipients: feeRecipients.length === 0 || buybackRecipients.length === 0,
  };
}
