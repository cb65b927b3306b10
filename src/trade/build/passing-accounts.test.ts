import { expect, test } from "vitest";
import { withExtensions } from "../../../test/support/extended-account.ts";
import { buyFor, FAKE_CLOCK, fakeMarket } from "../../../test/support/fake-market.ts";
import { memoryPorts } from "../../../test/support/memory-ports.ts";
import { Address } from "../../primitives/address.ts";
import { createRandom } from "../../primitives/random.ts";
import type { Account } from "../../solana/account.ts";
import { SOL_MINT, TOKEN_2022_PROGRAM } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import type { Quote } from "../../venues/venue.ts";
import { resolveIntent } from "../intent.ts";
import type { Route, RouteStep } from "../quote/route.ts";
import { composeMessage, type MessageTerms } from "./message-forms.ts";
import { walletAccounts, walletTokenAccount } from "./wallet-accounts.ts";

const random = createRandom(227);
const address = () => Address.from(random.bytes(32));
const [WALLET, MINT, HUB, PROGRAM] = [address(), address(), address(), address()];
const REQUEST = buyFor(WALLET, MINT);
const PORTS = memoryPorts({ mint: MINT, clock: FAKE_CLOCK, wallet: WALLET, markets: [] });
const MINTS = [SOL_MINT, MINT].map((one) => PORTS.markets.mint(one) as Mint) as [Mint, Mint];
const HUB_MINT: Mint = { ...MINTS[1], address: HUB, program: TOKEN_2022_PROGRAM };

/** The wallet's account of the hub, which takes only transfers with a memo. */
function memoAccount(): Account {
  const data = new Uint8Array(165);
  data.set(WALLET.bytes, 32);
  data[108] = 1;
  const { address: at } = walletTokenAccount(WALLET, HUB_MINT)!;
  const wanting = withExtensions(data, [[8, Uint8Array.of(1)]]);
  return { address: at, owner: TOKEN_2022_PROGRAM, lamports: 1n, data: wanting, executable: false, slot: 1n };
}

/** A market that trades these mints; its venue sends memos or not. */
function step(inMint: Address, outMint: Address, memo: boolean): RouteStep {
  const supports = { exactOut: true, token2022: true, memo };
  const hot = fakeMarket({ mint: MINT, address: address(), program: PROGRAM, venue: { supports } });
  const quote = { mode: "exactIn", inMint, outMint, inAmount: 5n, outAmount: 5n, priceImpact: 0 } as Quote;
  return { hot, quote, threshold: 5n };
}

/** Composes a trade that reaches the hub over markets whose venues send memos or not. */
function composed(...memos: readonly boolean[]) {
  const steps = [...memos.map((memo) => step(SOL_MINT, HUB, memo)), step(HUB, MINT, true)];
  const route = { steps, inAmount: 10n, outAmount: 5n, threshold: 5n, remainders: [{ mint: HUB, amount: 0n }] };
  const open = memoAccount();
  const account = (asked: Address) => (asked === open.address ? open : PORTS.markets.account(asked));
  const terms = {
    request: REQUEST,
    intent: resolveIntent(REQUEST, ...MINTS),
    accounts: walletAccounts({ wallet: WALLET }, ...MINTS),
    snapshot: { hubs: [{ hub: HUB, mint: HUB_MINT }] },
    blockhash: new Uint8Array(32),
    nonce: 1,
    seed: "AbCdEfGhIjK",
    choice: { senders: [], tips: [] },
  } as unknown as MessageTerms;
  const message = composeMessage({ ...PORTS, markets: { account } }, terms, route as unknown as Route);
  return { message, markets: steps.map(({ hot }) => hot.market.address.toString()) };
}

test("an account between markets that wants memos is paid by no venue that sends none, whichever of several it is", () => {
  expect(composed(true, true).message.fault).toBeUndefined();
  for (const memos of [[false], [false, true], [true, false]]) {
    const { message, markets } = composed(...memos);
    expect(message.fault).toMatchObject({
      market: markets[memos.indexOf(false)],
      reason: expect.stringContaining("takes only transfers with a memo"),
    });
  }
});
