import { tokenAccountAddress } from "../../../src/client/verify/derived-address.ts";
import { mostRent } from "../../../src/client/verify/rent.ts";
import type { TradeExpectation } from "../../../src/client/verify/trade-expectation.ts";
import type { Address } from "../../../src/primitives/address.ts";
import { readU64 } from "../../../src/primitives/bytes.ts";
import { SOL_MINT, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../../src/solana/programs.ts";
import type { TestService } from "../../support/service.ts";

/** Network fee of one signature. Lamports. */
const BASE_FEE = 5_000n;

interface Read {
  readonly lamports: bigint;
  readonly data: Uint8Array;
}

/** What executing a transaction did to the wallet. */
export interface Execution {
  /** Undefined if it succeeded. */
  readonly error: string | undefined;
  /** The wallet's accounts before and after: itself first, then its token accounts. */
  readonly before: readonly Read[];
  readonly after: readonly Read[];
}

/** The wallet and its token accounts of these mints, under both token programs. */
function accountsOf(wallet: Address, mints: readonly Address[]): readonly Address[] {
  const tokens = mints.flatMap((mint) =>
    mint === SOL_MINT
      ? [tokenAccountAddress(wallet, mint, TOKEN_PROGRAM)]
      : [TOKEN_PROGRAM, TOKEN_2022_PROGRAM].map((program) => tokenAccountAddress(wallet, mint, program)),
  );
  return [wallet, ...tokens];
}

/** Executes a transaction on the embedded chain without keeping the result. Signatures are not checked. */
export async function execute(
  rpc: TestService["rpc"],
  wire: Uint8Array,
  wallet: Address,
  mints: readonly Address[],
): Promise<Execution> {
  const addresses = accountsOf(wallet, mints).map((address) => address.toString());
  type Account = { lamports: number; data: [string, string] } | null;
  const read = (account: Account): Read => ({
    lamports: BigInt(account?.lamports ?? 0),
    data: Buffer.from(account?.data[0] ?? "", "base64"),
  });
  const { value: held } = await rpc<{ value: Account[] }>("getMultipleAccounts", [
    addresses,
    { encoding: "base64", commitment: "processed" },
  ]);
  const { value } = await rpc<{ value: { err: unknown; accounts: Account[] | null } }>("simulateTransaction", [
    Buffer.from(wire).toString("base64"),
    {
      encoding: "base64",
      commitment: "processed",
      replaceRecentBlockhash: true,
      accounts: { encoding: "base64", addresses },
    },
  ]);
  const before = held.map(read);
  const failed = value.err !== null || value.accounts === null;
  return {
    error: failed ? JSON.stringify(value.err) : undefined,
    before,
    after: failed ? before : value.accounts!.map(read),
  };
}

/** How the execution leaves the wallet worse than the trade promised; undefined if it does not. */
export function worseThan(trade: TradeExpectation, { error, before, after }: Execution): string | undefined {
  if (error !== undefined) return undefined;
  const { inMint, outMint, mode, amount, threshold, legs } = trade;
  const [mostIn, leastOut] = mode === "exactIn" ? [amount, threshold] : [threshold, amount];
  const venues = legs.map(({ venue }) => venue);
  const costs = BASE_FEE + (trade.announced?.priority ?? trade.maxPriorityLamports) + mostRent(0, venues);
  // Rent in an account of the wallet stays the wallet's.
  const held = (accounts: readonly Read[]) => accounts.reduce((sum, { lamports }) => sum + lamports, 0n);
  const spent = held(before) - held(after);
  const bound = costs + (inMint === SOL_MINT ? mostIn : 0n) - (outMint === SOL_MINT ? leastOut : 0n);
  if (spent > bound) return `${spent} lamports left the wallet, at most ${bound} may`;
  const changeOf = (mint: Address) => balanceOf(after, mint) - balanceOf(before, mint);
  if (changeOf(SOL_MINT) > 0n) return `${changeOf(SOL_MINT)} lamports stay wrapped`;
  if (inMint !== SOL_MINT && changeOf(inMint) < -mostIn) return `${-changeOf(inMint)} of the input left`;
  if (outMint !== SOL_MINT && changeOf(outMint) < leastOut) return `${changeOf(outMint)} of the output arrived`;
  const between = new Set(legs.map((leg) => leg.outMint).filter((mint) => mint !== outMint && mint !== SOL_MINT));
  for (const mint of between) if (changeOf(mint) < 0n) return `${-changeOf(mint)} of ${mint}, which only passes, left`;
  for (const { data } of after.slice(1)) {
    if (data.length < 165) continue;
    if (!Buffer.from(data.subarray(32, 64)).equals(Buffer.from(trade.wallet.bytes)))
      return "a token account has another owner";
    if (data[72] !== 0 || data[129] !== 0) return "a token account has a delegate or another close authority";
  }
  return undefined;
}

function balanceOf(accounts: readonly Read[], mint: Address): bigint {
  const bytes = Buffer.from(mint.bytes);
  const own = accounts
    .slice(1)
    .filter(({ data }) => data.length >= 165 && bytes.equals(Buffer.from(data.subarray(0, 32))));
  return own.reduce((sum, { data }) => sum + readU64(data, 64), 0n);
}
