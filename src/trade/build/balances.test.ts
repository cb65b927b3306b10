import { describe, expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import { viewOf } from "../../primitives/bytes.ts";
import { createRandom } from "../../primitives/random.ts";
import type { Account } from "../../solana/account.ts";
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";
import { insufficientFunds, shortfallOf } from "./balances.ts";

const random = createRandom(37);
const address = () => Address.from(random.bytes(32));
const [WALLET, SOURCE, MINT] = [address(), address(), address()];
const RENT = 890_880n;
const COSTS = { baseFee: 5_000n, priorityFee: 77n, tip: 900n, rentPaid: 2_000n, rentReturned: 300n };
const TEMPORARY = 2_039n;
/** What a trade costs beside its input, and what it returns of that. */
const BESIDE = 5_000n + 77n + 900n + 2_000n;
const RETURNED = 300n;

type Check = Parameters<typeof shortfallOf>[0] & Parameters<typeof shortfallOf>[1] & Parameters<typeof shortfallOf>[2];

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

/** The error of a trade of 1,000 for at least 900, or of at most 1,100; it spends SOL, or sells tokens. */
function refusal(
  mode: "exactIn" | "exactOut",
  known: readonly (Account | [Address, null])[],
  sellsTokens = false,
  temporaryRent = TEMPORARY,
) {
  const accounts = new Map(known.map((one) => (Array.isArray(one) ? one : ([one.address, one] as const))));
  const check = {
    intent: { mode, inMint: { address: MINT, decimals: 2 } },
    route: { inAmount: 1_000n, outAmount: 990n, threshold: mode === "exactIn" ? 900n : 1_100n, remainders: [] },
    accounts: {
      wallet: WALLET,
      source: sellsTokens ? { address: SOURCE } : undefined,
      destination: sellsTokens ? undefined : { address: MINT },
    },
    assembly: { spareUnits: 0, temporaryRent, wrapped: sellsTokens ? 0n : mode === "exactIn" ? 1_000n : 1_100n },
    costs: COSTS,
    markets: { account: (of: Address) => accounts.get(of) },
    head: { rentExemption: () => RENT },
  } as unknown as Check;
  const shortfall = shortfallOf(check, check, check);
  return shortfall && insufficientFunds(shortfall);
}

describe("lamports", () => {
  test.each([
    ["exactIn", 1_000n],
    ["exactOut", 1_100n],
  ] as const)("%s: the largest input, fees, tip and rent, and the rent of the wallet itself", (mode, given) => {
    const needed = given + BESIDE - RETURNED;
    expect(refusal(mode, [account(WALLET, needed + RENT)])).toBeUndefined();
    expect(refusal(mode, [account(WALLET, needed + RENT - 1n)])).toMatchObject({
      code: "INSUFFICIENT_SOL",
      facts: { details: { heldLamports: `${needed + RENT - 1n}`, neededLamports: `${needed + RENT}` } },
    });
  });

  test("what the temporary account holds returns: it need not stay twice", () => {
    const large = 2n * RENT;
    const most = 5_077n + 1_000n + 2_000n + large;
    expect(refusal("exactIn", [account(WALLET, most)], false, large)).toBeUndefined();
    const short = refusal("exactIn", [account(WALLET, most - 1n)], false, large);
    expect(short).toMatchObject({ facts: { details: { neededLamports: `${most}` } } });
    expect(short?.message).not.toContain("must stay");
  });

  test("a wallet keeps its rent, and no amount below", () => {
    const short = refusal("exactIn", [account(WALLET, 1_000n + BESIDE + 1n)]);
    expect(short).toMatchObject({ code: "INSUFFICIENT_SOL" });
    expect(short?.message).toContain("0.00089088 SOL must stay in the account as rent");
  });

  test("a sale of tokens needs its rent after the fees, and at the end with what it brings", () => {
    const tokens = tokenAccount(1_000n);
    const [fees, spent] = [5_077n, BESIDE - RETURNED - 990n];
    const least = RENT + (spent > fees ? spent : fees);
    expect(refusal("exactOut", [tokens, account(WALLET, least)], true)).toBeUndefined();
    expect(refusal("exactOut", [tokens, account(WALLET, least - 1n)], true)).toMatchObject({
      code: "INSUFFICIENT_SOL",
      facts: { details: { neededLamports: `${least}` } },
    });
  });

  test("a wallet that does not exist holds none; an unknown one is not checked", () => {
    expect(refusal("exactIn", [[WALLET, null]])).toMatchObject({ facts: { details: { heldLamports: "0" } } });
    expect(refusal("exactIn", [])).toBeUndefined();
  });
});

describe("tokens", () => {
  const rich = account(WALLET, 10n ** 12n);

  test("the quoted input is enough, and one base unit less is not", () => {
    expect(refusal("exactIn", [rich, tokenAccount(1_000n)], true)).toBeUndefined();
    const refused = refusal("exactIn", [rich, tokenAccount(999n)], true);
    expect(refused).toMatchObject({
      code: "INSUFFICIENT_TOKEN_BALANCE",
      facts: { details: { heldRaw: "999", neededRaw: "1000" } },
    });
    expect(refused?.message).toContain("holds 9.99 of");
    expect(refused?.message).toContain("needs 10.");
  });

  test("a missing token account holds none; an unknown one is not checked", () => {
    for (const none of [[SOURCE, null] as [Address, null], account(SOURCE, 5n)]) {
      expect(refusal("exactIn", [rich, none], true)).toMatchObject({ facts: { details: { heldRaw: "0" } } });
    }
    expect(refusal("exactIn", [rich], true)).toBeUndefined();
  });
});
