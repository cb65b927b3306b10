import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createTestWallet } from "../../test/support/wallet.ts";
import { Address } from "./address.ts";
import { concatBytes, hex, textBytes } from "./bytes.ts";
import { isWalletKey, verifySignature } from "./ed25519.ts";

/** Every encoding of a point of small order, canonical or not. @see "Taming the many EdDSAs", table of small-order points */
const SMALL_ORDER = [
  "0100000000000000000000000000000000000000000000000000000000000000",
  "0100000000000000000000000000000000000000000000000000000000000080",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0000000000000000000000000000000000000000000000000000000000000080",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
].map(hex);

const ORDER = 2n ** 252n + 27_742_317_777_372_353_535_851_937_790_883_648_493n;

describe("isWalletKey", () => {
  it("is true for the keys of wallets", () => {
    for (let i = 0; i < 50; i++) expect(isWalletKey(createTestWallet().address.bytes)).toBe(true);
  });

  it("is false for every small-order encoding, and for addresses off the curve", () => {
    for (const key of SMALL_ORDER) expect(isWalletKey(key)).toBe(false);
    expect(isWalletKey(Address.of("5Q544fKrFoe6tsEbD7S8EmxGTJYAKtTVhAW5Q5pge4j1").bytes)).toBe(false);
  });
});

describe("verifySignature", () => {
  const wallet = createTestWallet();

  it("says the same of a key that is remembered", () => {
    const signer = createTestWallet();
    const message = textBytes("a trade");
    const signature = signer.sign(message);
    const check = () => {
      expect(verifySignature(signer.address.bytes, message, signature)).toBe(true);
      expect(verifySignature(signer.address.bytes, textBytes("another"), signature)).toBe(false);
      for (const key of SMALL_ORDER) expect(verifySignature(key, message, signature)).toBe(false);
    };
    check();
    check();
  });
  const message = textBytes("a challenge");
  const signature = wallet.sign(message);

  it("is true for the wallet's signature, and false if one bit differs", () => {
    expect(verifySignature(wallet.address.bytes, message, signature)).toBe(true);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 511 }), (bit) => {
        const flipped = Uint8Array.from(signature, (byte, i) => (i === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
        expect(verifySignature(wallet.address.bytes, message, flipped)).toBe(false);
      }),
    );
    expect(verifySignature(wallet.address.bytes, textBytes("a challenge."), signature)).toBe(false);
    expect(verifySignature(createTestWallet().address.bytes, message, signature)).toBe(false);
  });

  it("agrees with the first vector of RFC 8032", () => {
    expect(
      verifySignature(
        hex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"),
        new Uint8Array(),
        hex(
          "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
        ),
      ),
    ).toBe(true);
  });

  it("refuses a scalar that is not canonical", () => {
    let scalar = 0n;
    for (let i = 63; i >= 32; i--) scalar = (scalar << 8n) | BigInt(signature[i]!);
    let malleated = scalar + ORDER;
    const forged = Uint8Array.from(signature);
    for (let i = 32; i < 64; i++, malleated >>= 8n) forged[i] = Number(malleated & 0xffn);
    expect(verifySignature(wallet.address.bytes, message, forged)).toBe(false);
  });

  it("accepts no forgery for a small-order key, over 10,000 messages", () => {
    let accepted = 0;
    for (let i = 0; i < 10_000; i++) {
      const key = SMALL_ORDER[i % SMALL_ORDER.length]!;
      // With such a key, R of small order and a zero scalar satisfy the equation of lax verifiers for many messages.
      const forged = concatBytes(SMALL_ORDER[(i * 5) % SMALL_ORDER.length]!, new Uint8Array(32));
      if (verifySignature(key, textBytes(`challenge ${i}`), forged)) accepted++;
    }
    expect(accepted).toBe(0);
  });
});
