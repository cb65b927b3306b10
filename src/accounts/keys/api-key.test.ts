import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRandom, type RandomBytes } from "../../primitives/random.ts";
import { checkApiKey, createApiKey, hashApiKey, keyIdOf, randomBase62 } from "./api-key.ts";

/** The same bytes for the same seed, so that what fails fails again. */
const bytesOf = (seed: number): RandomBytes => {
  const random = createRandom(seed);
  return (length) => Buffer.from(random.bytes(length));
};
const randomBytes = bytesOf(1);

describe("createApiKey", () => {
  it("has the form of the contract, and a checksum that holds", () => {
    for (let i = 0; i < 1_000; i++) {
      const key = createApiKey(randomBytes);
      expect(key).toMatch(/^api_[0-9A-Za-z]{38}$/);
      expect(() => checkApiKey(key)).not.toThrow();
      expect(key.startsWith(`api_${keyIdOf(key)}`)).toBe(true);
    }
  });

  it("uses every character alike", () => {
    const counts = new Map<string, number>();
    for (const character of randomBase62(62_000, randomBytes)) counts.set(character, (counts.get(character) ?? 0) + 1);
    expect(counts.size).toBe(62);
    // Expected 1,000 of each with a standard deviation of 31: seven of them never happen by chance.
    for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(220);
  });
});

describe("checkApiKey", () => {
  it("agrees with a checksum made by Python's zlib", () => {
    expect(() => checkApiKey("api_0123456789ABCDEFGHIJKLMNOPQRSTUV1ggZdL")).not.toThrow();
  });

  it("notices every single mistyped character", () => {
    const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".split("");
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 4, max: 41 }), fc.constantFrom(...alphabet), (seed, at, character) => {
        const key = createApiKey(bytesOf(seed));
        fc.pre(key[at] !== character);
        expect(() => checkApiKey(key.slice(0, at) + character + key.slice(at + 1))).toThrow("mistyped");
      }),
    );
  });

  it("notices neighbours swapped", () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 4, max: 40 }), (seed, at) => {
        const key = createApiKey(bytesOf(seed));
        fc.pre(key[at] !== key[at + 1]);
        const swapped = key.slice(0, at) + key[at + 1] + key[at] + key.slice(at + 2);
        expect(() => checkApiKey(swapped)).toThrow("mistyped");
      }),
    );
  });

  it.each([
    "api_",
    "sk_0123",
    `${createApiKey(randomBytes)}0`,
    createApiKey(randomBytes).slice(1),
    `${createApiKey(randomBytes).slice(0, -1)}é`,
  ])("takes %s for no key at all", (text) => {
    expect(() => checkApiKey(text)).toThrow("not an API key");
  });
});

describe("hashApiKey", () => {
  it("depends on the key and on the pepper", () => {
    const key = createApiKey(randomBytes);
    const pepper = Buffer.alloc(32, 1);
    expect(hashApiKey(key, pepper)).toEqual(hashApiKey(key, pepper));
    expect(hashApiKey(key, pepper)).not.toEqual(hashApiKey(key, Buffer.alloc(32, 2)));
    expect(hashApiKey(key, pepper)).not.toEqual(hashApiKey(createApiKey(randomBytes), pepper));
  });
});
