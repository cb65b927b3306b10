import { type ElfObject, parseElfObject, type Section } from "./elf-object.ts";

const INSTRUCTION_SIZE = 8;
const FILE_HEADER_SIZE = 64;
const PROGRAM_HEADER_SIZE = 56;
const PROGRAM_HEADERS = 3;
/** Where `.text` starts in the file and in memory: a version 0 program is loaded at its file offsets. */
const TEXT_BASE = align(FILE_HEADER_SIZE + PROGRAM_HEADERS * PROGRAM_HEADER_SIZE, 32);

const MACHINE_BPF = 247;
const TYPE_SHARED_OBJECT = 3;
const SEGMENT = { load: 1, dynamic: 2 } as const;
const FLAG = { execute: 1, write: 2, read: 4 } as const;
const SECTION_FLAG = { write: 1, alloc: 2, execute: 4 } as const;
const SECTION = { bits: 1, strings: 3, dynamic: 6, relocations: 9, symbols: 11 } as const;
const DYNAMIC = {
  end: 0,
  strings: 5,
  symbols: 6,
  relocations: 17,
  relocationsSize: 18,
  relocationSize: 19,
  flags: 30,
} as const;
const FLAG_TEXT_RELOCATIONS = 4;
const GLOBAL_SYMBOL = 0x10;

/** Relocation types of a BPF object: a 64-bit load of an address, and a call. */
const RELOCATION = { load64: 1, relative: 8, call: 10 } as const;
/** A call whose source register says this is relative to the instruction after it. */
const CALL_INTERNAL = 1;

/** A relocation the loader performs when the program is loaded. */
interface DynamicRelocation {
  readonly offset: number;
  readonly type: number;
  /** Index in the dynamic symbol table; 0 for none. */
  readonly symbol: number;
}

interface Linked {
  readonly text: Buffer;
  readonly rodata: Buffer;
  readonly rodataBase: number;
  readonly entry: number;
  /** Names of the system calls used, in the order of the dynamic symbol table from 1 on. */
  readonly imports: readonly string[];
  readonly relocations: readonly DynamicRelocation[];
}

/**
 * Makes a loadable program of one relocatable BPF object: calls between its functions become relative, system calls and
 * addresses of constants become relocations the loader resolves.
 *
 * @throws Error when the object has no `entrypoint`, writable data, or a reference a program cannot have
 * @see https://github.com/anza-xyz/sbpf `elf.rs`, version 0
 */
export function linkProgram(objectFile: Uint8Array): Uint8Array {
  return writeSharedObject(resolve(parseElfObject(objectFile)));
}

function resolve(object: ElfObject): Linked {
  const textSection = object.sections.find((section) => section.name === ".text");
  if (textSection === undefined) throw new Error("the object has no code");
  for (const section of object.sections) {
    if (/^\.(data|bss)/.test(section.name) && section.size > 0)
      throw new Error(`a program cannot hold writable data: ${section.name}`);
  }
  const text = Buffer.from(object.bytes.subarray(textSection.offset, textSection.offset + textSection.size));
  const constants = object.sections.filter((section) => section.name.startsWith(".rodata") && section.size > 0);
  const { rodata, rodataBase, addressOf } = layConstants(object, constants, TEXT_BASE + text.length);

  const imports: string[] = [];
  const relocations: DynamicRelocation[] = [];
  for (const { offset, type, symbol } of object.relocationsOf(textSection.index)) {
    const immediate = text.readInt32LE(offset + 4);
    if (type === RELOCATION.call && symbol.section === 0) {
      if (!/^(sol_\w+|abort)$/.test(symbol.name)) throw new Error(`not a system call: ${symbol.name}`);
      const known = imports.indexOf(symbol.name);
      text.writeInt32LE(-1, offset + 4);
      relocations.push({
        offset: TEXT_BASE + offset,
        type: RELOCATION.call,
        symbol: known === -1 ? imports.push(symbol.name) : known + 1,
      });
    } else if (type === RELOCATION.call) {
      const inSection = symbol.isSection ? immediate + 1 : 0;
      const target = symbol.value / INSTRUCTION_SIZE + inSection;
      text[offset + 1] = (text[offset + 1]! & 0x0f) | (CALL_INTERNAL << 4);
      text.writeInt32LE(target - offset / INSTRUCTION_SIZE - 1, offset + 4);
    } else if (type === RELOCATION.load64) {
      const base = addressOf.get(symbol.section);
      if (base === undefined) throw new Error(`reference to something that is not a constant: ${symbol.name}`);
      text.writeUInt32LE(base + symbol.value + immediate, offset + 4);
      text.writeUInt32LE(0, offset + INSTRUCTION_SIZE + 4);
      relocations.push({ offset: TEXT_BASE + offset, type: RELOCATION.relative, symbol: 0 });
    } else {
      throw new Error(`unknown relocation type ${type}`);
    }
  }
  for (const section of constants) {
    if (object.relocationsOf(section.index).length > 0)
      throw new Error(`constants cannot hold addresses: ${section.name}`);
  }

  const entrypoint = object.symbols.find((symbol) => symbol.name === "entrypoint");
  if (entrypoint === undefined) throw new Error("the object has no entrypoint");
  return { text, rodata, rodataBase, entry: TEXT_BASE + entrypoint.value, imports, relocations };
}

