import { describe, expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import { viewOf } from "../../primitives/bytes.ts";
import { createRandom } from "../../primitives/random.ts";
import type { Account } from "../../solana/account.ts";
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";
import { checkBalances } from "./balances.ts";

const random = createRandom(37);
const address = () => Address.from(random.bytes(32));
const [WALLET, SOURCE, MINT] = [address(), address(), address()];
const RENT = 890_880n;
const COSTS = { baseFee: 5_000n, priorityFee: 77n, tip: 900n, rentPaid: 2_000n, rentReturned: 50_000_000n };
const PASSING = 2_039n;
/** All that a trade takes beside its input. */
const BESIDE = 5_000n + 77n + 900n + 2_000n + PASSING;

type Check = Parameters<typeof checkBalances>[0];

const account = (of: Address, lamports: bigint): Account => ({
  address: of,
  owner: SYSTEM_PROGRAM,
  lamports,
  data: new Uint8Array(0),
  executable: false,
  slot: 1n,
});

function tokenAccount(amount: bigint): Account {
  const data = new Uint8Array(165);
  data.set(MINT.bytes);
  data.set(WALLET.bytes, 32);
  viewOf(data).setBigUint64(64, amount, true);
  data[108] = 1;
  return { ...account(SOURCE, 2_039_280n), owner: TOKEN_PROGRAM, data };
}

/** A trade of 1,000 for 900, or of 1,100 at most; with a source it sells tokens, without one SOL. */
function refusal(mode: "exactIn" | "exactOut", known: readonly (Account | [Address, null])[], sellsTokens = false) {
  const accounts = new Map(known.map((one) => (Array.isArray(one) ? one : ([one.address, one] as const))));
  return checkBalances({
    intent: { mode, inMint: { address: MINT, decimals: 2 } },
    route: { inAmount: 1_000n, threshold: mode === "exactIn" ? 900n : 1_100n },
    accounts: { wallet: WALLET, source: sellsTokens ? { address: SOURCE } : undefined },
    assembly: { passingRent: PASSING },
    costs: COSTS,
    markets: { account: (of: Address) => accounts.get(of) },
    rentExemption: RENT,
  } as unknown as Check);
}

describe("lamports", () => {
  test.each([
    ["exactIn", 1_000n],
    ["exactOut", 1_100n],
  ] as const)("%s: the most that goes in, fees, tip and rent, and what a wallet must keep", (mode, given) => {
    const needed = given + BESIDE;
    expect(refusal(mode, [account(WALLET, needed + RENT)])).toBeUndefined();
    expect(refusal(mode, [account(WALLET, needed + RENT - 1n)])).toMatchObject({
      code: "INSUFFICIENT_SOL",
      facts: { details: { heldLamports: `${needed + RENT - 1n}`, neededLamports: `${needed + RENT}` } },
    });
  });

  test("a wallet may be emptied to the last lamport, and not to a few", () => {
    expect(refusal("exactIn", [account(WALLET, 1_000n + BESIDE)])).toBeUndefined();
    expect(refusal("exactIn", [account(WALLET, 1_000n + BESIDE + 1n)])).toMatchObject({ code: "INSUFFICIENT_SOL" });
    expect(refusal("exactIn", [account(WALLET, 1_000n + BESIDE - 1n)])).toMatchObject({ code: "INSUFFICIENT_SOL" });
  });

  test("where tokens are sold, only what the transaction costs", () => {
    const tokens = tokenAccount(1_000n);
    expect(refusal("exactOut", [tokens, account(WALLET, BESIDE + RENT)], true)).toBeUndefined();
    expect(refusal("exactOut", [tokens, account(WALLET, BESIDE + RENT - 1n)], true)).toMatchObject({
      code: "INSUFFICIENT_SOL",
    });
  });

  test("a wallet that does not exist has none; one that is not known is not judged", () => {
    expect(refusal("exactIn", [[WALLET, null]])).toMatchObject({ facts: { details: { heldLamports: "0" } } });
    expect(refusal("exactIn", [])).toBeUndefined();
  });
});

describe("tokens", () => {
  const rich = account(WALLET, 10n ** 12n);

  test("the quoted input suffices, and one base unit less does not", () => {
    expect(refusal("exactIn", [rich, tokenAccount(1_000n)], true)).toBeUndefined();
    const refused = refusal("exactIn", [rich, tokenAccount(999n)], true);
    expect(refused).toMatchObject({
      code: "INSUFFICIENT_TOKEN_BALANCE",
      facts: { details: { heldRaw: "999", neededRaw: "1000" } },
    });
    expect(refused?.message).toContain("holds 9.99 of");
    expect(refused?.message).toContain("needs 10.");
  });

  test("no token account holds none; one that is not known is not judged", () => {
    for (const none of [[SOURCE, null] as [Address, null], account(SOURCE, 5n)]) {
      expect(refusal("exactIn", [rich, none], true)).toMatchObject({ facts: { details: { heldRaw: "0" } } });
    }
    expect(refusal("exactIn", [rich], true)).toBeUndefined();
  });
});
