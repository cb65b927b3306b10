import { create, type DescField, type DescMessage, type Message, ScalarType, setExtension } from "@bufbuild/protobuf";
import { FieldOptionsSchema } from "@bufbuild/protobuf/wkt";
import { createValidator } from "@bufbuild/protovalidate";
import { FieldRulesSchema, field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { describe, expect, test } from "vitest";
import {
  AccountService,
  BuyRequestSchema,
  Priority,
  QuoteRequestSchema,
  RegisterRequestSchema,
  SellRequestSchema,
  SubmitRequestSchema,
  SwapMode,
  SwapRequestSchema,
  TradeService,
} from "../../../../gen/index.ts";
import { createRandom } from "../../../primitives/random.ts";
import { compileEverydayRules } from "./everyday-rules.ts";

const MINT = "So11111111111111111111111111111111111111112";
const OTHER_MINT = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const ORDER = { mint: MINT, solAmount: 0.5, slippage: 0.05, priority: Priority.FAST };
const matches = (pattern: string, text: string) => new RegExp(pattern, "u").test(text);
const INPUTS: readonly DescMessage[] = [TradeService, AccountService].flatMap(({ methods }) =>
  methods.map(({ input }) => input),
);

test("a buy in everyday form keeps the rules, also at their edges", () => {
  const keeps = compileEverydayRules(BuyRequestSchema, matches)!;
  for (const fields of [
    {},
    { slippage: 0 },
    { mint: "SOL" },
    { solAmount: undefined, solAmountRaw: "1" },
    { maxPaths: 4, maxLegs: 1, venues: Array.from({ length: 32 }, () => "pump_fun") },
    { maxPriceImpact: 0, maxTransactionVersion: 1 },
  ])
    expect(keeps(create(BuyRequestSchema, { ...ORDER, ...fields }))).toBe(true);
});

describe("a buy does not keep them", () => {
  const keeps = compileEverydayRules(BuyRequestSchema, matches)!;
  test.each([
    ["without a mint", { mint: "" }],
    ["with a mint that is none", { mint: "0" }],
    ["without slippage", { slippage: undefined }],
    ["with all of it as slippage", { slippage: 1 }],
    ["with slippage that is no number", { slippage: Number.NaN }],
    ["of nothing", { solAmount: 0 }],
    ["of infinitely much", { solAmount: Number.POSITIVE_INFINITY }],
    ["without priority", { priority: Priority.UNSPECIFIED }],
    ["with an unknown priority", { priority: 99 }],
    ["with no paths", { maxPaths: 0 }],
    ["with 33 venues", { venues: Array.from({ length: 33 }, () => "pump_fun") }],
  ])("%s", (_, fields) => {
    expect(keeps(create(BuyRequestSchema, { ...ORDER, ...fields } as never))).toBe(false);
  });
});

test("requests with other rules are left to the library", () => {
  for (const desc of [SubmitRequestSchema, RegisterRequestSchema]) {
    const keeps = compileEverydayRules(desc, matches);
    if (keeps !== undefined) expect(keeps(create(desc))).toBe(false);
  }
});

test.each([
  ["requireChecked", true],
  ["venues", ["pump_fun"]],
  ["mint", MINT],
  ["priority", Priority.FAST],
])("a required %s is missing while it is zero", (name, value) => {
  const options = create(FieldOptionsSchema);
  setExtension(options, fieldRules, create(FieldRulesSchema, { required: true }));
  const field = BuyRequestSchema.fields.find(({ localName }) => localName === name)!;
  const fields = [{ ...field, presence: field.presence, proto: { ...field.proto, options } }];
  const keeps = compileEverydayRules({ ...BuyRequestSchema, fields, oneofs: [] } as unknown as DescMessage, matches)!;
  expect(keeps(create(BuyRequestSchema))).toBe(false);
  expect(keeps(create(BuyRequestSchema, { [name]: value }))).toBe(true);
});

test("whatever is in a request, what keeps the rules here keeps them by the library", () => {
  const random = createRandom(4);
  const validator = createValidator({ regexMatch: matches });
  const kept = new Map<string, number>();
  for (const desc of INPUTS) {
    const keeps = compileEverydayRules(desc, matches);
    for (let trial = 0; keeps !== undefined && trial < 150; trial++) {
      const message = randomMessage(desc, (choices) => random.pick(choices));
      if (!keeps(message)) continue;
      kept.set(desc.name, (kept.get(desc.name) ?? 0) + 1);
      expect(validator.validate(desc, message)).toMatchObject({ kind: "valid" });
    }
  }
  for (const name of ["BuyRequest", "SellRequest", "SwapRequest", "QuoteRequest", "SubmitRequest"])
    expect([name, kept.get(name)]).toEqual([name, expect.toSatisfy((count) => count > 10)]);
});

test("rules across fields are tested here as the library tests them", () => {
  const validator = createValidator({ regexMatch: matches });
  const terms = { slippage: 0, priority: Priority.FAST };
  const mints = [MINT, OTHER_MINT, "SOL", "So11111111111111111111111111111111111111111"];
  const forms = [{}, { tokenAmount: 1 }, { tokenAmountRaw: "1" }];
  const messages: [DescMessage, Message][] = [
    ...forms.flatMap((form): [DescMessage, Message][] =>
      [{}, { sellPercent: 50 }].map((share) => [
        SellRequestSchema,
        create(SellRequestSchema, { mint: MINT, ...terms, ...form, ...share }),
      ]),
    ),
    ...mints.flatMap((inputMint) =>
      mints.flatMap((outputMint): [DescMessage, Message][] => {
        const asked = { inputMint, outputMint, amount: 1, swapMode: SwapMode.EXACT_IN, ...terms };
        return [SwapRequestSchema, QuoteRequestSchema].map((desc) => [desc, create(desc, asked as never)]);
      }),
    ),
    ...[8_192, 8_193].map((length): [DescMessage, Message] => [
      SubmitRequestSchema,
      create(SubmitRequestSchema, { submissionToken: "é".repeat(length), signedTransaction: new Uint8Array(4_096) }),
    ]),
    ...[4_096, 4_097].map((length): [DescMessage, Message] => [
      SubmitRequestSchema,
      create(SubmitRequestSchema, { submissionToken: "t", signedTransaction: new Uint8Array(length) }),
    ]),
  ];
  const here = messages.map(([desc, message]) => compileEverydayRules(desc, matches)!(message));
  expect(here).toEqual(messages.map(([desc, message]) => validator.validate(desc, message).kind === "valid"));
  expect(new Set(here).size).toBe(2);
});

const USUAL: Readonly<Record<string, unknown>> = {
  ...ORDER,
  inputMint: MINT,
  outputMint: OTHER_MINT,
  amount: 2,
  tokenAmount: 2,
  swapMode: 1,
  submissionToken: "token",
  signedTransaction: Uint8Array.of(1),
};
const TEXTS = [MINT, "", "SOL", "1", "18446744073709551615", "no such", "😀".repeat(5_000)];
const BYTES = [new Uint8Array(), Uint8Array.of(1), new Uint8Array(4_096), new Uint8Array(4_097)];
const NUMBERS = [0.5, 0, 1, 2, 4, -1, 1e300, Number.NaN, Number.POSITIVE_INFINITY];

/** A request whose fields are of the right types, most of them as usual or left out. */
function randomMessage(desc: DescMessage, pick: <T>(choices: readonly T[]) => T): Message {
  const fields = desc.fields.map((field) => {
    const isUsual = field.message !== undefined || pick([true, true, true, true, true, true, true, false]);
    return [field.localName, isUsual ? USUAL[field.localName] : pick(choicesOf(field))] as const;
  });
  return create(desc, Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as never);
}

function choicesOf({ fieldKind, scalar }: DescField): readonly unknown[] {
  if (fieldKind === "list") return [[], ["a"], Array.from({ length: 33 }, () => "a")];
  if (fieldKind === "enum") return [1, 2, 0, 99];
  if (scalar === ScalarType.STRING) return TEXTS;
  if (scalar === ScalarType.BOOL) return [false, true];
  if (scalar === ScalarType.BYTES) return BYTES;
  return scalar === ScalarType.UINT64 ? [0n, 1n] : NUMBERS;
}
