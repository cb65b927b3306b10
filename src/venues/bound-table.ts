import { LINE_SIZE, type SpotBound, type SpotLine, writeLine } from "./spot-bound.ts";

/** Counted up to 2^53. */
let newest = 0;

/** A number for a state of a market, greater than all before. */
export function nextVersion(): number {
  newest += 1;
  return newest;
}

/** The lower mint of a pair for the higher one, and the other way. */
export type Direction = 0 | 1;

/**
 * Bounds of a pair's markets side by side, by place in its answers: the objects of many markets lie scattered in memory. Answers of
 * the same markets share it: a line is of the version that was written into its place last.
 */
export class BoundTable {
  readonly #size: number;
  /** By direction, then by place: of which version of the market the line is; 0 if there is none. Undefined until a line is needed. */
  #versions: readonly [number[], number[]] | undefined;
  #lines: readonly [Float64Array, Float64Array] | undefined;

  /** How many lines were written. */
  writes = 0;

  /** @param size markets */
  constructor(size: number) {
    this.#size = size;
  }

  linesOf(direction: Direction): Float64Array {
    const size = this.#size * LINE_SIZE;
    this.#lines ??= [new Float64Array(size), new Float64Array(size)];
    return this.#lines[direction];
  }

  /** Whose lines are in the table, by place. */
  versionsOf(direction: Direction): readonly number[] {
    return this.#writableVersions(direction);
  }

  /** @param line undefined if the market has none */
  write(direction: Direction, place: number, version: number, line: SpotLine | undefined, rounding: number): void {
    writeLine(this.linesOf(direction), place * LINE_SIZE, line, rounding);
    this.#writableVersions(direction)[place] = version;
    this.writes += 1;
  }

  /** Writes both lines of a bound. @param isLowerFirst true if the market's first mint is the pair's lower one */
  writeBound(place: number, version: number, { from0, from1, rounding }: SpotBound, isLowerFirst: boolean): void {
    this.write(0, place, version, isLowerFirst ? from0 : from1, rounding);
    this.write(1, place, version, isLowerFirst ? from1 : from0, rounding);
  }

  #writableVersions(direction: Direction): number[] {
    this.#versions ??= [new Array(this.#size).fill(0), new Array(this.#size).fill(0)];
    return this.#versions[direction];
  }
}
