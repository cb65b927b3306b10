import { randomFillSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { TradewireError } from "../../../errors/tradewire-error.ts";
import { Address } from "../../../primitives/address.ts";
import { createRandom } from "../../../primitives/random.ts";
import type { SealedTrade } from "./sealed-trade.ts";
import { createTokenSealer, type SealingKey } from "./submission-token.ts";

const random = createRandom(5);
const address = () => Address.from(random.bytes(32));
const ACCOUNT = "acc_1";
const key = (id: string, seals = true): SealingKey => ({ id, secret: random.bytes(32), seals });
const now = () => 1_795_000_000_000;

function sealedTrade(): SealedTrade {
  const mints = Array.from({ length: 2 + (random.u32() % 2) }, address);
  return {
    wallet: address(),
    messageHash: random.bytes(32),
    messageLength: random.u32() % 1200,
    lastValidBlockHeight: random.below(1n << 40n),
    buildSlot: random.below(1n << 40n),
    stateSlot: random.below(1n << 40n),
    expiresAtMs: 1_795_000_030_123,
    inMint: mints[0]!,
    outMint: mints.at(-1)!,
    inDecimals: 9,
    outDecimals: 6,
    costs: { baseFee: 5000n, priorityFee: 77n, tip: 0n, rentPaid: 1_488_440n, rentReturned: 3n },
    route: mints.slice(1).map((outMint, index) => ({
      venue: "raydium_cpmm",
      market: address(),
      inMint: mints[index]!,
      outMint,
      inAmount: random.below(1n << 64n),
      outAmount: random.below(1n << 64n),
    })),
    senders: ["rpc", "relé"],
    creates: [
      { address: address(), space: 165, rent: 1_488_440n, grows: false },
      { address: address(), space: 301, rent: 457_200n, grows: true },
      { address: address(), space: 141, rent: 467_360n, grows: true, isTraded: true },
    ],
    closes: random.chance(0.5) ? address() : undefined,
    priority: random.chance(0.5) ? "faster" : undefined,
  };
}

/** The same over two parallel paths. */
function dividedTrade(): SealedTrade {
  const { route, ...rest } = sealedTrade();
  const legs = route.flatMap((leg) => [0, 1].map((path) => ({ ...leg, path, sharePpb: 400_000_000 + path })));
  return { ...rest, route: legs.sort((a, b) => a.path - b.path) };
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
  const sealer = createTokenSealer({ keys, genesisHash: "genesis", now, fillRandom: randomFillSync });

  test("open to the trade that was sealed", () => {
    for (let round = 0; round < 50; round++) {
      const trade = sealedTrade();
      expect(sealer.open(sealer.seal(trade, ACCOUNT), ACCOUNT)).toEqual(trade);
    }
    const divided = dividedTrade();
    expect(sealer.open(sealer.seal(divided, ACCOUNT), ACCOUNT)).toEqual(divided);
  });

  test.each([
    [0, 0],
    [150, 150],
    [255, 255],
    [256, 255],
    [-1, 0],
  ])("of a trade with %d blocks left say %d", (blocksLeft, said) => {
    const token = sealer.seal({ ...sealedTrade(), priority: "fast", blocksLeft }, ACCOUNT);
    expect(sealer.open(token, ACCOUNT)).toMatchObject({ priority: "fast", blocksLeft: said });
  });

  test("of one day open on the next, in every process", () => {
    let nowMs = 86_400_000 * 20_000 - 1;
    const clocked = { keys, genesisHash: "genesis", now: () => nowMs, fillRandom: randomFillSync };
    const one = createTokenSealer(clocked);
    const trade = sealedTrade();
    const tokens = [one.seal(trade, ACCOUNT)];
    nowMs += 1;
    tokens.push(one.seal(trade, ACCOUNT));
    const other = createTokenSealer(clocked);
    tokens.push(other.seal(trade, ACCOUNT));
    for (const token of tokens)
      for (const opener of [one, other, createTokenSealer(clocked)]) expect(opener.open(token, ACCOUNT)).toEqual(trade);
  });

  test.each(["a".repeat(64), "a".repeat(65), "a".repeat(200), "ä".repeat(40), "aä"])(
    "of the account %s open for it alone",
    (account) => {
      const trade = sealedTrade();
      const token = sealer.seal(trade, account);
      expect(sealer.open(token, account)).toEqual(trade);
      for (const other of [`${account}a`, account.slice(0, -1), `${account.slice(0, -1)}b`, account.slice(0, 64)])
        if (other !== account) expect(refusal(() => sealer.open(token, other))).toMatch(/^INVALID_SUBMISSION_TOKEN/);
    },
  );

  test("do not open with any character changed, and never crash", () => {
    const trade = sealedTrade();
    const token = sealer.seal(trade, ACCOUNT);
    for (let at = 0; at < token.length; at++) {
      for (const other of ["A", "_", "."]) {
        if (token[at] === other) continue;
        expect(refusal(() => sealer.open(token.slice(0, at) + other + token.slice(at + 1), ACCOUNT))).toMatch(
          /^INVALID_SUBMISSION_TOKEN/,
        );
      }
      expect(refusal(() => sealer.open(token.slice(0, at), ACCOUNT))).toMatch(/^INVALID_SUBMISSION_TOKEN/);
    }
    expect(refusal(() => sealer.open(`${token}A`, ACCOUNT))).toMatch(/^INVALID_SUBMISSION_TOKEN/);
    expect(() => sealer.open(`${token}A`, ACCOUNT)).toThrow(
      expect.objectContaining({ facts: { field: "submissionToken" } }),
    );
  });

  test("have one spelling only", () => {
    const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const leftOver = new Set<number>();
    for (const length of [1, 2, 3]) {
      const token = sealer.seal({ ...sealedTrade(), senders: ["x".repeat(length)], closes: undefined }, ACCOUNT);
      leftOver.add(token.split(".")[2]!.length % 4);
      // If the last letter has unused bits, other letters stand for the same bytes.
      for (const last of letters) {
        const other = token.slice(0, -1) + last;
        if (other !== token) expect(refusal(() => sealer.open(other, ACCOUNT))).toMatch(/^INVALID_SUBMISSION_TOKEN/);
      }
      for (const more of ["=", "==", ".", ".x", " ", "\n"])
        expect(refusal(() => sealer.open(token + more, ACCOUNT))).toMatch(/^INVALID_SUBMISSION_TOKEN/);
    }
    expect(leftOver).toContain(2);
  });

  test("of another account, of another network and garbage get the same error", () => {
    const trade = sealedTrade();
    const token = sealer.seal(trade, ACCOUNT);
    const elsewhere = createTokenSealer({ keys, genesisHash: "other", now, fillRandom: randomFillSync });
    const answers = [
      refusal(() => sealer.open(token, "acc_other")),
      refusal(() => elsewhere.open(token, ACCOUNT)),
      refusal(() => sealer.open("garbage", ACCOUNT)),
      refusal(() => sealer.open("", ACCOUNT)),
      refusal(() => sealer.open("a".repeat(100_000), ACCOUNT)),
    ];
    expect(new Set(answers).size).toBe(1);
  });

  test("open with an old key of the ring, not with a removed one", () => {
    const trade = sealedTrade();
    const old = key("k0");
    const token = createTokenSealer({ keys: [old], genesisHash: "genesis", now, fillRandom: randomFillSync }).seal(
      trade,
      ACCOUNT,
    );
    const rotated = createTokenSealer({
      keys: [key("k9"), { ...old, seals: false }],
      genesisHash: "genesis",
      now,
      fillRandom: randomFillSync,
    });
    expect(rotated.open(token, ACCOUNT)).toEqual(trade);
    expect(rotated.seal(trade, ACCOUNT)).toMatch(/^tw1\.k9\./);
    expect(refusal(() => sealer.open(token, ACCOUNT))).toMatch(/^INVALID_SUBMISSION_TOKEN/);
    expect(() =>
      createTokenSealer({ keys: [{ ...old, seals: false }], genesisHash: "genesis", now, fillRandom: randomFillSync }),
    ).toThrow(RangeError);
  });

  test("never share a nonce", () => {
    const trade = sealedTrade();
    const tokens = new Set(Array.from({ length: 1000 }, () => sealer.seal(trade, ACCOUNT)));
    expect(tokens.size).toBe(1000);
  });
});
