import fc from "fast-check";
import { expect, it } from "vitest";
import { isoMillis } from "./clock.ts";

it("formats times like Date.toISOString, regardless of earlier calls", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -1_000_000_000_000, max: 4_000_000_000_000 })), (moments) => {
      expect(moments.map(isoMillis)).toEqual(moments.map((moment) => new Date(moment).toISOString()));
    }),
  );
});

it("truncates to milliseconds", () => {
  expect(isoMillis(1_732_000_000_999.99)).toBe("2024-11-19T07:06:40.999Z");
});
