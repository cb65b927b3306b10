import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { OPENAPI_FILE } from "./read.ts";

interface Parameter {
  readonly name: string;
  readonly required?: boolean;
  readonly schema: object;
}

interface Operation {
  readonly parameters: readonly Parameter[];
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

const { paths } = JSON.parse(readFileSync(OPENAPI_FILE, "utf8")) as {
  readonly paths: Readonly<Record<string, { readonly get: Operation }>>;
};
const parametersOf = (path: string) => paths[path]!.get.parameters;

it("says which query parameters a request must have", () => {
  const required = (path: string) =>
    parametersOf(path)
      .filter((parameter) => parameter.required === true)
      .map(({ name }) => name);
  expect(required("/v1/quotes/stream")).toEqual(["inputMint", "outputMint", "swapMode", "slippage"]);
  expect(required("/v1/tx")).toEqual([]);
  expect(required("/v1/tx/{signature}/events")).toEqual(["signature"]);
});

it("states how many bits every number takes, so that generated clients keep all digits of an amount", () => {
  const numbers: unknown[] = [];
  JSON.parse(readFileSync(OPENAPI_FILE, "utf8"), (_, schema) => {
    const type = [schema?.type].flat().find((type) => type === "number" || type === "integer");
    if (type !== undefined) numbers.push(`${type} ${schema.format}`);
    return schema;
  });
  expect(numbers.length).toBeGreaterThan(50);
  expect(new Set(numbers)).toEqual(new Set(["number double", "integer int64", "integer int32"]));
});

it("has no alternatives in a schema with fields, which generated clients would lose", () => {
  const { schemas } = JSON.parse(readFileSync(OPENAPI_FILE, "utf8")).components as { readonly schemas: object };
  const kept = Object.entries(schemas).filter(([, schema]) => "properties" in schema);
  expect(kept.length).toBeGreaterThan(30);
  for (const [name, schema] of kept)
    for (const part of ["oneOf", "anyOf", "allOf"]) expect(schema, name).not.toHaveProperty(part);
});

it("bounds lists and their items", () => {
  const mint = parametersOf("/v1/auth/balances")[0]!;
  expect(mint.schema).toEqual({
    type: "array",
    items: { type: "string", pattern: "^[1-9A-HJ-NP-Za-km-z]{32,44}$" },
    maxItems: 32,
  });
  expect(parametersOf("/v1/tx").find(({ name }) => name === "status")!.schema).toMatchObject({ maxItems: 6 });
});

it("says that streams may be refused under load, and by a process that stops", () => {
  for (const path of ["/v1/quotes/stream", "/v1/tx/{signature}/events"]) {
    expect(paths[path]!.get.responses[503]!.description).toContain("OVERLOADED");
  }
});

it("has a name for every operation, and an example of its answer", () => {
  const operations = Object.values(paths).flatMap((verbs) => Object.values(verbs) as unknown as Named[]);
  expect(operations.length).toBeGreaterThan(15);
  for (const { operationId, summary, responses } of operations) {
    expect(summary, operationId).toMatch(/^[A-Z][a-z]+ [a-zA-Z ]{2,30}$/);
    const content = Object.values(responses[200]?.content ?? {})[0];
    if (operationId !== "ping") expect(content?.example, operationId).toBeDefined();
  }
  expect(new Set(operations.map(({ summary }) => summary)).size).toBe(operations.length);
});

interface Named {
  readonly operationId: string;
  readonly summary: string;
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { example?: unknown }>> }>>;
}
