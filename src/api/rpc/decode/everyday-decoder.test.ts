import {
  create,
  type DescField,
  type DescMessage,
  fromBinary,
  type Message,
  ScalarType,
  toBinary,
} from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { AccountService } from "../../../../gen/tradewire/v1/account_pb.ts";
import { BuyRequestSchema, TradeService } from "../../../../gen/tradewire/v1/trade_pb.ts";
import { Priority } from "../../../../gen/tradewire/v1/types_pb.ts";
import { createRandom, type Random } from "../../../primitives/random.ts";
import { createEverydayDecoder } from "./everyday-decoder.ts";

const TEXTS = ["", "a", "So11111111111111111111111111111111111111112", "ü", "x".repeat(127), "x".repeat(128)];

function randomFields({ fields }: DescMessage, random: Random): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (const field of fields) {
    if (random.u32() % 3 === 0 || field.message !== undefined) continue;
    made[field.localName] =
      field.fieldKind === "list"
        ? Array.from({ length: random.u32() % 4 }, () => randomValue(field, random))
        : randomValue(field, random);
  }
  return made;
}

function randomValue(field: DescField, random: Random): unknown {
  if (field.enum !== undefined) return random.pick([0, 1, 3, 200, 2 ** 31 - 1, -1]);
  switch (field.scalar) {
    case ScalarType.STRING:
      return random.pick(TEXTS);
    case ScalarType.BYTES:
      return random.bytes(random.u32() % 200);
    case ScalarType.DOUBLE:
      return random.pick([0, -0, 0.1, 1e21, Number.NaN, Number.NEGATIVE_INFINITY]);
    case ScalarType.BOOL:
      return random.u32() % 2 === 0;
    default:
      return random.pick([0, 1, 127, 128, 2 ** 31, 2 ** 32 - 1]);
  }
}

/** As the library decodes it; undefined if it does not. */
function byLibrary(desc: DescMessage, bytes: Uint8Array): Message | undefined {
  try {
    return fromBinary(desc, bytes);
  } catch {
    return undefined;
  }
}

const inputs = [...new Set([...TradeService.methods, ...AccountService.methods].map(({ input }) => input))];

describe.each(inputs.map((desc) => [desc.name, desc] as const))("%s", (_, desc) => {
  test("is decoded as by the library or not at all, whatever the bytes are", () => {
    const decode = createEverydayDecoder(desc);
    const random = createRandom(23);
    for (let round = 0; round < 200; round++) {
      const bytes = Buffer.from(toBinary(desc, create(desc, randomFields(desc, random))));
      for (let change = 0; change < 10; change++) {
        const decoded = decode(bytes);
        if (decoded !== undefined) expect(decoded).toEqual(byLibrary(desc, bytes));
        if (bytes.length > 0) bytes[random.u32() % bytes.length] = random.u32() & 0xff;
      }
      for (let length = 0; length < Math.min(bytes.length, 20); length++) {
        const part = bytes.subarray(0, length);
        const decoded = decode(part);
        if (decoded !== undefined) expect(decoded).toEqual(byLibrary(desc, part));
      }
    }
  });
});

test("a buy as clients send it is decoded here, and one with unknown fields is not", () => {
  const decode = createEverydayDecoder(BuyRequestSchema);
  const fields = {
    mint: TEXTS[2]!,
    solAmount: 0.1,
    slippage: 0.01,
    priority: Priority.FAST,
    venues: ["pump_fun", "a"],
  };
  const asked = create(BuyRequestSchema, { ...fields, directOnly: true, maxPaths: 300, maxLegs: 0 });
  const bytes = Buffer.from(toBinary(BuyRequestSchema, asked));
  expect(decode(bytes)).toEqual(asked);
  expect(Object.keys(decode(bytes)!)).toEqual(Object.keys(fromBinary(BuyRequestSchema, bytes)));
  expect(decode(Buffer.alloc(0))).toEqual(create(BuyRequestSchema));
  expect(decode(Buffer.concat([bytes, Buffer.of(0x9a, 0x06, 0x00)]))).toBeUndefined();
});
