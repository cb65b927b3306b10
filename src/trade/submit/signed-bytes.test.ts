import { createHash } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import bs58 from "bs58";
import { describe, expect, test } from "vitest";
import { TradewireError } from "../../errors/tradewire-error.ts";
import { Address } from "../../primitives/address.ts";
import { concatBytes } from "../../primitives/bytes.ts";
import { createRandom } from "../../primitives/random.ts";
import { verifySignedBytes } from "./signed-bytes.ts";

const random = createRandom(6);
const secret = random.bytes(32);
const message = random.bytes(120);
const signature = ed25519.sign(message, secret);
const signed = concatBytes(Uint8Array.of(1), signature, message);
const wallet = Address.from(ed25519.getPublicKey(secret));
const sealed = {
  wallet,
  messageHash: createHash("sha256").update(message).digest(),
  messageLength: message.length,
};

const codeOf = (transaction: Uint8Array): string => {
  try {
    return verifySignedBytes(sealed, transaction);
  } catch (error) {
    return error instanceof TradewireError ? error.code : String(error);
  }
};

describe("signed bytes", () => {
  test("accepts the built message with the wallet's signature", () => {
    expect(codeOf(signed)).toBe(bs58.encode(signature));
  });

  test("refuses every single flipped bit", () => {
    const codes = new Set<string>();
    for (let bit = 0; bit < signed.length * 8; bit++) {
      const flipped = signed.slice();
      flipped[bit >> 3]! ^= 1 << (bit & 7);
      codes.add(codeOf(flipped));
    }
    expect([...codes].sort()).toEqual(["INVALID_SIGNATURE", "MESSAGE_MISMATCH"]);
  });

  test("accepts version 1, whose signature follows the message, and refuses every flipped bit of it", () => {
    const newer = concatBytes(Uint8Array.of(0x81), message.subarray(1));
    const own = ed25519.sign(newer, secret);
    const ofNewer = { ...sealed, messageHash: createHash("sha256").update(newer).digest() };
    const transaction = concatBytes(newer, own);
    expect(verifySignedBytes(ofNewer, transaction)).toBe(bs58.encode(own));
    for (let bit = 0; bit < transaction.length * 8; bit++) {
      const flipped = transaction.slice();
      flipped[bit >> 3]! ^= 1 << (bit & 7);
      expect(() => verifySignedBytes(ofNewer, flipped)).toThrow(TradewireError);
    }
    const empty = concatBytes(newer, new Uint8Array(64));
    expect(() => verifySignedBytes(ofNewer, empty)).toThrow("The transaction is not signed.");
  });

  test.each<[string, Uint8Array, string]>([
    ["nothing", new Uint8Array(0), "MESSAGE_MISMATCH"],
    ["no signature", concatBytes(Uint8Array.of(1), new Uint8Array(64), message), "NOT_FULLY_SIGNED"],
    ["a trailing byte", concatBytes(signed, Uint8Array.of(0)), "MESSAGE_MISMATCH"],
    ["a missing byte", signed.subarray(0, signed.length - 1), "MESSAGE_MISMATCH"],
    ["an extra signature", concatBytes(Uint8Array.of(2), signature, signature, message), "MESSAGE_MISMATCH"],
    ["a count written long", concatBytes(Uint8Array.of(0x81, 0), signature, message), "MESSAGE_MISMATCH"],
    ["no signature slot", concatBytes(Uint8Array.of(0), message), "MESSAGE_MISMATCH"],
    [
      "another signer",
      concatBytes(Uint8Array.of(1), ed25519.sign(message, random.bytes(32)), message),
      "INVALID_SIGNATURE",
    ],
    [
      "a signature of other bytes",
      concatBytes(Uint8Array.of(1), ed25519.sign(random.bytes(9), secret), message),
      "INVALID_SIGNATURE",
    ],
  ])("%s", (_what, transaction, code) => {
    expect(codeOf(transaction)).toBe(code);
  });
});
