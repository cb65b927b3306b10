import { expect, it } from "vitest";
import { Address } from "../../primitives/address.ts";
import { createRandom } from "../../primitives/random.ts";
import { parseAddressField } from "./requests.ts";

it("parses each of many addresses, however often and whichever others have been parsed", () => {
  const random = createRandom(23);
  const drawn = Array.from({ length: 30_000 }, () => Address.from(Uint8Array.from({ length: 32 }, () => random.u32())));
  for (const address of [...drawn, ...drawn]) expect(parseAddressField(address.toString(), "mint")).toBe(address);
});

it.each(["", "1", "pump", "So1111111111111111111111111111111111111111l", "1".repeat(44)])(
  "refuses %j, also after it was refused",
  (text) => {
    for (let i = 0; i < 2; i++) expect(() => parseAddressField(text, "mint")).toThrow("mint is not an address");
  },
);
