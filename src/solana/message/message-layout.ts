import type { Address } from "../../primitives/address.ts";
import { accountAt, accountCountOf, type Instruction, rightsAt, SIGNS, WRITES } from "../instruction.ts";
import type { AccountTable } from "./account-table.ts";
import { lengthSize } from "./compact-length.ts";

/** The use is the first of its account. */
const FIRST = 4;

/** How a message without lookup tables is laid out, whatever its accounts are: the messages of a venue share a few of these. */
export class MessageLayout {
  readonly blockhashAt: number;
  /** By instruction: where its data begins. */
  readonly dataAt: Uint16Array;
  /** By place: where the address is written. */
  readonly addressAt: Uint16Array;
  /** By instruction. */
  readonly #programs: readonly Address[];
  readonly #programPlaces: Uint16Array;
  readonly #accountCounts: Uint16Array;
  readonly #dataLengths: Uint16Array;
  /** By use, one instruction after another: the account's place in order of first use, and its rights here. */
  readonly #places: Uint16Array;
  readonly #rights: Uint8Array;

  /** @param table holds the accounts of the instructions */
  constructor(instructions: readonly Instruction[], table: AccountTable) {
    const statics = 4 + lengthSize(table.size);
    this.blockhashAt = statics + 32 * table.size;
    this.#programs = instructions.map(({ program }) => program);
    this.#programPlaces = Uint16Array.from(instructions, (_, index) => table.placeOfProgram(index));
    this.#accountCounts = Uint16Array.from(instructions, accountCountOf);
    this.#dataLengths = Uint16Array.from(instructions, ({ data }) => data.length);
    let at = this.blockhashAt + 32 + lengthSize(instructions.length);
    this.dataAt = Uint16Array.from(instructions, ({ data }, index) => {
      const count = this.#accountCounts[index]!;
      const start = at + 1 + lengthSize(count) + count + lengthSize(data.length);
      at = start + data.length;
      return start;
    });
    const uses = instructions.flatMap((instruction) =>
      Array.from({ length: accountCountOf(instruction) }, (_, place) => rightsAt(instruction, place)),
    );
    this.#places = Uint16Array.from(uses, (_, use) => table.placeOfUse(use));
    const seen = new Set([0]);
    this.#rights = Uint8Array.from(uses, (rights, use) => {
      const isFirst = !seen.has(this.#places[use]!);
      seen.add(this.#places[use]!);
      return rights | (isFirst ? FIRST : 0);
    });
    const places = Array.from({ length: table.size }, (_, place) => place);
    this.addressAt = Uint16Array.from(places, (place) => statics + 32 * table.positionOf(place));
  }

  /** Equal for equal layouts. */
  get key(): string {
    const numbers = [this.#programPlaces, this.#accountCounts, this.#dataLengths, this.#places, this.#rights];
    return [this.addressAt, ...numbers, this.#programs].join(" ");
  }

  /** True if a message of the instructions has this layout, whatever its accounts are. */
  fits(instructions: readonly Instruction[], table: AccountTable): boolean {
    if (table.size !== this.addressAt.length || !this.hasShapeOf(instructions)) return false;
    if (this.#programPlaces.some((place, index) => table.placeOfProgram(index) !== place)) return false;
    let use = 0;
    for (const instruction of instructions) {
      const count = accountCountOf(instruction);
      for (let at = 0; at < count; at++) {
        if ((this.#rights[use]! & (SIGNS | WRITES)) !== rightsAt(instruction, at)) return false;
        if (this.#places[use] !== table.placeOfUse(use)) return false;
        use += 1;
      }
    }
    return true;
  }

  /** True if the programs and all lengths are those of the instructions. */
  hasShapeOf(instructions: readonly Instruction[]): boolean {
    const programs = this.#programs;
    if (instructions.length !== programs.length) return false;
    for (let index = 0; index < instructions.length; index++) {
      const instruction = instructions[index]!;
      if (instruction.program !== programs[index]) return false;
      if (accountCountOf(instruction) !== this.#accountCounts[index]) return false;
      if (instruction.data.length !== this.#dataLengths[index]) return false;
    }
    return true;
  }

  /**
   * Matches the accounts against their places: each must equal the one in `fixed` or, if that has none, is written into `taken`.
   * The payer is in place 0 already. False if an account differs from its place, or has other rights.
   */
  takeAccounts(
    instructions: readonly Instruction[],
    fixed: readonly (Address | undefined)[],
    taken: (Address | undefined)[],
  ): boolean {
    const places = this.#places;
    const rights = this.#rights;
    let use = 0;
    for (let index = 0; index < instructions.length; index++) {
      const instruction = instructions[index]!;
      const count = this.#accountCounts[index]!;
      for (let at = 0; at < count; at++) {
        const right = rights[use]!;
        const place = places[use++]!;
        if ((right & (SIGNS | WRITES)) !== rightsAt(instruction, at)) return false;
        const address = accountAt(instruction, at);
        const own = fixed[place];
        if (own !== undefined) {
          if (own !== address) return false;
        } else if ((right & FIRST) !== 0) taken[place] = address;
        else if (taken[place] !== address) return false;
      }
    }
    return true;
  }
}
