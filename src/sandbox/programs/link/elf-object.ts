/** One section of a relocatable object: where its bytes lie in the file. */
export interface Section {
  readonly index: number;
  readonly name: string;
  readonly type: number;
  readonly offset: number;
  readonly size: number;
  /** For a relocation section: the section it relocates. */
  readonly target: number;
}

interface ObjectSymbol {
  readonly name: string;
  /** Section it is defined in; 0 when another program or the runtime defines it. */
  readonly section: number;
  readonly value: number;
  /** True for the symbol that stands for a whole section. */
  readonly isSection: boolean;
}

export interface Relocation {
  /** Offset inside the relocated section. */
  readonly offset: number;
  readonly type: number;
  readonly symbol: ObjectSymbol;
}

/** A relocatable 64-bit little-endian ELF object, as a compiler writes it. */
export interface ElfObject {
  readonly bytes: Buffer;
  readonly sections: readonly Section[];
  readonly symbols: readonly ObjectSymbol[];
  /** Relocations of the section with this index, in file order. */
  relocationsOf(section: number): Relocation[];
}

const SECTION_HEADER_SIZE = 64;
const SYMBOL_SIZE = 24;
const RELOCATION_SIZE = 16;
const SYMBOL_TYPE_SECTION = 3;
const SECTION_SYMBOL_TABLE = 2;
const SECTION_RELOCATIONS = 9;

/** Parses an object file. @throws Error when it holds no symbol table */
export function parseElfObject(file: Uint8Array): ElfObject {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const u64 = (at: number) => Number(bytes.readBigUInt64LE(at));
  const text = (at: number) => bytes.toString("latin1", at, bytes.indexOf(0, at));

  const table = u64(0x28);
  const count = bytes.readUInt16LE(0x3c);
  const header = (index: number) => table + index * SECTION_HEADER_SIZE;
  const offsetOf = (index: number) => u64(header(index) + 24);
  const names = offsetOf(bytes.readUInt16LE(0x3e));
  const sections = Array.from({ length: count }, (_, index): Section => {
    const at = header(index);
    return {
      index,
      name: text(names + bytes.readUInt32LE(at)),
      type: bytes.readUInt32LE(at + 4),
      offset: u64(at + 24),
      size: u64(at + 32),
      target: bytes.readUInt32LE(at + 44),
    };
  });

  const symbolTable = sections.find((section) => section.type === SECTION_SYMBOL_TABLE);
  if (symbolTable === undefined) throw new Error("the object has no symbol table");
  const symbolNames = offsetOf(bytes.readUInt32LE(header(symbolTable.index) + 40));
  const symbols = Array.from({ length: symbolTable.size / SYMBOL_SIZE }, (_, index): ObjectSymbol => {
    const at = symbolTable.offset + index * SYMBOL_SIZE;
    return {
      name: text(symbolNames + bytes.readUInt32LE(at)),
      section: bytes.readUInt16LE(at + 6),
      value: u64(at + 8),
      isSection: (bytes[at + 4]! & 15) === SYMBOL_TYPE_SECTION,
    };
  });

  return {
    bytes,
    sections,
    symbols,
    relocationsOf(target) {
      const list: Relocation[] = [];
      for (const section of sections) {
        if (section.type !== SECTION_RELOCATIONS || section.target !== target) continue;
        for (let at = section.offset; at < section.offset + section.size; at += RELOCATION_SIZE) {
          const symbol = symbols[bytes.readUInt32LE(at + 12)]!;
          list.push({ offset: u64(at), type: bytes.readUInt32LE(at + 8), symbol });
        }
      }
      return list;
    },
  };
}
