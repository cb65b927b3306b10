import type { Tip } from "../../chain/port.ts";
import type { Markets } from "../../market/port.ts";
import { Address } from "../../primitives/address.ts";
import type { Account } from "../../solana/account.ts";
import { associatedTokenAccount } from "../../solana/derived-address.ts";
import { SOL_MINT, SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { Intent } from "../intent.ts";
import type { Route } from "../quote/route.ts";
import type { Snapshot } from "../quote/snapshot.ts";
import { walletAccounts } from "./assembly.ts";
import { type ComposePorts, compose } from "./build-trade.ts";

/**
 * Whether a route fits into a transaction. `always`: for every wallet. `openAccounts`: only for one that has its accounts
 * already. A number: for none; the bytes it would take at least.
 */
type RouteFit = "always" | "openAccounts" | number;

/** Nobody's wallet, in whose name the transactions of a quote are measured. */
const WALLET = Address.from(new Uint8Array(32).fill(7));
const WRAPPED_SOL = associatedTokenAccount(WALLET, SOL_MINT, TOKEN_PROGRAM).address;
const OPEN: Account = {
  address: WALLET,
  owner: SYSTEM_PROGRAM,
  lamports: 1n,
  data: new Uint8Array(0),
  executable: false,
  slot: 0n,
};

/** A wallet that has nothing but SOL, and one in which nothing has to be created. */
const NOTHING_OPEN: Pick<Markets, "account"> = { account: () => null };
const ALL_OPEN: Pick<Markets, "account"> = { account: (address) => (address === WRAPPED_SOL ? null : OPEN) };

/**
 * Measures the transaction of a route for a wallet that has no account yet and, where that is too large, for one that has
 * them all. `tips` are the most that any priority asks for.
 */
export function fitOf(
  ports: Omit<ComposePorts, "markets">,
  intent: Intent,
  snapshot: Snapshot,
  route: Route,
  tips: readonly Tip[],
): RouteFit {
  const accounts = walletAccounts({ wallet: WALLET }, intent.inMint, intent.outMint);
  const parts = { request: { priority: "fastest" }, intent, accounts, snapshot } as const;
  const measure = (markets: ComposePorts["markets"], tips: readonly Tip[]) =>
    compose({ ...ports, markets }, parts, NO_LIFETIME, route, 0, { senders: [], tips });
  if (typeof measure(NOTHING_OPEN, tips) === "object") return "always";
  const least = measure(ALL_OPEN, []);
  return typeof least === "object" ? "openAccounts" : least;
}

const NO_LIFETIME = { blockhash: new Uint8Array(32) };
