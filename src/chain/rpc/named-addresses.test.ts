import { expect, it } from "vitest";
import { Address } from "../../primitives/address.ts";
import { encodeBase58 } from "../../primitives/encoding/base58.ts";
import { createRandom } from "../../primitives/random.ts";
import { addressNamed } from "./named-addresses.ts";

it("reads an address named before, and after many others, as the same", () => {
  const random = createRandom(11);
  const addresses = Array.from({ length: 9_000 }, () => Address.from(random.bytes(32)));
  const named = addresses.map((address) => [encodeBase58(address.bytes), address] as const);
  const again = [...named, ...named.slice(0, 3_000), ...named.toReversed()];
  expect(again.filter(([text, address]) => addressNamed(text) !== address)).toEqual([]);
});

it("reads no address in other texts, also where it has read one", () => {
  const text = Address.from(new Uint8Array(32).fill(9)).toString();
  expect(addressNamed(text)).toBeDefined();
  for (const other of [
    "",
    "1",
    ` ${text}`,
    `${text}1`,
    `1${text}`,
    text.slice(1),
    `${text.slice(0, -1)}0`,
    "1".repeat(33),
  ])
    expect(addressNamed(other)).toBeUndefined();
  expect(addressNamed("1".repeat(32))?.bytes).toEqual(new Uint8Array(32));
});
