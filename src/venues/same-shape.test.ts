import { expect, test } from "vitest";
import { pumpFun } from "./pump-fun/venue.ts";
import { venues } from "./registry.ts";
import { sameShape } from "./same-shape.ts";

test("all venues have the same members in the same order", () => {
  for (const venue of venues) expect(Object.keys(venue)).toEqual(Object.keys(venues[0]!));
});

test("a venue keeps every member it has, and gets none", () => {
  const shaped = sameShape(pumpFun) as unknown as Record<string, unknown>;
  for (const [member, value] of Object.entries(pumpFun)) expect(shaped[member]).toBe(value);
  for (const [member, value] of Object.entries(shaped)) if (!(member in pumpFun)) expect(value, member).toBeUndefined();
});
