import { createFileRegistry, type DescFile } from "@bufbuild/protobuf";

/** A part of a definition file without its defaults, in protobuf's own words: `scripts/plain-definition.ts` writes them. */
export interface PlainPart {
  readonly name: string;
  /** Of a message: its fields, one word each: name, number, type, label, type name, and "?" or the number of its oneof. */
  readonly fields?: string | undefined;
  /** Of an enum: names and numbers, one word each. */
  readonly values?: string | undefined;
  /** Of a service: its methods, one word each: name, input, output, and "s" if it streams. */
  readonly methods?: string | undefined;
  readonly [property: string]: unknown;
}

/** A definition file: its messages, enums and services. */
export interface PlainFile extends PlainPart {
  readonly package: string;
  readonly messageType?: readonly PlainPart[];
  readonly enumType?: readonly PlainPart[];
  readonly service?: readonly PlainPart[];
}

/** Properties that hold parts of parts. */
const LISTS = [
  "messageType",
  "nestedType",
  "enumType",
  "service",
  "field",
  "value",
  "method",
  "oneofDecl",
  "extension",
];

/**
 * The descriptor of a definition file from its plain form. `fileDesc` of the protobuf library does the same from binary, for
 * which it needs the definition of definitions: ten per cent of a client's size.
 */
export function embeddedFile(plain: PlainFile, imports: readonly DescFile[] = []): DescFile {
  const dependency = imports.map(({ proto }) => proto.name);
  const file = {
    ...whole(plain, `.${plain.package}.`),
    $typeName: "google.protobuf.FileDescriptorProto",
    syntax: "proto3",
    dependency,
  };
  const registry = createFileRegistry(file as unknown as DescFile["proto"], (name) =>
    imports.find(({ proto }) => proto.name === name),
  );
  return registry.getFile(plain.name)!;
}

/** The name of a field in JSON. */
export function jsonNameOf(name: string): string {
  return name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** @param scope the prefix of type names that do not begin with a dot */
function whole({ fields, values, methods, ...part }: PlainPart, scope: string): PlainPart {
  const parts: Readonly<Record<string, unknown>> = {
    ...part,
    field: rows(fields, ([number, type, label, typeName = "", oneof]) => ({
      number: Number(number),
      type: Number(type),
      label: Number(label || 1),
      typeName: /^(\.|$)/.test(typeName) ? typeName : scope + typeName,
      ...(oneof === "?" ? { proto3Optional: true } : oneof ? { oneofIndex: Number(oneof) } : {}),
    })),
    value: rows(values, ([number]) => ({ number: Number(number) })),
    method: rows(methods, ([input, output, streams]) => ({
      inputType: scope + input,
      outputType: scope + output,
      serverStreaming: streams !== undefined,
    })),
  };
  const lists = LISTS.map((name) => [name, ((parts[name] ?? []) as PlainPart[]).map((one) => whole(one, scope))]);
  return { jsonName: jsonNameOf(part.name), ...part, ...Object.fromEntries(lists) };
}

/** The parts that words stand for: each begins with a name. */
function rows(text: string | undefined, read: (rest: readonly string[]) => object): PlainPart[] | undefined {
  return text?.split(" ").map((word) => {
    const [name = "", ...rest] = word.split(",");
    return { name, ...read(rest) };
  });
}
