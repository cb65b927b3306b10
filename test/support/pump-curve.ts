import { Address } from "../../src/primitives/address.ts";
import { hex, readU64, writeU64 } from "../../src/primitives/bytes.ts";
import { ceilDiv } from "../../src/primitives/integer.ts";
import {
  BUYBACK_FEE_RECIPIENTS,
  FEE_PROGRAM,
  FEE_RECIPIENTS,
  MAYHEM_FEE_RECIPIENTS,
} from "../../src/sandbox/world/pump-fees.ts";
import { PUMP_PROGRAM } from "../../src/sandbox/world/pump-fun.ts";
import {
  type AccountMeta,
  type Instruction,
  readonly,
  writable,
  writableSigner,
} from "../../src/solana/instruction.ts";
import { associatedTokenAddress, derive } from "../../src/solana/pda.ts";
import { ASSOCIATED_TOKEN_PROGRAM, SOL_MINT, SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../../src/solana/programs.ts";
import type { Svm } from "./svm.ts";

const DISCRIMINATOR = {
  buy: hex("b817ee6167c5d33d"),
  buyExactQuoteIn: hex("c2ab1c46684d5b2f"),
  sell: hex("5df6823ce7e940b2"),
};

const OLDER_DISCRIMINATOR = {
  buy: hex("66063d1201daebea"),
  buyExactQuoteIn: hex("38fc74089edfcd5f"),
  sell: hex("33e685a4017f83ad"),
};

/** A curve as its account says. Amounts in base units. */
export interface Curve {
  readonly address: Address;
  readonly mint: Address;
  readonly baseProgram: Address;
  readonly native: boolean;
  readonly quote: Address;
  readonly virtualToken: bigint;
  readonly virtualQuote: bigint;
  readonly realToken: bigint;
  readonly realQuote: bigint;
  readonly totalSupply: bigint;
  readonly complete: boolean;
  readonly creator: Address;
  readonly mayhem: boolean;
  readonly cashback: boolean;
  readonly creatorFee: bigint;
}

export function readCurve(svm: Svm, mint: Address): Curve {
  const address = derive(PUMP_PROGRAM, "bonding-curve", mint);
  const { data } = svm.get(address)!;
  const quote = Address.from(data, 83);
  const native = quote === SYSTEM_PROGRAM;
  return {
    address,
    mint,
    baseProgram: svm.get(mint)!.owner,
    native,
    quote: native ? SOL_MINT : quote,
    virtualToken: readU64(data, 8),
    virtualQuote: readU64(data, 16),
    realToken: readU64(data, 24),
    realQuote: readU64(data, 32),
    totalSupply: readU64(data, 40),
    complete: data[48] === 1,
    creator: Address.from(data, 49),
    mayhem: data[81] === 1,
    cashback: data[82] === 1,
    creatorFee: readU64(data, 115),
  };
}

/** The accounts a trade pays into. */
export interface CurveAccounts {
  readonly feeRecipient: Address;
  readonly buyback: Address;
  readonly creatorVault: Address;
  readonly userVolume: Address;
}

export function curveAccounts(curve: Curve, user: Address, salt: number): CurveAccounts {
  return {
    feeRecipient: (curve.mayhem ? MAYHEM_FEE_RECIPIENTS : FEE_RECIPIENTS)[salt % 8]!,
    buyback: BUYBACK_FEE_RECIPIENTS[salt % 8]!,
    creatorVault: derive(PUMP_PROGRAM, "creator-vault", curve.creator),
    userVolume: derive(PUMP_PROGRAM, "user_volume_accumulator", user),
  };
}

/** A trade as raw numbers: (tokens, most quote), (quote, least tokens), (tokens, least quote). */
export interface CurveTrade {
  readonly kind: keyof typeof DISCRIMINATOR;
  readonly first: bigint;
  readonly second: bigint;
}

export function curveInstruction(curve: Curve, user: Address, trade: CurveTrade, salt: number): Instruction {
  const { feeRecipient, buyback, creatorVault, userVolume } = curveAccounts(curve, user, salt);
  const held = (owner: Address): AccountMeta => writable(associatedTokenAddress(owner, curve.quote, TOKEN_PROGRAM));
  const base = (owner: Address): AccountMeta => writable(associatedTokenAddress(owner, curve.mint, curve.baseProgram));
  const data = new Uint8Array(24);
  data.set(DISCRIMINATOR[trade.kind]);
  writeU64(data, 8, trade.first);
  writeU64(data, 16, trade.second);
  return {
    program: PUMP_PROGRAM,
    accounts: [
      readonly(derive(PUMP_PROGRAM, "global")),
      readonly(curve.mint),
      readonly(curve.quote),
      readonly(curve.baseProgram),
      readonly(TOKEN_PROGRAM),
      readonly(ASSOCIATED_TOKEN_PROGRAM),
      writable(feeRecipient),
      held(feeRecipient),
      writable(buyback),
      held(buyback),
      writable(curve.address),
      base(curve.address),
      held(curve.address),
      writableSigner(user),
      base(user),
      held(user),
      writable(creatorVault),
      held(creatorVault),
      readonly(derive(FEE_PROGRAM, "sharing-config", curve.mint)),
      ...(trade.kind === "sell" ? [] : [readonly(derive(PUMP_PROGRAM, "global_volume_accumulator"))]),
      writable(userVolume),
      held(userVolume),
      readonly(derive(FEE_PROGRAM, "fee_config", PUMP_PROGRAM)),
      readonly(FEE_PROGRAM),
      readonly(SYSTEM_PROGRAM),
      readonly(derive(PUMP_PROGRAM, "__event_authority")),
      readonly(PUMP_PROGRAM),
    ],
    data,
  };
}

export interface CurveRates {
  readonly protocol: bigint;
  readonly creator: bigint;
}

/** What moves the curve, and the fees on it. */
export interface CurveParts extends CurveRates {
  readonly net: bigint;
}

const BPS = 10_000n;
const feeOf = (amount: bigint, rate: bigint): bigint => ceilDiv(amount * rate, BPS);

export function partsOf(net: bigint, rates: CurveRates): CurveParts {
  return { net, protocol: feeOf(net, rates.protocol), creator: feeOf(net, rates.creator) };
}

/** The same trade by an older instruction: the coin is priced in SOL. */
export function olderCurveInstruction(
  curve: Curve,
  user: Address,
  { kind, first, second }: CurveTrade,
  salt: number,
): Instruction {
  const { feeRecipient, buyback, creatorVault, userVolume } = curveAccounts(curve, user, salt);
  const base = (owner: Address): AccountMeta => writable(associatedTokenAddress(owner, curve.mint, curve.baseProgram));
  const selling = kind === "sell";
  const data = new Uint8Array(selling ? 24 : 25);
  data.set(OLDER_DISCRIMINATOR[kind]);
  writeU64(data, 8, first);
  writeU64(data, 16, second);
  if (!selling) data[24] = 1;
  const between = [writable(creatorVault), readonly(curve.baseProgram)];
  return {
    program: PUMP_PROGRAM,
    accounts: [
      readonly(derive(PUMP_PROGRAM, "global")),
      writable(feeRecipient),
      readonly(curve.mint),
      writable(curve.address),
      base(curve.address),
      base(user),
      writableSigner(user),
      readonly(SYSTEM_PROGRAM),
      ...(selling ? between : between.toReversed()),
      readonly(derive(PUMP_PROGRAM, "__event_authority")),
      readonly(PUMP_PROGRAM),
      ...(selling ? [] : [readonly(derive(PUMP_PROGRAM, "global_volume_accumulator")), writable(userVolume)]),
      readonly(derive(FEE_PROGRAM, "fee_config", PUMP_PROGRAM)),
      readonly(FEE_PROGRAM),
      ...(selling && curve.cashback ? [writable(userVolume)] : []),
      readonly(derive(PUMP_PROGRAM, "bonding-curve-v2", curve.mint)),
      writable(buyback),
    ],
    data,
  };
}

export const costOf = (curve: Curve, tokens: bigint): bigint =>
  (tokens * curve.virtualQuote) / (curve.virtualToken - tokens) + 1n;

export const worthOf = (curve: Curve, tokens: bigint): bigint =>
  (tokens * curve.virtualQuote) / (curve.virtualToken + tokens);

/** The published formula of exact-quote buys, step by step. @see pump idl, `buy_exact_sol_in` */
export function boughtFor(
  curve: Curve,
  budget: bigint,
  rates: CurveRates,
): { readonly tokens: bigint; readonly parts: CurveParts } | undefined {
  let net = (budget * BPS) / (BPS + rates.protocol + rates.creator);
  const fees = partsOf(net, rates);
  const total = net + fees.protocol + fees.creator;
  if (total > budget) net -= total - budget;
  if (net <= 0n) return undefined;
  const tokens = ((net - 1n) * curve.virtualToken) / (curve.virtualQuote + net - 1n);
  return tokens <= curve.realToken ? { tokens, parts: { ...fees, net } } : undefined;
}
