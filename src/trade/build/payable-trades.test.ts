import { expect, test } from "vitest";
import { withExtensions } from "../../../test/support/extended-account.ts";
import { buyFor, FAKE_CLOCK, fakeMarket } from "../../../test/support/fake-market.ts";
import { memoryPorts } from "../../../test/support/memory-ports.ts";
import type { HotMarket, PairMarkets } from "../../market/port.ts";
import { Address } from "../../primitives/address.ts";
import { createRandom } from "../../primitives/random.ts";
import type { Account } from "../../solana/account.ts";
import { SOL_MINT, SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, USDC_MINT } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import type { MintPair } from "../../venues/venue.ts";
import { buildTrade } from "./build-trade.ts";
import { walletTokenAccount } from "./wallet-accounts.ts";

const random = createRandom(8_900_002);
const address = () => Address.from(random.bytes(32));
const [WALLET, MINT] = [address(), address()];
/** Spent by the order. Lamports. */
const SPENT = 500_000_000n;

/** A market that keeps so many thousandths, and whose venue sends memos or not. */
function market(mints: readonly [Address, Address], thousandths: bigint, memo = false): HotMarket {
  const give = (amount: bigint) => amount - (amount * thousandths) / 1_000n;
  const venue = { supports: { exactOut: true, token2022: true, memo } };
  const hot = fakeMarket({ ...{ mint: MINT, address: address(), program: address() }, give, venue });
  return { ...hot, market: { ...hot.market, mints } };
}

/** Builds a purchase for a wallet with these accounts. @returns the mints that it passes, or the error */
async function bought(markets: readonly HotMarket[], accounts: readonly Account[], mint: Partial<Mint> = {}) {
  const base = memoryPorts({ mint: MINT, clock: FAKE_CLOCK, wallet: WALLET, markets: [] });
  const pairOf = ({ a, b }: MintPair): PairMarkets => {
    const between = markets.filter((hot) => hot.market.mints.every((one) => one === a || one === b));
    return { markets: between, faults: [], searched: [] };
  };
  const known = {
    ...base.markets,
    ...{ hubMints: [USDC_MINT], marketsOf: pairOf, knownMarkets: pairOf },
    mint: (one: Address) =>
      one === SOL_MINT ? base.markets.mint(one) : { ...(base.markets.mint(MINT) as Mint), ...mint, address: one },
    account: (one: Address) => accounts.find((account) => account.address === one) ?? null,
  };
  const building = async () => buildTrade({ ...base, markets: known }, buyFor(WALLET, MINT, Number(SPENT) / 1e9));
  return building().then(
    (built) => built.route.map(({ market: at }) => markets.findIndex((hot) => hot.market.address === at)),
    (error: Error & { readonly code: string }) => error.code,
  );
}

const holding = (lamports: bigint): Account => ({
  ...{ address: WALLET, owner: SYSTEM_PROGRAM, data: new Uint8Array(0) },
  ...{ lamports, executable: false, slot: 1n },
});

test("a wallet without the SOL for the account between two markets trades on one of the pair, if slippage allows it", async () => {
  const { head } = memoryPorts({ mint: MINT, clock: FAKE_CLOCK, wallet: WALLET, markets: [] });
  // What is bought needs an account, too, and its own must keep its rent; a hundred thousand lamports are enough for fees.
  const enough = SPENT + head.rentExemption(165) + head.rentExemption(0) + 100_000n;
  const overHub = [market([SOL_MINT, USDC_MINT], 0n), market([USDC_MINT, MINT], 0n)];
  const routed = (thousandths: bigint, lamports: bigint) =>
    bought([...overHub, market([SOL_MINT, MINT], thousandths)], [holding(lamports)]);
  expect(await routed(9n, enough + head.rentExemption(165))).toEqual([0, 1]);
  expect(await routed(9n, enough)).toEqual([2]);
  expect(await routed(30n, enough)).toBe("INSUFFICIENT_SOL");
  expect(await routed(9n, SPENT)).toBe("INSUFFICIENT_SOL");
});

test("an account that wants memos is paid by a market whose venue sends them, also behind a hub", async () => {
  const data = new Uint8Array(165);
  data.set(WALLET.bytes, 32);
  data[108] = 1;
  const token2022 = { program: TOKEN_2022_PROGRAM };
  const { address: at } = walletTokenAccount(WALLET, { address: MINT, ...token2022 } as Mint)!;
  const wanting: Account = {
    ...{ address: at, owner: TOKEN_2022_PROGRAM, data: withExtensions(data, [[8, Uint8Array.of(1)]]) },
    ...{ lamports: 3_000_000n, executable: false, slot: 1n },
  };
  const accounts = [holding(1n << 50n), wanting];
  const direct = market([SOL_MINT, MINT], 0n);
  const silentHub = market([SOL_MINT, USDC_MINT], 0n);
  expect(await bought([direct, market([SOL_MINT, MINT], 50n, true)], accounts, token2022)).toEqual([1]);
  const behind = [silentHub, market([USDC_MINT, MINT], 50n, true)];
  expect(await bought([direct, ...behind], accounts, token2022)).toEqual([1, 2]);
  expect(await bought([direct, silentHub, market([USDC_MINT, MINT], 50n)], accounts, token2022)).toBe("NO_ROUTE");
});