/** Lays the constant sections one after the other behind the code. */
function layConstants(object: ElfObject, constants: readonly Section[], from: number) {
  const rodataBase = align(from, 16);
  const addressOf = new Map<number, number>();
  const parts: Buffer[] = [];
  let at = rodataBase;
  for (const section of constants) {
    const padding = align(at, 16) - at;
    parts.push(Buffer.alloc(padding), object.bytes.subarray(section.offset, section.offset + section.size));
    addressOf.set(section.index, at + padding);
    at += padding + section.size;
  }
  return { rodata: Buffer.concat(parts), rodataBase, addressOf };
}

/** Bytes of one part of the file, and the section header that names them. */
interface Part {
  readonly name: string;
  readonly type: number;
  readonly flags: number;
  readonly bytes: Buffer;
  readonly at: number;
  /** Name of the part this one refers to. */
  readonly link?: string;
  readonly alignment: number;
  readonly entrySize: number;
}

function writeSharedObject(linked: Linked): Uint8Array {
  const strings = stringTable(linked.imports);
  const symbols = dynamicSymbols(linked.imports, strings.offsets);
  const relocations = dynamicRelocations(linked.relocations);

  const dynamicAt = align(linked.rodataBase + linked.rodata.length, 8);
  const entries = 7;
  const symbolsAt = dynamicAt + entries * 16;
  const stringsAt = symbolsAt + symbols.length;
  const relocationsAt = align(stringsAt + strings.bytes.length, 8);
  const dynamic = words([
    [DYNAMIC.flags, FLAG_TEXT_RELOCATIONS],
    [DYNAMIC.relocations, relocationsAt],
    [DYNAMIC.relocationsSize, relocations.length],
    [DYNAMIC.relocationSize, 16],
    [DYNAMIC.symbols, symbolsAt],
    [DYNAMIC.strings, stringsAt],
    [DYNAMIC.end, 0],
  ]);
  const namesAt = relocationsAt + relocations.length;

  const { alloc, execute, write } = SECTION_FLAG;
  const part = (name: string, type: number, flags: number, bytes: Buffer, at: number, extra?: Partial<Part>): Part => {
    return { name, type, flags, bytes, at, alignment: 8, entrySize: 0, ...extra };
  };
  const loaded: Part[] = [
    part(".text", SECTION.bits, alloc | execute, linked.text, TEXT_BASE),
    ...(linked.rodata.length > 0
      ? [part(".rodata", SECTION.bits, alloc, linked.rodata, linked.rodataBase, { alignment: 16 })]
      : []),
    part(".dynamic", SECTION.dynamic, alloc | write, dynamic, dynamicAt, { link: ".dynstr", entrySize: 16 }),
    part(".dynsym", SECTION.symbols, alloc, symbols, symbolsAt, { link: ".dynstr", entrySize: 24 }),
    part(".dynstr", SECTION.strings, alloc, strings.bytes, stringsAt, { alignment: 1 }),
    part(".rel.dyn", SECTION.relocations, alloc, relocations, relocationsAt, { link: ".dynsym", entrySize: 16 }),
  ];
  const names = stringTable([...loaded.map((one) => one.name), ".shstrtab"]);
  const parts = [...loaded, part(".shstrtab", SECTION.strings, 0, names.bytes, namesAt, { alignment: 1 })];

  const headersAt = align(namesAt + names.bytes.length, 8);
  const file = Buffer.alloc(headersAt + (parts.length + 1) * 64);
  for (const one of parts) one.bytes.copy(file, one.at);
  writeFileHeader(file, linked.entry, headersAt, parts.length + 1);
  const constantsEnd = linked.rodataBase + linked.rodata.length;
  writeSegment(file, 0, SEGMENT.load, FLAG.read | FLAG.execute, TEXT_BASE, constantsEnd - TEXT_BASE);
  writeSegment(file, 1, SEGMENT.load, FLAG.read, dynamicAt, namesAt - dynamicAt);
  writeSegment(file, 2, SEGMENT.dynamic, FLAG.read | FLAG.write, dynamicAt, dynamic.length);
  parts.forEach((one, index) => {
    const link = one.link === undefined ? 0 : parts.findIndex((other) => other.name === one.link) + 1;
    writeSection(file, headersAt + (index + 1) * 64, one, names.offsets[index]!, link);
  });
  return file;
}

