import { describe, expect, test } from "vitest";
import { accountsAnswerOf } from "./accounts-answer.ts";

const accountOf = (lamports: number, bytes: string) => ({
  data: [bytes, "base64"],
  executable: false,
  lamports,
  owner: "11111111111111111111111111111111",
  rentEpoch: 0,
  space: 3,
});
const FIRST = accountOf(1, "AAEC");
const SECOND = accountOf(2, "");
const context = { slot: 77 };
const resultOf = (...value: unknown[]) => ({ context, value });

/** What parsing the text gives, without what is not read. */
function parsed(text: string): unknown {
  const { id, result } = JSON.parse(text);
  const value = result.value.map((one: typeof FIRST | null) => {
    if (one === null) return null;
    const { lamports, data, owner, executable } = one;
    return { lamports, data, owner, executable };
  });
  return { id, result: { context: { slot: result.context.slot }, value } };
}

test.each<readonly [string, object]>([
  ["with the id at the end", { jsonrpc: "2.0", result: resultOf(FIRST, null, SECOND), id: 5 }],
  ["with the id at the start", { jsonrpc: "2.0", id: 5, result: resultOf(null, FIRST) }],
  [
    "with the version of the software",
    { jsonrpc: "2.0", result: { context: { apiVersion: "3.1.2", ...context }, value: [SECOND] }, id: 5 },
  ],
  ["without accounts", { jsonrpc: "2.0", result: resultOf(), id: 0 }],
  ["with a hundred", { jsonrpc: "2.0", result: resultOf(...new Array(100).fill(FIRST)), id: 5 }],
])("an answer is read %s", (_how, answer) => {
  const text = JSON.stringify(answer);
  expect(accountsAnswerOf(text)).toEqual(parsed(text));
  expect(accountsAnswerOf(`${text}\n`)).toEqual(parsed(text));
});

describe("what is left to the parser", () => {
  const whole = JSON.stringify({ jsonrpc: "2.0", result: resultOf(FIRST, null), id: 5 });

  test.each<readonly [string, object]>([
    ["an error", { jsonrpc: "2.0", error: { code: -32005, message: "behind" }, id: 5 }],
    ["an id that is a text", { jsonrpc: "2.0", result: resultOf(FIRST), id: "5" }],
    ["no id", { jsonrpc: "2.0", result: resultOf(FIRST) }],
    ["two ids", { jsonrpc: "2.0", id: 5, result: resultOf(FIRST), more: 1 }],
    ["no list", { jsonrpc: "2.0", result: { context, value: FIRST }, id: 5 }],
    ["more than a hundred", { jsonrpc: "2.0", result: resultOf(...new Array(101).fill(null)), id: 5 }],
    ["parsed accounts", { jsonrpc: "2.0", result: resultOf({ ...FIRST, data: { parsed: {} } }), id: 5 }],
    ["more lamports than a double holds", { jsonrpc: "2.0", result: resultOf(accountOf(1e15, "")), id: 5 }],
    ["an escape", { jsonrpc: "2.0", result: resultOf(accountOf(1, "\n")), id: 5 }],
  ])("an answer with %s", (_what, answer) => {
    expect(accountsAnswerOf(JSON.stringify(answer))).toBeUndefined();
  });

  test("an answer with spaces, and every one that is cut or goes on", () => {
    expect(accountsAnswerOf(JSON.stringify(JSON.parse(whole), null, 1))).toBeUndefined();
    for (let end = 0; end < whole.length; end++) expect(accountsAnswerOf(whole.slice(0, end))).toBeUndefined();
    for (const more of [" ", "\n\n", "}"]) expect(accountsAnswerOf(whole + more)).toBeUndefined();
    for (const [piece, longer] of [
      ["null", "null,"],
      ["},null", ",},null"],
      ["[{", "[,{"],
    ] as const) {
      expect(whole).toContain(piece);
      expect(accountsAnswerOf(whole.replace(piece, longer))).toBeUndefined();
    }
  });
});
