import { hex } from "../../primitives/bytes.ts";
import type { DerivedAddress } from "../../solana/derived-address.ts";
import { FilledInstruction, type Instruction, InstructionPattern } from "../../solana/instruction.ts";
import { SYSTEM_PROGRAM } from "../../solana/programs.ts";
import { PUMP_FEE_PROGRAM } from "../shared/pump-fees.ts";
import { buybackRecipientOf, feeRecipientOf } from "../shared/pump-recipients.ts";
import type { SwapTerms } from "../venue.ts";
import type { PumpAccounts, PumpInstruction, PumpNamed } from "./instruction.ts";
import {
  PUMP_EVENT_AUTHORITY,
  PUMP_FEE_CONFIG,
  PUMP_GLOBAL,
  PUMP_GLOBAL_VOLUME,
  PUMP_PROGRAM,
  pumpUserVolumeOf,
} from "./layout.ts";

/** Numbers of the accounts that swaps bring; not all name the volume. */
const [WALLET, TOKENS, FEE_WALLET, BUYBACK_WALLET, VOLUME] = [0, 1, 2, 3, 4];

const start = ({ baseMint, curve, curveTokens }: PumpNamed) => [
  PUMP_GLOBAL,
  FEE_WALLET,
  baseMint,
  curve,
  curveTokens,
  TOKENS,
  WALLET,
  SYSTEM_PROGRAM,
];
const events = [PUMP_EVENT_AUTHORITY, PUMP_PROGRAM];
const fees = [PUMP_FEE_CONFIG, PUMP_FEE_PROGRAM];
const end = ({ secondCurve }: PumpNamed) => [secondCurve, BUYBACK_WALLET];

/** Purchases say that they count towards the wallet's volume, as those of today always do. */
const purchase = (discriminator: string) =>
  new InstructionPattern<PumpNamed>({
    program: PUMP_PROGRAM,
    rights: "r w r ww w W r r w rr r w rr r w",
    accounts: (coin) => [
      ...start(coin),
      coin.baseProgram,
      coin.vault,
      ...events,
      PUMP_GLOBAL_VOLUME,
      VOLUME,
      ...fees,
      ...end(coin),
    ],
    data: () => hex(`${discriminator.padEnd(48, "0")}01`),
    amountsAt: 8,
    amounts: 2,
  });

const sale = (namesVolume: boolean) =>
  new InstructionPattern<PumpNamed>({
    program: PUMP_PROGRAM,
    rights: `r w r ww w W r w r rr rr ${namesVolume ? "w" : ""} r w`,
    accounts: (coin) => [
      ...start(coin),
      coin.vault,
      coin.baseProgram,
      ...events,
      ...fees,
      ...(namesVolume ? [VOLUME] : []),
      ...end(coin),
    ],
    data: () => hex("33e685a4017f83ad".padEnd(48, "0")),
    amountsAt: 8,
    amounts: 2,
  });

/** @see pump-sdk IDL pump: buy, buy_exact_sol_in, sell */
const PATTERNS: Readonly<Record<PumpInstruction, InstructionPattern<PumpNamed>>> = {
  buy: purchase("66063d1201daebea"),
  buyWithBudget: purchase("38fc74089edfcd5f"),
  sell: sale(false),
};
const SELL_NAMING_VOLUME = sale(true);

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
  const selling = kind === "sell";
  const own = [terms.wallet, selling ? terms.source : terms.destination, fee.wallet, buyback.wallet];
  if (volume !== undefined) own.push(volume.address);
  const pattern = selling && namesVolume ? SELL_NAMING_VOLUME : PATTERNS[kind];
  return { instruction: new FilledInstruction(pattern, accounts.named, 0, own, amount, bound), volume };
}
