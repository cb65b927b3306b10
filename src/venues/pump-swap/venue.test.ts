import { describe, expect, it } from "vitest";
import { Address } from "../../primitives/address.ts";
import { createRandom } from "../../primitives/random.ts";
import type { Mint } from "../../solana/token/mint.ts";
import type { Ask } from "../venue.ts";
import { paidByVault } from "./math.ts";
import type { PumpSwapState } from "./state.ts";
import { pumpSwap } from "./venue.ts";

const random = createRandom(43);
const [POOL, COIN, QUOTE] = [random.bytes(32), random.bytes(32), random.bytes(32)].map((bytes) => Address.from(bytes));
const clock = { slot: 1n, epoch: 1n, unixTimestamp: 1n };

/** A pool whose pricing reserve exceeds the quote it can pay out. */
function state(payable: bigint): PumpSwapState {
  const mint = (address: Address) => ({ address, transferFees: undefined, unsupported: undefined }) as Mint;
  return {
    market: { venue: "pump_swap", address: POOL!, mints: [COIN!, QUOTE!], nativeSol: false },
    global: { buysDisabled: false, sellsDisabled: false },
    mints: [mint(COIN!), mint(QUOTE!)],
    side: { tokens: 200_000_000n, quote: 85_000_000n, fees: { lp: 20n, protocol: 5n, creator: 95n } },
    payable,
  } as unknown as PumpSwapState;
}

const sale = (mode: Ask["mode"], amount: bigint): Ask => ({ mode, inMint: COIN!, outMint: QUOTE!, amount, clock });

describe("pumpSwap", () => {
  it.each([
    ["exactIn", 1_000_000n],
    ["exactOut", 418_000n],
  ] as const)("%s: a sale may take from the vault all that is not owed, and not one unit more", (mode, amount) => {
    const ask = sale(mode, amount);
    const { inAmount, outAmount } = pumpSwap.quote(state(85_000_000n), ask);
    const net = (inAmount * 85_000_000n) / (200_000_000n + inAmount);
    const taken = paidByVault({ tokens: inAmount, net, feeBase: net, quote: outAmount }, state(0n).side);
    expect(taken).toBeGreaterThan(outAmount);
    expect(pumpSwap.quote(state(taken), ask).outAmount).toBe(outAmount);
    expect(() => pumpSwap.quote(state(taken - 1n), ask)).toThrow("does not hold enough");
  });

  it("a reserve that with its virtual part leaves 64 bits, in which the program counts it, is not traded on", () => {
    const { side, ...rest } = state(85_000_000n);
    const priced = (quote: bigint) => ({ ...rest, side: { ...side, quote } });
    const ask = sale("exactIn", 1_000_000n);
    expect(() => pumpSwap.quote(priced(1n << 64n), ask)).toThrow("does not hold enough");
    expect(() => pumpSwap.quote(priced(1n << 64n), { ...ask, inMint: QUOTE!, outMint: COIN! })).toThrow(
      "does not hold enough",
    );
  });
});
