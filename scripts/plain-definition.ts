import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import { protoCamelCase } from "@bufbuild/protobuf/reflect";
import { base64Decode } from "@bufbuild/protobuf/wire";
import {
  type DescriptorProto,
  type EnumDescriptorProto,
  type FieldDescriptorProto,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  file_google_protobuf_struct,
  type ServiceDescriptorProto,
} from "@bufbuild/protobuf/wkt";
import type { Plugin } from "esbuild";
import { jsonNameOf, type PlainFile, type PlainPart } from "../src/client/connection/embedded-file.ts";

/** Files that only the service reads: validation rules and REST routes. Clients need neither, and they are half of the size. */
const SERVER_ONLY = ["file_buf_validate_validate", "file_google_api_annotations"];
const EMBEDDED_FILE = resolve(import.meta.dirname, "../src/client/connection/embedded-file.ts");
const STRUCT = "file_google_protobuf_struct";
/** Label of a field that is not repeated. */
const SINGLE = 1;

const EMBEDDED = /fileDesc\("([^"]+)"(?:, \[([^\]]*)\])?\)/;
const FILE_DESC_IMPORT = /^import \{[^}]*\bfileDesc\b[^}]*\} from .*;$/m;
const SERVER_ONLY_IMPORT = /^import \{ (file_buf_validate_validate|file_google_api_annotations) \} from .*;\n/gm;
const STRUCT_IMPORT = /^import \{ file_google_protobuf_struct \} from .*;$/m;

/**
 * Bundles the generated definition as plain objects, without the options that only the service reads and without the library's
 * definition of definitions. The descriptors stay whole: every service, message and field is present, and nothing in them
 * refers to a missing file.
 */
export const plainDefinition: Plugin = {
  name: "plain-definition",
  setup(build) {
    build.onLoad({ filter: /[\\/]gen[\\/]tradewire[\\/].*_pb\.ts$/ }, ({ path }) => ({
      contents: withPlainFile(readFileSync(path, "utf8")),
      loader: "ts",
    }));
  },
};

/** The source of a generated file with its embedded descriptor as a plain object. */
function withPlainFile(source: string): string {
  return source
    .replace(SERVER_ONLY_IMPORT, "")
    .replace(STRUCT_IMPORT, `const ${STRUCT} = ${call(file_google_protobuf_struct.proto, [])};`)
    .replace(EMBEDDED, (_, embedded: string, dependencies: string | undefined) => {
      const names = (dependencies ?? "").split(",").map((name) => name.trim());
      const kept = names.filter((name) => name !== "" && !SERVER_ONLY.includes(name));
      return call(fromBinary(FileDescriptorProtoSchema, base64Decode(embedded)), kept);
    })
    .replace(FILE_DESC_IMPORT, (line) => `${line}\nimport { embeddedFile } from ${JSON.stringify(EMBEDDED_FILE)};`);
}

function call(file: FileDescriptorProto, imports: readonly string[]): string {
  return `/*@__PURE__*/ embeddedFile(${JSON.stringify(plainFile(file))}, [${imports.join(", ")}])`;
}

function plainFile(file: FileDescriptorProto): PlainFile {
  if (file.syntax !== "proto3" || file.extension.length > 0) throw new Error(`${file.name} is not plain proto3`);
  const scope = `.${file.package}.`;
  return {
    name: file.name,
    package: file.package,
    messageType: file.messageType.map((message) => plainMessage(message, scope)),
    enumType: file.enumType.map(plainEnum),
    service: file.service.map((service) => plainService(service, scope)),
  };
}

function plainMessage(message: DescriptorProto, scope: string): PlainPart {
  // Each optional field has a oneof of its own, after those that the definition names: readers need none of them.
  const optional = message.field.filter(({ proto3Optional }) => proto3Optional);
  const oneofs = message.oneofDecl.slice(0, message.oneofDecl.length - optional.length);
  return {
    name: message.name,
    ...(message.field.length === 0 ? {} : { fields: message.field.map((field) => plainField(field, scope)).join(" ") }),
    ...list(
      "nestedType",
      message.nestedType.map((nested) => plainMessage(nested, scope)),
    ),
    ...list("enumType", message.enumType.map(plainEnum)),
    ...list(
      "oneofDecl",
      oneofs.map(({ name }) => ({ name })),
    ),
    ...(message.options?.mapEntry === true ? { options: { mapEntry: true } } : {}),
  };
}

function plainField(field: FieldDescriptorProto, scope: string): string {
  const { name, number, label, type, typeName, oneofIndex, proto3Optional } = field;
  if (protoCamelCase(name) !== jsonNameOf(name)) throw new Error(`${name} has another name in JSON`);
  const isInOneof = Object.hasOwn(field, "oneofIndex");
  const shortType = typeName.startsWith(scope) ? typeName.slice(scope.length) : typeName;
  const parts = [
    name,
    number,
    type,
    label === SINGLE ? "" : label,
    shortType,
    proto3Optional ? "?" : isInOneof ? oneofIndex : "",
  ];
  return parts.join(",").replace(/,+$/, "");
}

function plainEnum({ name, value }: EnumDescriptorProto): PlainPart {
  return { name, values: value.map((one) => `${one.name},${one.number}`).join(" ") };
}

function plainService({ name, method }: ServiceDescriptorProto, scope: string): PlainPart {
  const methods = method.map(({ name: called, inputType, outputType, serverStreaming, clientStreaming }) => {
    if (clientStreaming || ![inputType, outputType].every((type) => type.startsWith(scope))) {
      throw new Error(`${called} is no plain method`);
    }
    const types = [inputType, outputType].map((type) => type.slice(scope.length));
    return [called, ...types, ...(serverStreaming ? ["s"] : [])].join(",");
  });
  return { name, methods: methods.join(" ") };
}

function list(name: string, parts: readonly PlainPart[]): Readonly<Record<string, readonly PlainPart[]>> {
  return parts.length === 0 ? {} : { [name]: parts };
}
