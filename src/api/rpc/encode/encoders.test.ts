import {
  create,
  type DescField,
  type DescMessage,
  ScalarType,
  toBinary,
  toJson,
  toJsonString,
} from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { AccountService } from "../../../../gen/tradewire/v1/account_pb.ts";
import { TradeService } from "../../../../gen/tradewire/v1/trade_pb.ts";
import { writtenText } from "../../../../test/support/written-text.ts";
import { createRandom, type Random } from "../../../primitives/random.ts";
import { createJsonEncoder } from "../../rest/json-encoder.ts";
import { restEnumName } from "../../rest/rest-enum.ts";
import { createBinaryEncoder } from "./binary-encoder.ts";
import { createProtoJsonEncoder } from "./proto-json-encoder.ts";

const TEXTS = [
  "",
  "a",
  "So11111111111111111111111111111111111111112",
  'a"b\\c\n',
  "ü",
  "\u2028\ud800",
  "😀".repeat(30),
];
const LENGTHS = [42, 43, 126, 127, 128, 129, 5_000, 17_000];
const DOUBLES = [0, -0, 1, 0.1, 1e21, 1e-7, -2.5, Number.NaN, Number.POSITIVE_INFINITY, Number.MAX_VALUE];
const INTEGERS = [
  0n,
  1n,
  127n,
  128n,
  (1n << 53n) - 1n,
  1n << 53n,
  (1n << 53n) + 1n,
  (1n << 63n) + 5n,
  (1n << 64n) - 1n,
];

/** Fields as an implementation may return them: some absent, some undefined, some zero. */
function randomFields({ fields }: DescMessage, random: Random, depth = 0): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (const field of fields) {
    if (random.u32() % 4 === 0) continue;
    if (random.u32() % 8 === 0) made[field.localName] = undefined;
    else if (field.fieldKind === "list") {
      if (depth < 4)
        made[field.localName] = Array.from({ length: random.u32() % 4 }, () => randomValue(field, random, depth));
    } else if (field.fieldKind !== "message" || depth < 4) made[field.localName] = randomValue(field, random, depth);
  }
  return made;
}

function randomValue(field: DescField, random: Random, depth: number): unknown {
  if (field.message !== undefined) return randomFields(field.message, random, depth + 1);
  if (field.enum !== undefined) return random.pick(field.enum.values).number;
  switch (field.scalar) {
    case ScalarType.STRING:
      return random.u32() % 2 === 0 ? random.pick(TEXTS) : "x".repeat(random.pick(LENGTHS));
    case ScalarType.BYTES:
      return random.bytes(random.u32() % 300);
    case ScalarType.DOUBLE:
      return random.pick(DOUBLES);
    case ScalarType.BOOL:
      return random.u32() % 2 === 0;
    case ScalarType.UINT64:
      return random.pick(INTEGERS);
    case ScalarType.SINT32:
      return random.pick([0, 1, -1, 63, -64, 64, -65, 2 ** 31 - 1, -(2 ** 31)]);
    default:
      return random.pick([0, 1, 127, 128, 2 ** 31, 2 ** 32 - 1]);
  }
}

/** ProtoJSON as REST has it: short names of enum values, numbers for integers that fit a double, and every field. */
function asRest(desc: DescMessage, json: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(desc.fields.map((field) => [field.jsonName, valueInRest(field, json[field.jsonName])]));
}

function valueInRest(field: DescField, value: unknown): unknown {
  if (field.fieldKind === "list" && Array.isArray(value)) return value.map((item) => itemInRest(field, item));
  return value === undefined ? null : itemInRest(field, value);
}

function itemInRest(field: DescField, value: unknown): unknown {
  if (field.message !== undefined) return asRest(field.message, value as Readonly<Record<string, unknown>>);
  if (field.enum !== undefined) return restEnumName(field.enum.values.find(({ name }) => name === value)!);
  if (value === "NaN" || value === "Infinity") return null;
  return field.scalar === ScalarType.UINT64 && Number(value) <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}

const outputs = [...new Set([...TradeService.methods, ...AccountService.methods].map(({ output }) => output))];

describe.each(outputs.map((desc) => [desc.name, desc] as const))("%s", (_, desc) => {
  const binary = createBinaryEncoder(desc)!;
  const json = createProtoJsonEncoder(desc)!;
  const rest = createJsonEncoder(desc);

  test("is encoded as by the library, from fields and from a message", () => {
    const random = createRandom(11);
    for (let round = 0; round < 30; round++) {
      const fields = randomFields(desc, random);
      const message = create(desc, fields);
      const expected = Buffer.from(toBinary(desc, message));
      expect(Buffer.from(writtenText(binary, fields), "latin1").equals(expected)).toBe(true);
      expect(Buffer.from(writtenText(binary, message), "latin1").equals(expected)).toBe(true);
      const text = writtenText(json, fields);
      expect(text).toMatch(/^[ -~]*$/);
      expect(JSON.stringify(JSON.parse(text))).toBe(JSON.stringify(JSON.parse(toJsonString(desc, message))));
      expect(writtenText(json, message)).toBe(text);
    }
  });

  test("is encoded for REST as for the typed wires, with three differences", () => {
    const random = createRandom(12);
    for (let round = 0; round < 30; round++) {
      const fields = randomFields(desc, random);
      const message = create(desc, fields);
      const inProto = toJson(desc, message, { alwaysEmitImplicit: true }) as Readonly<Record<string, unknown>>;
      const expected = JSON.stringify(asRest(desc, inProto));
      expect(writtenText(rest, fields)).toMatch(/^[ -~]*$/);
      expect(JSON.stringify(JSON.parse(writtenText(rest, fields)))).toBe(expected);
      expect(writtenText(rest, message)).toBe(writtenText(rest, fields));
    }
  });
});
