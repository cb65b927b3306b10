import { describe, expect, test } from "vitest";
import { accountNoticeOf } from "./account-notice.ts";

const OWNER = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const FIELDS = {
  lamports: "2039280",
  data: '["AAECAw==","base64"]',
  owner: `"${OWNER}"`,
  executable: "false",
  rentEpoch: "18446744073709551615",
  space: "4",
};
const DECLARED = Object.keys(FIELDS) as (keyof typeof FIELDS)[];

/** A notice with these fields of the account, in this order. */
function noticeOf(
  fields: readonly (readonly [name: string, text: string])[],
  slot = "447552037",
  number = "17",
): string {
  const value = fields.map(([name, text]) => `"${name}":${text}`).join(",");
  const result = `{"context":{"slot":${slot}},"value":{${value}}}`;
  return `{"jsonrpc":"2.0","method":"accountNotification","params":{"result":${result},"subscription":${number}}}`;
}
const withField = (name: string, text: string): string =>
  noticeOf(DECLARED.map((one) => [one, one === name ? text : FIELDS[one]]));
const whole = noticeOf(DECLARED.map((name) => [name, FIELDS[name]]));

/** What parsing the text gives, without what is not read. */
function parsed(text: string): unknown {
  const { subscription, result } = JSON.parse(text).params;
  const { lamports, data, owner, executable } = result.value;
  return { subscription, result: { context: result.context, value: { lamports, data, owner, executable } } };
}

test.each([
  ["as they are declared", DECLARED],
  ["by name", DECLARED.toSorted()],
  ["from the last one on", DECLARED.toReversed()],
  ["without the rent's epoch and the space", DECLARED.slice(0, 4)],
])("a notice is read with its fields %s", (_order, names) => {
  const text = noticeOf(names.map((name) => [name, FIELDS[name]]));
  expect(accountNoticeOf(text)).toEqual(parsed(text));
});

test.each([
  ["lamports", "0"],
  ["lamports", "999999999999999"],
  ["data", '["","base64"]'],
  ["executable", "true"],
  ["rentEpoch", "0"],
])("a notice is read whose %s is %s", (name, text) => {
  expect(accountNoticeOf(withField(name, text))).toEqual(parsed(withField(name, text)));
});

describe("what is left to the parser", () => {
  test.each([
    ["lamports", "1000000000000000"],
    ["lamports", "01"],
    ["lamports", "-1"],
    ["lamports", "1.5"],
    ["lamports", "1e3"],
    ["lamports", '"1"'],
    ["lamports", ""],
    ["data", '["AA\\u003d\\u003d","base64"]'],
    ["data", '["AA==","base58"]'],
    ["data", '"AA=="'],
    ["data", '{"parsed":{}}'],
    ["owner", `"${OWNER}\\n"`],
    ["owner", "null"],
    ["executable", "null"],
    ["rentEpoch", "1.8446744073709552e19"],
    ["space", "null"],
  ])("a notice whose %s is %s", (name, text) => {
    expect(accountNoticeOf(withField(name, text))).toBeUndefined();
  });

  test("a notice that lacks a field that is read", () => {
    for (const name of DECLARED.slice(0, 4))
      expect(accountNoticeOf(noticeOf(DECLARED.filter((one) => one !== name).map((one) => [one, FIELDS[one]])))).toBe(
        undefined,
      );
  });

  test("a notice that names a field twice, or another one", () => {
    for (const [name, text] of [...Object.entries(FIELDS), ["lamps", "1"], ["", "1"]] as const)
      expect(accountNoticeOf(noticeOf([...DECLARED.map((one) => [one, FIELDS[one]] as const), [name, text]]))).toBe(
        undefined,
      );
  });

  test("a notice with a comma behind its last field, however many it has", () => {
    for (let count = 4; count <= DECLARED.length; count++) {
      const text = noticeOf(DECLARED.slice(0, count).map((name) => [name, FIELDS[name]]));
      expect(accountNoticeOf(text)).toBeDefined();
      expect(accountNoticeOf(text.replace("}},", ",}},"))).toBeUndefined();
    }
  });

  test("a notice of an account that is gone, one with spaces, and every one that is cut or goes on", () => {
    expect(accountNoticeOf(whole.replace(/\{"lamports".*?\}/, "null"))).toBeUndefined();
    expect(accountNoticeOf(JSON.stringify(JSON.parse(whole), null, 1))).toBeUndefined();
    for (let end = 0; end < whole.length; end++) expect(accountNoticeOf(whole.slice(0, end))).toBeUndefined();
    expect(accountNoticeOf(`${whole} `)).toBeUndefined();
  });

  test("a text with any other character in a place of its own", () => {
    for (let i = 0; i < whole.length; i++) {
      const changed = `${whole.slice(0, i)}\u0000${whole.slice(i + 1)}`;
      const read = accountNoticeOf(changed);
      // Bytes and owner are checked by what decodes them.
      if (read !== undefined) expect([read.result.value.data[0], read.result.value.owner].join()).toContain("\u0000");
    }
  });
});
