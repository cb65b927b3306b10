import { hex, pooledBytes, writeU64 } from "../../primitives/bytes.ts";
import type { DerivedAddress } from "../../solana/derived-address.ts";
import { type AccountMeta, type Instruction, readonly, writable, writableSigner } from "../../solana/instruction.ts";
import { SYSTEM_PROGRAM } from "../../solana/programs.ts";
import { PUMP_FEE_PROGRAM } from "../shared/pump-fees.ts";
import { buybackRecipientOf, feeRecipientOf } from "../shared/pump-recipients.ts";
import type { SwapTerms } from "../venue.ts";
import type { PumpAccounts, PumpInstruction } from "./instruction.ts";
import {
  PUMP_EVENT_AUTHORITY,
  PUMP_FEE_CONFIG,
  PUMP_GLOBAL,
  PUMP_GLOBAL_VOLUME,
  PUMP_PROGRAM,
  pumpUserVolumeOf,
} from "./layout.ts";

/** @see pump-sdk IDL pump: buy, buy_exact_sol_in, sell */
const DISCRIMINATORS: Readonly<Record<PumpInstruction, Uint8Array>> = {
  buy: hex("66063d1201daebea"),
  buyWithBudget: hex("38fc74089edfcd5f"),
  sell: hex("33e685a4017f83ad"),
};

const settings = readonly(PUMP_GLOBAL);
const systemProgram = readonly(SYSTEM_PROGRAM);
const events: readonly AccountMeta[] = [readonly(PUMP_EVENT_AUTHORITY), readonly(PUMP_PROGRAM)];
const globalVolume = readonly(PUMP_GLOBAL_VOLUME);
const fees: readonly AccountMeta[] = [readonly(PUMP_FEE_CONFIG), readonly(PUMP_FEE_PROGRAM)];

interface OlderPumpSwap {
  readonly kind: PumpInstruction;
  readonly accounts: PumpAccounts;
  readonly amount: bigint;
  readonly bound: bigint;
  /** True to name the wallet's volume record: buys do, and sales of coins with cashback. */
  readonly namesVolume: boolean;
}

/**
 * The same trade by the program's older instructions, for coins priced in SOL: 16 to 18 accounts instead of 26 or 27. The program
 * insists on two more than the IDL lists, at the end: the coin's second curve account and a buyback recipient.
 */
export function olderPumpSwap(
  { kind, accounts, amount, bound, namesVolume }: OlderPumpSwap,
  terms: SwapTerms,
): {
  readonly instruction: Instruction;
  /** The wallet's volume account, if the instruction names it. */
  readonly volume: DerivedAddress | undefined;
} {
  const fee = feeRecipientOf(accounts.feeRecipients, terms.salt, terms.wallet);
  const buyback = buybackRecipientOf(accounts.buybackRecipients, terms.salt, terms.wallet);
  const volume = namesVolume ? pumpUserVolumeOf(terms.wallet) : undefined;
  const named = volume === undefined ? [] : [writable(volume.address)];
  const selling = kind === "sell";
  const { mint, tokenProgram, curve, curveTokens, vault } = accounts.older;
  const start = [settings, fee.wallet, mint, curve, curveTokens];
  const end = [accounts.older.secondCurve, buyback.wallet];
  const user = writableSigner(terms.wallet);
  return {
    instruction: {
      program: PUMP_PROGRAM,
      accounts: selling
        ? [
            ...start,
            writable(terms.source),
            user,
            systemProgram,
            vault,
            tokenProgram,
            ...events,
            ...fees,
            ...named,
            ...end,
          ]
        : [
            ...start,
            writable(terms.destination),
            user,
            systemProgram,
            tokenProgram,
            vault,
            ...events,
            globalVolume,
            ...named,
            ...fees,
            ...end,
          ],
      data: dataOf(kind, amount, bound),
    },
    volume,
  };
}

/** Purchases say that they count towards the wallet's volume, as those of today always do. */
function dataOf(kind: PumpInstruction, amount: bigint, bound: bigint): Uint8Array {
  const data = pooledBytes(kind === "sell" ? 24 : 25);
  data.set(DISCRIMINATORS[kind]);
  writeU64(data, 8, amount);
  writeU64(data, 16, bound);
  if (kind !== "sell") data[24] = 1;
  return data;
}
