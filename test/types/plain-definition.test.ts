import { mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { create, type DescField, type DescFile, fromBinary, toBinary } from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { file_tradewire_v1_account } from "../../gen/tradewire/v1/account_pb.ts";
import { ErrorDetailSchema, file_tradewire_v1_errors } from "../../gen/tradewire/v1/errors_pb.ts";
import { file_tradewire_v1_trade } from "../../gen/tradewire/v1/trade_pb.ts";
import { file_tradewire_v1_types } from "../../gen/tradewire/v1/types_pb.ts";
import { plainDefinition } from "../../scripts/plain-definition.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const FILES = [
  file_tradewire_v1_account,
  file_tradewire_v1_errors,
  file_tradewire_v1_trade,
  file_tradewire_v1_types,
] as const;

/** The definition as the published client has it. */
async function bundled(): Promise<Readonly<Record<string, unknown>>> {
  const folder = mkdtempSync(join(ROOT, "node_modules/.plain-definition-"));
  const outfile = join(folder, "definition.mjs");
  const names = ["account", "errors", "trade", "types"];
  try {
    await build({
      stdin: {
        contents: names.map((name) => `export * from "./gen/tradewire/v1/${name}_pb.ts";`).join("\n"),
        resolveDir: ROOT,
        loader: "ts",
      },
      bundle: true,
      format: "esm",
      packages: "external",
      plugins: [plainDefinition],
      outfile,
    });
    return (await import(outfile)) as Record<string, unknown>;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What codecs read of a file's types. */
function typesOf(file: DescFile): unknown {
  return [...nestedTypes(file)].map((type) => {
    if (type.kind === "message")
      return [type.typeName, type.fields.map(fieldFacts), type.oneofs.map(({ name }) => name)];
    if (type.kind === "enum") return [type.typeName, type.values.map(({ localName, number }) => [localName, number])];
    if (type.kind !== "service") return type.typeName;
    const methods = type.methods.map(({ name, methodKind, input, output }) => [
      name,
      methodKind,
      input.typeName,
      output.typeName,
    ]);
    return [type.typeName, methods];
  });
}

function fieldFacts({ localName, jsonName, number, fieldKind, presence, scalar, message, enum: values }: DescField) {
  return [localName, jsonName, number, fieldKind, presence, scalar, message?.typeName, values?.typeName];
}

test("the published definition has every type, field and method of the generated one", async () => {
  const definition = await bundled();
  for (const file of FILES) {
    const published = definition[`file_${file.name.replaceAll("/", "_")}`] as DescFile;
    expect(typesOf(published)).toEqual(typesOf(file));
  }
  const detail = create(ErrorDetailSchema, { code: "NO_ROUTE", field: "", details: { venues: ["a", 1, null] } });
  const read = fromBinary(
    definition.ErrorDetailSchema as typeof ErrorDetailSchema,
    toBinary(ErrorDetailSchema, detail),
  );
  expect(read).toEqual(detail);
});
