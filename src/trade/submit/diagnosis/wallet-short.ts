import type { SlotScale } from "./chances.ts";
import type { Observations } from "./observations.ts";

/** The first read must fall within this first part of the time in which it could land: the balance before the read is unknown. */
const KNOWN_FROM = 1 / 2;

/**
 * True if a transaction expired while its wallet held too little for the fees at every read, starting early. No leader puts such a
 * transaction into a block. A wallet that can pay the fees but not the trade fails in a block instead.
 *
 * @see agave validate_fee_payer: a payer must be left with nothing, or with what exempts an empty account from rent
 */
export function isWalletShort(seen: Observations, { end }: SlotScale): boolean {
  const { balances, started, landedSlot } = seen;
  const [first] = balances;
  if (landedSlot !== undefined || started === undefined || first === undefined) return false;
  if (Number(first.slot - started.slot) > end * KNOWN_FROM) return false;
  return balances.every(({ lamports }) => cannotPay(lamports, seen));
}

function cannotPay(lamports: bigint, { feeLamports, leastLamports = 0n }: Observations): boolean {
  const left = lamports - feeLamports;
  return left < 0n || (left > 0n && left < leastLamports);
}