function writeFileHeader(file: Buffer, entry: number, sectionHeaders: number, sectionCount: number): void {
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0]);
  file.writeUInt16LE(TYPE_SHARED_OBJECT, 16);
  file.writeUInt16LE(MACHINE_BPF, 18);
  file.writeUInt32LE(1, 20);
  file.writeBigUInt64LE(BigInt(entry), 24);
  file.writeBigUInt64LE(BigInt(FILE_HEADER_SIZE), 32);
  file.writeBigUInt64LE(BigInt(sectionHeaders), 40);
  file.writeUInt16LE(FILE_HEADER_SIZE, 52);
  file.writeUInt16LE(PROGRAM_HEADER_SIZE, 54);
  file.writeUInt16LE(PROGRAM_HEADERS, 56);
  file.writeUInt16LE(64, 58);
  file.writeUInt16LE(sectionCount, 60);
  file.writeUInt16LE(sectionCount - 1, 62);
}

function writeSegment(file: Buffer, index: number, type: number, flags: number, at: number, size: number): void {
  const header = FILE_HEADER_SIZE + index * PROGRAM_HEADER_SIZE;
  file.writeUInt32LE(type, header);
  file.writeUInt32LE(flags, header + 4);
  for (const field of [8, 16, 24]) file.writeBigUInt64LE(BigInt(at), header + field);
  for (const field of [32, 40]) file.writeBigUInt64LE(BigInt(size), header + field);
  file.writeBigUInt64LE(8n, header + 48);
}

function writeSection(file: Buffer, header: number, part: Part, name: number, link: number): void {
  file.writeUInt32LE(name, header);
  file.writeUInt32LE(part.type, header + 4);
  file.writeBigUInt64LE(BigInt(part.flags), header + 8);
  file.writeBigUInt64LE(BigInt(part.flags & SECTION_FLAG.alloc ? part.at : 0), header + 16);
  file.writeBigUInt64LE(BigInt(part.at), header + 24);
  file.writeBigUInt64LE(BigInt(part.bytes.length), header + 32);
  file.writeUInt32LE(link, header + 40);
  file.writeBigUInt64LE(BigInt(part.alignment), header + 48);
  file.writeBigUInt64LE(BigInt(part.entrySize), header + 56);
}

/** Names one after the other, each ended by a zero byte, behind the empty name. */
function stringTable(names: readonly string[]): { bytes: Buffer; offsets: number[] } {
  const offsets: number[] = [];
  let text = "\0";
  for (const name of names) {
    offsets.push(text.length);
    text += `${name}\0`;
  }
  return { bytes: Buffer.from(text, "latin1"), offsets };
}

function dynamicSymbols(imports: readonly string[], nameOffsets: readonly number[]): Buffer {
  const table = Buffer.alloc(24 * (imports.length + 1));
  nameOffsets.forEach((offset, index) => {
    table.writeUInt32LE(offset, 24 * (index + 1));
    table[24 * (index + 1) + 4] = GLOBAL_SYMBOL;
  });
  return table;
}

function dynamicRelocations(relocations: readonly DynamicRelocation[]): Buffer {
  return words(relocations.map(({ offset, type, symbol }) => [offset, symbol * 2 ** 32 + type]));
}

/** Pairs of 64-bit words. */
function words(pairs: readonly (readonly [number, number])[]): Buffer {
  const bytes = Buffer.alloc(16 * pairs.length);
  pairs.forEach(([first, second], index) => {
    bytes.writeBigUInt64LE(BigInt(first), index * 16);
    bytes.writeBigUInt64LE(BigInt(second), index * 16 + 8);
  });
  return bytes;
}

function align(value: number, to: number): number {
  return Math.ceil(value / to) * to;
}
