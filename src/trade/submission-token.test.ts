import { describe, expect, test } from "vitest";
import { TradewireError } from "../errors/tradewire-error.ts";
import { Address } from "../primitives/address.ts";
import { createRandom } from "../primitives/random.ts";
import type { SealedTrade } from "./sealed-trade.ts";
import { createTokenSealer, type SealingKey } from "./submission-token.ts";

const random = createRandom(5);
const address = () => Address.from(random.bytes(32));
const key = (id: string, seals = true): SealingKey => ({ id, secret: random.bytes(32), seals });
const now = () => 1_795_000_000_000;

function sealedTrade(): SealedTrade {
  return {
    accountId: `acc_${random.u32()}`,
    wallet: address(),
    messageHash: random.bytes(32),
    messageLength: random.u32() % 1200,
    lastValidBlockHeight: random.below(1n << 40n),
    buildSlot: random.below(1n << 40n),
    stateSlot: random.below(1n << 40n),
    expiresAtMs: 1_795_000_030_123,
    inMint: address(),
    outMint: address(),
    inDecimals: 9,
    outDecimals: 6,
    costs: { baseFee: 5000n, priorityFee: 77n, tip: 0n, rentPaid: 1_488_440n, rentReturned: 3n },
    route: Array.from({ length: 1 + (random.u32() % 2) }, () => ({
      venue: "raydium_cpmm",
      market: address(),
      inMint: address(),
      outMint: address(),
      inAmount: random.below(1n << 64n),
      outAmount: random.below(1n << 64n),
    })),
    lanes: ["rpc", "relay"],
    creates: [{ address: address(), space: 165, rent: 1_488_440n }],
    closes: random.chance(0.5) ? address() : undefined,
  };
}

const refusal = (open: () => unknown): string => {
  try {
    open();
  } catch (error) {
    if (error instanceof TradewireError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return "accepted";
};

describe("submission tokens", () => {
  const keys = [key("k2"), key("k1", false)];
  const sealer = createTokenSealer({ keys, genesisHash: "genesis", now });

  test("open to what was sealed", () => {
    for (let round = 0; round < 50; round++) {
      const trade = sealedTrade();
      expect(sealer.open(sealer.seal(trade), trade.accountId)).toEqual(trade);
    }
  });

  test("no changed character opens, and none crashes", () => {
    const trade = sealedTrade();
    const token = sealer.seal(trade);
    for (let at = 0; at < token.length; at++) {
      for (const other of ["A", "_", "."]) {
        if (token[at] === other) continue;
        expect(refusal(() => sealer.open(token.slice(0, at) + other + token.slice(at + 1), trade.accountId))).toMatch(
          /^INVALID_SUBMISSION_TOKEN/,
        );
      }
      expect(refusal(() => sealer.open(token.slice(0, at), trade.accountId))).toMatch(/^INVALID_SUBMISSION_TOKEN/);
    }
    expect(refusal(() => sealer.open(`${token}A`, trade.accountId))).toMatch(/^INVALID_SUBMISSION_TOKEN/);
  });

  test("another account, another network and garbage are answered alike", () => {
    const trade = sealedTrade();
    const token = sealer.seal(trade);
    const elsewhere = createTokenSealer({ keys, genesisHash: "other", now });
    const answers = [
      refusal(() => sealer.open(token, "acc_other")),
      refusal(() => elsewhere.open(token, trade.accountId)),
      refusal(() => sealer.open("garbage", trade.accountId)),
      refusal(() => sealer.open("", trade.accountId)),
      refusal(() => sealer.open("a".repeat(100_000), trade.accountId)),
    ];
    expect(new Set(answers).size).toBe(1);
  });

  test("keys rotate: an old key still opens, a removed one no longer", () => {
    const trade = sealedTrade();
    const old = key("k0");
    const token = createTokenSealer({ keys: [old], genesisHash: "genesis", now }).seal(trade);
    const rotated = createTokenSealer({ keys: [key("k9"), { ...old, seals: false }], genesisHash: "genesis", now });
    expect(rotated.open(token, trade.accountId)).toEqual(trade);
    expect(rotated.seal(trade)).toMatch(/^tw1\.k9\./);
    expect(refusal(() => sealer.open(token, trade.accountId))).toMatch(/^INVALID_SUBMISSION_TOKEN/);
    expect(() => createTokenSealer({ keys: [{ ...old, seals: false }], genesisHash: "genesis", now })).toThrow(
      RangeError,
    );
  });

  test("nonces do not repeat", () => {
    const trade = sealedTrade();
    const tokens = new Set(Array.from({ length: 1000 }, () => sealer.seal(trade)));
    expect(tokens.size).toBe(1000);
  });
});
