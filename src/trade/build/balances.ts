import type { ChainHead } from "../../chain/port.ts";
import { TradewireError } from "../../errors/tradewire-error.ts";
import type { Markets } from "../../market/port.ts";
import type { Address } from "../../primitives/address.ts";
import { formatAmount, SOL_DECIMALS } from "../../primitives/amount.ts";
import { viewOf } from "../../primitives/bytes.ts";
import { maxOf } from "../../primitives/integer.ts";
import type { Account } from "../../solana/account.ts";
import { SYSTEM_PROGRAM } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import { isTokenAccount, tokenBalance } from "../../solana/token/token-account.ts";
import type { Intent } from "../intent.ts";
import type { Route } from "../quote/route.ts";
import type { Costs } from "../trade.ts";
import { type BudgetSettings, mostPriorityFee } from "./budget.ts";
import type { Assembly } from "./parts/assembled.ts";
import { type AccountFault, payingFault, receivingFault, type WalletAccounts } from "./wallet-accounts.ts";

/** The wallet that trades. */
interface Trader {
  readonly intent: Intent;
  readonly accounts: WalletAccounts;
}

/** What the trade moves, and what it costs beside that. */
interface Spending {
  readonly route: Route;
  readonly assembly: Assembly;
  readonly costs: Costs;
  /** Micro-lamports per compute unit. */
  readonly unitPrice: bigint;
}

/** What checking balances reads. */
interface BalancePorts {
  readonly markets: Pick<Markets, "account">;
  readonly head: Pick<ChainHead, "rentExemption">;
  readonly settings: Pick<BudgetSettings, "computeUnitMarginPercent">;
}

/** What a wallet lacks for a trade. Tokens in base units of their mint, SOL in lamports. */
export type Shortfall =
  /** The wallet cannot use its own account of a mint. */
  | { readonly kind: "account"; readonly mint: Mint; readonly fault: AccountFault }
  /** The wallet belongs to a program or holds data: it cannot pay for the trade. */
  | { readonly kind: "payer"; readonly wallet: Address }
  | { readonly kind: "token"; readonly mint: Mint; readonly held: bigint; readonly needed: bigint }
  /**
   * `needed` is enough for any build of the trade. `rent` must stay in the wallet's account beside it; 0 if what the trade returns leaves
   * more than that.
   */
  | {
      readonly kind: "sol";
      readonly wallet: Address;
      readonly held: bigint;
      readonly needed: bigint;
      readonly rent: bigint;
    };

/** What the wallet lacks to pay for the trade, as far as its balances are known. */
export function shortfallOf(trader: Trader, spending: Spending, ports: BalancePorts): Shortfall | undefined {
  const { route } = spending;
  return (
    sourceShortfall(trader, route, ports) ??
    destinationShortfall(trader, route, ports) ??
    payerShortfall(trader, spending, ports)
  );
}

function sourceShortfall({ intent, accounts }: Trader, route: Route, { markets }: BalancePorts): Shortfall | undefined {
  if (accounts.source === undefined) return undefined;
  const account = markets.account(accounts.source.address);
  if (account === undefined) return undefined;
  const mint = intent.inMint;
  const fault = payingFault(account, accounts.wallet);
  if (fault !== undefined) return { kind: "account", mint, fault };
  const held = account === null || !isTokenAccount(account) ? 0n : tokenBalance(account);
  return held >= route.inAmount ? undefined : { kind: "token", mint, held, needed: route.inAmount };
}

function destinationShortfall(
  { intent, accounts }: Trader,
  route: Route,
  { markets }: BalancePorts,
): Shortfall | undefined {
  if (accounts.destination === undefined) return undefined;
  const account = markets.account(accounts.destination.address);
  if (account == null) return undefined;
  const fault = receivingFault(account, accounts.wallet, route.steps, intent.outMint.address);
  return fault === undefined ? undefined : { kind: "account", mint: intent.outMint, fault };
}

