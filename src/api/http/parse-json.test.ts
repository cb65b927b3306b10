import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { shownName } from "../../errors/shown-name.ts";
import { TradewireError } from "../../errors/tradewire-error.ts";
import { parseJson } from "./parse-json.ts";

function refusalOf(text: string): TradewireError | undefined {
  try {
    parseJson(Buffer.from(text));
  } catch (error) {
    if (error instanceof TradewireError) return error;
    throw error;
  }
  return undefined;
}

describe("parseJson", () => {
  it("returns what JSON.parse returns", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.constantFrom(0, 2, "\t"), (text, space) => {
        const written = JSON.stringify(JSON.parse(text), null, space);
        expect(parseJson(Buffer.from(written))).toEqual(JSON.parse(written));
      }),
    );
  });

  it.each([
    ['{"solAmount":0.1,"solAmount":1000}', "solAmount"],
    ['{"solAmount" : 0.1 ,\n\t"slippage":0,\n"solAmount"\r\n: 1}', "solAmount"],
    ['{"a":"\\"","b":"x\\\\","a":1}', "a"],
    ['{"a":1,"\\u0061":2}', "a"],
    ['{"a\\"b":1,"a\\"b":2}', 'a"b'],
    ['{"a":{"b":1,"c":[{"d":1},{"d":1,"d":2}]}}', "d"],
    ['{"__proto__":1,"__proto__":2}', "__proto__"],
    ['{"":1,"":2}', '""'],
    ['{"a":null,"a":null}', "a"],
  ])("refuses %s, naming the duplicate", (text, name) => {
    const refusal = refusalOf(text);
    expect([refusal?.code, refusal?.facts.field]).toEqual(["VALIDATION_ERROR", name]);
  });

  it.each(['{"a":"b:c","b":"\\"a\\":1"}', '{"a":{"a":[{"a":1},{"a":2}]}}', "[]", '"a"', "1", '{"a":"a"}'])(
    "accepts %s, which has no duplicate",
    (text) => {
      expect(parseJson(Buffer.from(text))).toEqual(JSON.parse(text));
    },
  );

  it.each([
    ["[", "]", 8_000, "The request body is nested deeper than 64 levels."],
    ['{"a":', "}", 2_000, "The request body is nested deeper than 64 levels."],
    ['{"\\"]":[', "]}", 1_000, "The request body is nested deeper than 64 levels."],
  ])("refuses %s…%s before parsing it", (open, close, depth, message) => {
    const text = `${open.repeat(depth)}1${close.repeat(depth)}`;
    const parse = vi.spyOn(JSON, "parse");
    expect([refusalOf(text)?.message, parse.mock.calls.length]).toEqual([message, 0]);
    parse.mockRestore();
  });

  it("refuses what is not UTF-8, and takes what only looks like it was not", () => {
    const around = (...bytes: number[]) =>
      Buffer.concat([Buffer.from('{"a":"'), Buffer.from(bytes), Buffer.from('"}')]);
    for (const wrong of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xe2, 0x82], [0xf5, 0x80, 0x80, 0x80]]) {
      expect(() => parseJson(around(...wrong))).toThrow("The request body is not UTF-8.");
    }
    expect(parseJson(around(0xef, 0xbf, 0xbd))).toEqual({ a: "\ufffd" });
    expect(parseJson(Buffer.from('{"a":"\\ufffd"}'))).toEqual({ a: "\ufffd" });
  });

  it("names a duplicate shortly, whatever it is", () => {
    for (const [name, shown] of [
      ["n".repeat(5_000), `${"n".repeat(64)}…`],
      ["\ud800", "\ufffd"],
    ] as const) {
      const written = JSON.stringify(name);
      const body = Buffer.from(`{${written}:1,${written}:2}`);
      expect(() => parseJson(body)).toThrow(
        expect.objectContaining({ message: `${shown} is given twice. Give it once.` }),
      );
    }
  });

  it("refuses more values than any request has before parsing them", () => {
    const text = JSON.stringify(Object.fromEntries(Array.from({ length: 257 }, (_, i) => [`name ${i}`, i])));
    expect(refusalOf(text)?.message).toBe("The request body holds more than 256 values.");
    expect(Object.keys(parseJson(Buffer.from(text.replace(',"name 256":256', ""))) as object).length).toBe(256);
  });

  it("reads long bodies with brackets and colons in their strings", () => {
    const json = {
      submissionToken: "[{:".repeat(500),
      label: '\\"'.repeat(500),
      list: Array.from({ length: 250 }, () => ({})),
    };
    expect(parseJson(Buffer.from(JSON.stringify(json)))).toEqual(json);
  });

  it.each([`{"a":"${"\\".repeat(1501)}"`, `{"a":"${"[".repeat(2000)}`, "]".repeat(2000), `"${"a".repeat(2000)}`])(
    "refuses long text that is no JSON",
    (text) => expect(refusalOf(text)?.message).toBe("The request body is not valid JSON."),
  );

  it("finds any duplicate name in random objects", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 }), { minKeys: 1 }),
        fc.nat(),
        fc.jsonValue({ maxDepth: 5 }),
        (json, at, value) => {
          const names = Object.keys(json);
          const name = names[at % names.length]!;
          const text = `${JSON.stringify(json).slice(0, -1)},${JSON.stringify(name)}:${JSON.stringify(value)}}`;
          expect(refusalOf(text)?.facts.field).toBe(shownName(name));
        },
      ),
    );
  });

  it("counts no deeper than requests go and leaves deeper JSON to the decoder", () => {
    const nested = (depth: number) => `{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`;
    for (const depth of [7, 8, 63]) expect(refusalOf(nested(depth))).toBeUndefined();
    expect(refusalOf(`{"b":{"c":1,"c":1},"a":${"[".repeat(5)}${"]".repeat(5)}}`)?.facts.field).toBe("c");
  });

  it.each(["{", "", '{"a":NaN}', '{"a":1,}', "\u0000"])("refuses %j, which is not JSON", (text) => {
    expect(refusalOf(text)?.message).toBe("The request body is not valid JSON.");
  });
});
