import { createFileRegistry, type DescFile } from "@bufbuild/protobuf";

/** A part of a definition file without its defaults, in protobuf's own words: `scripts/plain-definition.ts` writes them. */
export interface PlainPart {
  readonly name: string;
  /** Of a message: its fields, one word each: name, number, type, label, type name, and "?" or the number of its oneof. */
  readonly fields?: string;
  /** Of an enum: names and numbers, one word each. */
  readonly values?: string;
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

/** @param scope what the type names of fields begin with unless they begin with a dot */
function whole({ fields, values, ...part }: PlainPart, scope: string): PlainPart {
  const listed: Readonly<Record<string, unknown>> = {
    ...part,
    ...(fields === undefined ? {} : fieldsOf(fields, part, scope)),
  };
  const value = values?.split(" ").map((word) => {
    const [name = "", number] = word.split(",");
    return { name, number: Number(number) };
  });
  const lists = LISTS.map((name) => [
    name,
    ((name === "value" ? value : (listed[name] as readonly PlainPart[] | undefined)) ?? []).map((one) =>
      whole(one, scope),
    ),
  ]);
  return { label: 1, typeName: "", jsonName: jsonNameOf(part.name), ...listed, ...Object.fromEntries(lists) };
}

/** The fields of a message. Each optional one has a oneof of its own, after those that the definition names. */
function fieldsOf(
  text: string,
  { oneofDecl = [] }: Readonly<Record<string, unknown>>,
  scope: string,
): Readonly<Record<string, unknown>> {
  const oneofs = [...(oneofDecl as readonly PlainPart[])];
  const field = text.split(" ").map((word) => {
    const [name = "", number, type, label, typeName, oneof] = word.split(",");
    const isOptional = oneof === "?";
    if (isOptional) oneofs.push({ name: `_${name}` });
    return {
      name,
      number: Number(number),
      type: Number(type),
      ...(label ? { label: Number(label) } : {}),
      ...(typeName ? { typeName: typeName.startsWith(".") ? typeName : scope + typeName } : {}),
      ...(isOptional ? { proto3Optional: true } : oneof ? { oneofIndex: Number(oneof) } : {}),
    };
  });
  return { field, oneofDecl: oneofs };
}
