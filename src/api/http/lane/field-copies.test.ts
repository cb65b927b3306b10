import { expect, it } from "vitest";
import { joinCopies } from "./field-copies.ts";

/** Headers as Node reads them: it keeps the first copy of `authorization`. */
const read = (rawHeaders: readonly string[]) => {
  const headers: Record<string, string> = {};
  for (let i = 0; i < rawHeaders.length; i += 2) headers[rawHeaders[i]!] ??= rawHeaders[i + 1]!;
  return headers;
};
const others = (count: number) => Array.from({ length: count }, (_, i) => [`x-${i}`, String(i)]).flat();

it.each([0, 1, 5, 29, 30, 31, 60])("joins the copies of a header among %i others", (count) => {
  const rawHeaders = ["authorization", "Bearer a", ...others(count), "authorization", "Bearer b"];
  const headers = read(rawHeaders);
  joinCopies(headers, rawHeaders);
  expect(headers).toEqual({ ...read(rawHeaders), authorization: "Bearer a, Bearer b" });
});

it.each([0, 5, 60])("leaves %i headers without copies as they are", (count) => {
  const headers = read(others(count));
  joinCopies(headers, others(count));
  expect(headers).toEqual(read(others(count)));
});