function payerShortfall(
  { intent, accounts }: Trader,
  spending: Spending,
  { markets, head, settings }: BalancePorts,
): Shortfall | undefined {
  const { route, assembly, costs } = spending;
  const account = markets.account(accounts.wallet);
  if (account === undefined) return undefined;
  const isNonce = account !== null && isNonceAccount(account);
  // A wallet that has signed an Assign belongs to a program, and the chain takes no fee from it.
  if (account !== null && !isNonce && (account.owner !== SYSTEM_PROGRAM || account.data.length > 0))
    return { kind: "payer", wallet: accounts.wallet };
  const rent = head.rentExemption(account?.data.length ?? 0);
  const held = account?.lamports ?? 0n;
  const exactIn = intent.mode === "exactIn";
  const givesSol = accounts.source === undefined;
  const getsSol = accounts.destination === undefined;
  const given = !givesSol ? 0n : exactIn ? route.inAmount : route.threshold;
  // Most wallets hold more than anything that is taken from them at any moment.
  const rentPaid = costs.rentPaid > 0n ? costs.rentPaid : 0n;
  const atMost = given + rentPaid + assembly.temporaryRent + costs.baseFee + costs.priorityFee + costs.tip + rent;
  if (!isNonce && atMost <= held) return undefined;
  const fees = costs.baseFee + costs.priorityFee;
  const received = !getsSol ? 0n : exactIn ? route.threshold : route.outAmount;
  // Venues that take lamports are paid after the temporary account has returned its rent. Tips come last, after an emptied account has
  // returned its rent too.
  const atOnce = givesSol ? maxOf(given, assembly.wrapped + assembly.temporaryRent) : assembly.temporaryRent;
  const most = costs.rentPaid + atOnce;
  if (isNonce && most + costs.tip > 0n) return { kind: "payer", wallet: accounts.wallet };
  const inAll = given + costs.rentPaid + costs.tip - costs.rentReturned - received;
  // What a trade receives or spends may vary, so only one with fixed amounts can leave exactly nothing.
  const isFixed = !getsSol && (exactIn || !givesSol) && route.remainders.length === 0;
  const left = held - fees;
  const end = left - inAll;
  // After the fees and again at the end, the chain requires an account to hold either nothing or at least its rent. In between it may hold
  // less.
  const paysFees = (left === 0n && !isNonce) || left >= rent;
  const endsWell = end >= rent || (end === 0n && isFixed);
  if (paysFees && left >= most && endsWell) return undefined;
  const spent = inAll > 0n ? inAll : 0n;
  const isPeak = most >= spent + rent;
  // The next build may name accounts that take more compute units to find.
  const needed = costs.baseFee + mostPriorityFee(settings, spending) + (isPeak ? most : spent);
  return { kind: "sol", wallet: accounts.wallet, held, needed, rent: isPeak ? 0n : rent };
}

/** Bytes of a durable-nonce account: its version in the first four, whether it is initialized in the next four. */
const NONCE_SIZE = 80;
const [LEGACY, CURRENT] = [0, 1];
const IN_USE = 1;

/** True for a durable-nonce account: it pays fees, but the system program moves no lamports out of an account with data. */
function isNonceAccount({ owner, data }: Account): boolean {
  if (data.length !== NONCE_SIZE || owner !== SYSTEM_PROGRAM) return false;
  const view = viewOf(data);
  const version = view.getUint32(0, true);
  return (version === LEGACY || version === CURRENT) && view.getUint32(4, true) === IN_USE;
}

/**
 * INSUFFICIENT_TOKEN_BALANCE or INSUFFICIENT_SOL with both amounts, or NO_ROUTE for an account or a wallet that cannot be used.
 *
 * @param faucet how to get SOL on a test chain
 */
export function insufficientFunds(shortfall: Shortfall, faucet?: (wallet: Address) => string): TradewireError {
  if (shortfall.kind === "account") {
    const { mint, fault } = shortfall;
    return new TradewireError(
      "NO_ROUTE",
      `The wallet's account of ${mint.address} ${fault}: the trade would fail, or pay somebody else.`,
    );
  }
  if (shortfall.kind === "payer") {
    return new TradewireError(
      "NO_ROUTE",
      `The wallet ${shortfall.wallet} was assigned to a program or holds data: the chain does not let it pay for a trade. Use another wallet.`,
    );
  }
  const { held, needed } = shortfall;
  if (shortfall.kind === "token") {
    const { address, decimals } = shortfall.mint;
    return new TradewireError(
      "INSUFFICIENT_TOKEN_BALANCE",
      `The wallet holds ${formatAmount(held, decimals)} of ${address}; the trade needs ${formatAmount(needed, decimals)}. Trade less, or add tokens.`,
      { details: { heldRaw: held.toString(), neededRaw: needed.toString() } },
    );
  }
  const { wallet } = shortfall;
  const sol = (lamports: bigint) => `${formatAmount(lamports, SOL_DECIMALS)} SOL`;
  const staying = shortfall.rent === 0n ? "" : `, and ${sol(shortfall.rent)} must stay in the account as rent`;
  return new TradewireError(
    "INSUFFICIENT_SOL",
    `The wallet ${wallet} holds ${sol(held)}; the trade needs ${sol(needed)} with fees and rent${staying}. Trade less, or add SOL${faucet === undefined ? "" : `: ${faucet(wallet)}`}.`,
    {
      details: {
        wallet: wallet.toString(),
        heldLamports: held.toString(),
        neededLamports: (needed + shortfall.rent).toString(),
      },
    },
  );
}
