import { TradewireError } from "../../errors/tradewire-error.ts";
import type { Markets } from "../../market/port.ts";
import { formatAmount, SOL_DECIMALS } from "../../primitives/amount.ts";
import { isTokenAccount, tokenBalance } from "../../solana/token-account.ts";
import type { Intent } from "../intent.ts";
import type { Route } from "../quote/route.ts";
import type { Costs } from "../trade.ts";
import type { Assembly, WalletAccounts } from "./assembly.ts";

interface BalanceCheck {
  readonly intent: Intent;
  readonly route: Route;
  readonly accounts: WalletAccounts;
  readonly assembly: Assembly;
  readonly costs: Costs;
  readonly markets: Pick<Markets, "account">;
  /** Lamports a bare system account must keep. */
  readonly rentExemption: bigint;
}

/** Whether the wallet, where its balances are known, can pay for the trade; the error that says what is missing otherwise. */
export function checkBalances(check: BalanceCheck): TradewireError | undefined {
  return checkTokens(check) ?? checkLamports(check);
}

function checkTokens({ intent, route, accounts, markets }: BalanceCheck): TradewireError | undefined {
  if (accounts.source === undefined) return undefined;
  const account = markets.account(accounts.source.address);
  if (account === undefined) return undefined;
  const held = account === null || !isTokenAccount(account) ? 0n : tokenBalance(account);
  if (held >= route.inAmount) return undefined;
  const { decimals, address } = intent.inMint;
  return new TradewireError(
    "INSUFFICIENT_TOKEN_BALANCE",
    `The wallet holds ${formatAmount(held, decimals)} of ${address}; the trade needs ${formatAmount(route.inAmount, decimals)}.`,
    { details: { heldRaw: held.toString(), neededRaw: route.inAmount.toString() } },
  );
}

function checkLamports({
  intent,
  route,
  accounts,
  assembly,
  costs,
  markets,
  rentExemption,
}: BalanceCheck): TradewireError | undefined {
  const account = markets.account(accounts.wallet);
  if (account === undefined) return undefined;
  const held = account?.lamports ?? 0n;
  const given = accounts.source !== undefined ? 0n : intent.mode === "exactIn" ? route.inAmount : route.threshold;
  const needed = given + costs.baseFee + costs.priorityFee + costs.tip + costs.rentPaid + assembly.passingRent;
  if (held === needed || held >= needed + rentExemption) return undefined;
  return new TradewireError(
    "INSUFFICIENT_SOL",
    `The wallet holds ${formatAmount(held, SOL_DECIMALS)} SOL; the trade needs ${formatAmount(needed, SOL_DECIMALS)} with fees and rent, and ${formatAmount(rentExemption, SOL_DECIMALS)} must stay.`,
    { details: { heldLamports: held.toString(), neededLamports: (needed + rentExemption).toString() } },
  );
}
