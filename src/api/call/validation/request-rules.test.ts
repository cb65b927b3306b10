import {
  create,
  type DescField,
  type DescMessage,
  type Message,
  type MessageInitShape,
  ScalarType,
  setExtension,
} from "@bufbuild/protobuf";
import { FieldOptionsSchema } from "@bufbuild/protobuf/wkt";
import { createValidator } from "@bufbuild/protovalidate";
import { FieldRulesSchema, field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { describe, expect, test } from "vitest";
import {
  AccountService,
  BuyRequestSchema,
  Priority,
  QuoteRequestSchema,
  SellRequestSchema,
  SubmitRequestSchema,
  SwapMode,
  SwapRequestSchema,
  TradeService,
} from "../../../../gen/index.ts";
import { createRandom } from "../../../primitives/random.ts";
import { compileRules, type Violation } from "./request-rules.ts";

const MINT = "So11111111111111111111111111111111111111112";
const OTHER_MINT = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const ORDER = { mint: MINT, solAmount: 0.5, slippage: 0.05, priority: Priority.FAST };
const matches = (pattern: string, text: string) => new RegExp(pattern, "u").test(text);
const INPUTS: readonly DescMessage[] = [TradeService, AccountService].flatMap(({ methods }) =>
  methods.map(({ input }) => input),
);

/** Whether a request of this kind keeps every rule. */
function keepsOf(desc: DescMessage): (message: Message) => boolean {
  const rules = compileRules(desc, matches);
  return (message) => rules(message).length === 0;
}

test("a buy in everyday form keeps the rules, also at their edges", () => {
  const keeps = keepsOf(BuyRequestSchema);
  for (const fields of [
    {},
    { slippage: 0 },
    { solAmount: undefined, solAmountRaw: "1" },
    { maxPaths: 4, maxLegs: 1, venues: Array.from({ length: 32 }, () => "pump_fun") },
    { maxPriceImpact: 0, maxTransactionVersion: 1 },
  ])
    expect(keeps(create(BuyRequestSchema, { ...ORDER, ...fields }))).toBe(true);
  // The token is bought for SOL.
  expect(keeps(create(BuyRequestSchema, { ...ORDER, mint: "SOL" }))).toBe(false);
});

describe("a buy does not keep them", () => {
  const keeps = keepsOf(BuyRequestSchema);
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

test.each([
  ["requireChecked", true],
  ["venues", ["pump_fun"]],
  ["mint", MINT],
  ["priority", Priority.FAST],
])("a required %s is missing while it is zero", (name, value) => {
  const keeps = keepsOf(buyWithRules(name, { required: true }));
  expect(keeps(create(BuyRequestSchema))).toBe(false);
  expect(keeps(create(BuyRequestSchema, { [name]: value }))).toBe(true);
});

test.each([
  ["mint", { type: { case: "string", value: { minLen: 3n } } }],
  ["venues", { type: { case: "repeated", value: { unique: true } } }],
  [
    "solAmount",
    { type: { case: "double", value: { greaterThan: { case: "gt", value: 3 }, lessThan: { case: "lt", value: 1 } } } },
  ],
  ["maxPaths", { cel: [{ id: "even", message: "must be even", expression: "this % 2 == 0" }] }],
] as const)("a rule of %s that is not known here is no rule that is left out", (name, rules) => {
  expect(() => compileRules(buyWithRules(name, rules as never), matches)).toThrow(/not known here/);
});

test("whatever is in a request, it breaks the rules that it breaks by the library, in its words", () => {
  const random = createRandom(4);
  const validator = createValidator({ regexMatch: matches });
  const seen = new Set<string>();
  for (const desc of INPUTS) {
    const rules = compileRules(desc, matches);
    for (let trial = 0; trial < 200; trial++) {
      const message = randomMessage(desc, (choices) => random.pick(choices));
      const found = rules(message).map(inWords);
      const { violations = [] } = validator.validate(desc, message);
      const byLibrary = violations.map(({ field, ruleId, message: text }) => {
        const [first, second] = field;
        const name = first?.kind === "field" ? first.localName : "";
        const item = second?.kind === "list_sub" ? `[${second.index}]` : "";
        return `${name}${item} ${ruleId} ${text.replace(/^value /, "")}`;
      });
      expect(found.toSorted()).toEqual(byLibrary.toSorted());
      if (found.length === 0) seen.add(desc.name);
      for (const words of found) seen.add(words.split(" ")[1]!);
    }
  }
  // None goes untested: neither requests that keep their rules, nor any kind of rule.
  const everyday = ["BuyRequest", "SellRequest", "SwapRequest", "QuoteRequest", "SubmitRequest"];
  expect([...seen]).toEqual(expect.arrayContaining([...everyday, ...RULES]));
});

const RULES = [
  ...["required", "string.pattern", "string.max_len", "bytes.max_len", "enum.defined_only", "enum.not_in"],
  ...["double.gt", "double.gte", "double.gt_lte", "double.gte_lt", "double.finite", "uint32.lte", "uint32.gte_lte"],
  ...["repeated.max_items", "token_amount.one_of_two", "output_mint.differs"],
];

const inWords = ({ field, item, ruleId, reason }: Violation): string =>
  `${field?.localName ?? ""}${item === undefined ? "" : `[${item}]`} ${ruleId} ${reason}`;

/** A buy whose one field has these rules. */
function buyWithRules(name: string, rules: MessageInitShape<typeof FieldRulesSchema>): DescMessage {
  const options = create(FieldOptionsSchema);
  setExtension(options, fieldRules, create(FieldRulesSchema, rules));
  const field = BuyRequestSchema.fields.find(({ localName }) => localName === name)!;
  const fields = [{ ...field, presence: field.presence, proto: { ...field.proto, options } }];
  return { ...BuyRequestSchema, fields, oneofs: [] } as unknown as DescMessage;
}

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
  const here = messages.map(([desc, message]) => keepsOf(desc)(message));
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

function choicesOf({ fieldKind, enum: values, scalar }: DescField): readonly unknown[] {
  if (fieldKind === "list" && values !== undefined) return [[], [1], [0, 2, 99], Array.from({ length: 7 }, () => 1)];
  if (fieldKind === "list") return [[], ["a"], ["a", MINT, ""], Array.from({ length: 33 }, () => "a")];
  if (fieldKind === "enum") return [1, 2, 0, 99];
  if (scalar === ScalarType.STRING) return TEXTS;
  if (scalar === ScalarType.BOOL) return [false, true];
  if (scalar === ScalarType.BYTES) return BYTES;
  if (scalar === ScalarType.UINT32) return [0, 1, 2, 3, 4, 5, 4_294_967_295];
  return scalar === ScalarType.UINT64 ? [0n, 1n] : NUMBERS;
}
