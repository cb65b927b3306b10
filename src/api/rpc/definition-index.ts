import { type DescFile, type DescMessage, toBinary } from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";

/** The files of a definition by file name, by symbol and by extension. */
export class DefinitionIndex {
  readonly files = new Map<string, DescFile>();
  readonly symbols = new Map<string, DescFile>();
  /** By the full name of the extended message, then by field number. */
  readonly extensions = new Map<string, Map<number, DescFile>>();

  /** Indexes the given files and everything they import. */
  constructor(roots: readonly DescFile[]) {
    for (const root of roots) this.#add(root);
  }

  #add(file: DescFile): void {
    if (this.files.has(file.proto.name)) return;
    this.files.set(file.proto.name, file);
    for (const type of nestedTypes(file)) this.#addType(file, type);
    for (const dependency of file.dependencies) this.#add(dependency);
  }

  #addType(file: DescFile, type: ReturnType<typeof nestedTypes> extends Iterable<infer T> ? T : never): void {
    this.symbols.set(type.typeName, file);
    switch (type.kind) {
      case "message":
        this.#addMembers(file, type);
        break;
      case "service":
        for (const method of type.methods) this.symbols.set(`${type.typeName}.${method.name}`, file);
        break;
      case "enum": {
        // Enum values are scoped beside their enum, not inside it.
        const scope = type.typeName.slice(0, -type.name.length);
        for (const value of type.values) this.symbols.set(scope + value.name, file);
        break;
      }
      case "extension": {
        const numbers = this.extensions.get(type.extendee.typeName) ?? new Map<number, DescFile>();
        this.extensions.set(type.extendee.typeName, numbers.set(type.number, file));
        break;
      }
    }
  }

  #addMembers(file: DescFile, message: DescMessage): void {
    for (const member of [...message.fields, ...message.oneofs]) {
      this.symbols.set(`${message.typeName}.${member.name}`, file);
    }
  }
}

/** Encodes a file and its imports, except those in `sent`, to which they are added. The file itself is always included. */
export function withImports(file: DescFile, sent: Set<DescFile>): Uint8Array<ArrayBuffer>[] {
  const encoded: Uint8Array<ArrayBuffer>[] = [];
  const add = (next: DescFile) => {
    if (sent.has(next)) return;
    sent.add(next);
    encoded.push(encodeFile(next));
    for (const dependency of next.dependencies) add(dependency);
  };
  add(file);
  return encoded.length > 0 ? encoded : [encodeFile(file)];
}

function encodeFile(file: DescFile): Uint8Array<ArrayBuffer> {
  return toBinary(FileDescriptorProtoSchema, file.proto);
}
