import type { Message } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import {
  BuyRequestSchema,
  SellRequestSchema,
  SubmitRequestSchema,
  SwapRequestSchema,
} from "../../../gen/tradewire/v1/trade_pb.ts";
import { createRandom } from "../../primitives/random.ts";
import { parseJson } from "../http/parse-json.ts";
import { createBodyDecoder } from "./everyday-json.ts";
import { createJsonDecoder } from "./json-decoder.ts";

const MINT = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
const BODIES = [
  [BuyRequestSchema, `{"mint":"${MINT}","solAmount":0.012345678,"slippage":0.05,"priority":"fast"}`],
  [BuyRequestSchema, `{ "mint" : "${MINT}" , "sol_amount": 12.50, "slippage": 1e-2, "priority": "PRIORITY_FAST" }`],
  [
    BuyRequestSchema,
    `{"mint": "${MINT}", "solAmountRaw": "1000", "slippage": 0, "requireChecked": true, "maxPaths": 3}`,
  ],
  [
    SellRequestSchema,
    `{"mint":"${MINT}","sellPercent":33.333333333333336,"slippage":1,"totalGuard":false,"worstCase":true}`,
  ],
  [
    SwapRequestSchema,
    `{"inputMint":"SOL","outputMint":"${MINT}","amount":null,"venues":["pump_fun"],"swapMode":"exactIn"}`,
  ],
  [
    SwapRequestSchema,
    `{"inputMint":"SOL","amount":999999999999999,"amount_raw":"1000000000000000","maxLegs":4294967295}`,
  ],
  [SubmitRequestSchema, '{"submissionToken":"tw1.k1.AAAA","signedTransaction":"AQAAAA=="}'],
] as const;
const PIECES = [
  ...'{}[]":,. -+eE\\/01950tfn',
  "null",
  "true",
  "false",
  "\u00fc",
  "\n",
  "\x7f",
  '"amount":1,',
  '"mint":"a",',
];

type Outcome = { readonly message: Message } | { readonly error: string };

function outcomeOf(decode: () => Message): Outcome {
  try {
    return { message: decode() };
  } catch (error) {
    return { error: String(error) };
  }
}

describe.each(["rest", "proto"] as const)("a body in %s", (dialect) => {
  test("becomes what the parser and the decoder make of it, however it is changed", () => {
    const random = createRandom(7);
    for (const [schema, text] of BODIES) {
      const decode = createBodyDecoder(schema, dialect);
      const decodeJson = createJsonDecoder(schema, dialect);
      const agree = (changed: string) => {
        const body = Buffer.from(changed);
        const expected = outcomeOf(() => decodeJson(parseJson(body)));
        const found = outcomeOf(() => decode(body));
        if (JSON.stringify(found) !== JSON.stringify(expected))
          expect({ changed, found }).toEqual({ changed, found: expected });
        return expected;
      };
      expect(agree(text)).toBeDefined();
      for (let round = 0; round < 3_000; round++) {
        let changed = text;
        for (let change = random.u32() % 3; change >= 0; change--) {
          const at = random.u32() % changed.length;
          changed = changed.slice(0, at) + random.pick(PIECES) + changed.slice(at + (random.u32() % 3));
        }
        agree(changed);
      }
    }
  });

  test("has numbers as JavaScript reads them", () => {
    const random = createRandom(8);
    const decode = createBodyDecoder(BuyRequestSchema, dialect);
    for (let round = 0; round < 20_000; round++) {
      const units = String(random.between(0n, 10n ** BigInt(1 + (random.u32() % 18))));
      const places = random.u32() % 20;
      const padded = units.padStart(places + 1, "0");
      const text = places === 0 ? units : `${padded.slice(0, -places)}.${padded.slice(-places)}`;
      const { solAmount } = decode(Buffer.from(`{"solAmount":${text}}`)) as Message & { readonly solAmount: number };
      if (!Object.is(solAmount, Number(text))) expect({ text, solAmount }).toEqual({ text, solAmount: Number(text) });
    }
  });
});

test("the usual bodies are read from their bytes, without the platform's parser", () => {
  const { parse } = JSON;
  JSON.parse = () => {
    throw new Error("parsed");
  };
  try {
    expect(createBodyDecoder(BuyRequestSchema, "rest")(Buffer.from(BODIES[0][1]))).toMatchObject({
      solAmount: 0.012345678,
    });
    const proto = BODIES[1][1].replace("1e-2", "0.01");
    expect(createBodyDecoder(BuyRequestSchema, "proto")(Buffer.from(proto))).toMatchObject({ solAmount: 12.5 });
  } finally {
    JSON.parse = parse;
  }
});
