import { create, hasOption } from "@bufbuild/protobuf";
import { createValidator } from "@bufbuild/protovalidate";
import {
  BytesRulesSchema,
  DurationRulesSchema,
  file_buf_validate_validate,
  predefined,
  StringRulesSchema,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { expect, test } from "vitest";
import { BuyRequestSchema, ListTradesRequestSchema, SellRequestSchema } from "../../../../gen/index.ts";
import { withUsedRules } from "./used-rules.ts";

const visible = () =>
  file_buf_validate_validate.messages
    .flatMap(({ fields }) => fields.filter((field) => hasOption(field, predefined)))
    .map((field) => `${field}`);

test("the rules that a message uses are seen, its items' and its nested messages' too, and no others", () => {
  let seen: readonly string[] = [];
  withUsedRules([BuyRequestSchema], () => {
    seen = visible();
  });
  expect(seen).toContain(`${StringRulesSchema.field.pattern}`);
  expect(seen).not.toContain(`${DurationRulesSchema.field.lt}`);
  expect(seen).not.toContain(`${BytesRulesSchema.field.prefix}`);
  expect(seen.length).toBeLessThan(30);
});

test("afterwards every rule is there again, whatever the work did", () => {
  const before = visible();
  expect(() =>
    withUsedRules([SellRequestSchema], () => {
      throw new Error("stopped");
    }),
  ).toThrow("stopped");
  expect(visible()).toEqual(before);
});

test("a validator made with the rules in use finds what one with all of them finds", () => {
  const [some, all] = [createValidator(), createValidator()];
  const requests = [
    create(BuyRequestSchema, { mint: "0", slippage: 2, priority: 77 as never }),
    create(SellRequestSchema, { mint: "SOL", tokenAmount: -1, sellPercent: 101, slippage: Number.NaN }),
    create(ListTradesRequestSchema, {}),
  ];
  const schemas = [BuyRequestSchema, SellRequestSchema, ListTradesRequestSchema] as const;
  withUsedRules(schemas, () => {
    for (const schema of schemas) some.validate(schema, create(schema));
  });
  const found = (validator: typeof some) =>
    requests.map((request, i) => {
      const { violations = [] } = validator.validate(schemas[i]!, request as never);
      return violations.map(({ ruleId, message }) => `${ruleId} ${message}`);
    });
  expect(found(some)).toEqual(found(all));
  expect(found(some)[1]!.length).toBeGreaterThan(2);
});
