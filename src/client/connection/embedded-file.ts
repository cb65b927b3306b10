import { createFileRegistry, type DescFile } from "@bufbuild/protobuf";

/** A part of a definition file without its defaults, in protobuf's own words: `scripts/plain-definition.ts` writes them. */
export interface PlainPart {
  readonly name: string;
  readonly [property: string]: unknown;
}

/** A definition file: its messages, enums and services. */
export interface PlainFile extends PlainPart {
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
  const file = { ...whole(plain), $typeName: "google.protobuf.FileDescriptorProto", syntax: "proto3", dependency };
  const registry = createFileRegistry(file as unknown as DescFile["proto"], (name) =>
    imports.find(({ proto }) => proto.name === name),
  );
  return registry.getFile(plain.name)!;
}

function whole(part: PlainPart): PlainPart {
  const lists = LISTS.map((name) => [name, ((part[name] as readonly PlainPart[] | undefined) ?? []).map(whole)]);
  return { label: 1, typeName: "", jsonName: part.name, ...part, ...Object.fromEntries(lists) };
}
