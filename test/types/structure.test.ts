import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { exportsOf, functionsOf, parse, percentile, readSource, sourcePaths } from "./sources.ts";

/** How large the parts of `src` may be. Tests beside the files do not count. */
const FILE_P90_LINES = 250;
const FUNCTION_P90_LINES = 40;
const FUNCTION_LINES = 120;
const FILES_OF_A_FOLDER = 14;

/** Rooms written independently of one another: a name may mean the same thing in two of them. */
const WRITTEN_APART = [/^venues\/(?!curves\/|shared\/)[^/]+\//, /^client\/verify\/venues\//, /^sandbox\/world\//];

const files = sourcePaths().map((path) => {
  const code = readSource(path);
  const ast = parse(code);
  const lines = code.trimEnd().split("\n").length;
  return { path, lines, functions: functionsOf(code, ast), names: exportsOf(code, ast) };
});

function report(what: string, over: readonly string[]): void {
  if (over.length > 0) process.stdout.write(`${what}:\n${over.map((line) => `  ${line}\n`).join("")}`);
}

describe("structure of src", () => {
  it(`has files of at most ${FILE_P90_LINES} lines, nine in ten`, () => {
    expect(
      percentile(
        files.map(({ lines }) => lines),
        90,
      ),
    ).toBeLessThanOrEqual(FILE_P90_LINES);
  });

  it(`has functions of at most ${FUNCTION_P90_LINES} lines, nine in ten, and none above ${FUNCTION_LINES}`, () => {
    const functions = files.flatMap(({ path, functions }) => functions.map((one) => ({ path, ...one })));
    const long = functions.filter(({ lines }) => lines > FUNCTION_LINES);
    report(
      `Functions above ${FUNCTION_LINES} lines`,
      long.map(({ path, name, lines }) => `${path} ${name} ${lines}`),
    );
    const sizes = functions.map(({ lines }) => lines);
    expect(percentile(sizes, 90)).toBeLessThanOrEqual(FUNCTION_P90_LINES);
    expect(long).toEqual([]);
  });

  it(`has at most ${FILES_OF_A_FOLDER} files in a folder, beside its rooms`, () => {
    const folders = Map.groupBy(files, ({ path }) => dirname(path));
    const full = [...folders].filter(([, { length }]) => length > FILES_OF_A_FOLDER);
    report(
      `Folders of more than ${FILES_OF_A_FOLDER} files`,
      full.map(([folder, { length }]) => `${folder} ${length}`),
    );
    expect(full).toEqual([]);
  });

  it("exports every name once", () => {
    const places = files.flatMap(({ path, names }) => names.map((name) => ({ path, name })));
    const shared = [...Map.groupBy(places, ({ name }) => name)].flatMap(([name, where]) => {
      const paths = where.map(({ path }) => path);
      return areApart(paths) ? [] : [`${name}: ${paths.join(", ")}`];
    });
    report("Names exported more than once", shared);
    expect(shared).toEqual([]);
  });
});

describe("the measure itself", () => {
  const code = `
export const { a, b: c = 1 } = f, d = () => {
  return 2;
};
export type E = string;
export class G<T> {
  #h = function () {};
  get i(): T {
    return this.#h() as T;
  }
}
export { d as j };
export * from "./k.ts";
export function overload(x: string): void;
export function overload(x: unknown): void {}
`;
  it("reads names and sizes", () => {
    expect(exportsOf(code)).toEqual(["a", "c", "d", "E", "G", "j", "overload"]);
    expect(functionsOf(code)).toEqual([
      { name: "d", lines: 3 },
      { name: "h", lines: 1 },
      { name: "i", lines: 3 },
      { name: "overload", lines: 1 },
    ]);
    expect(percentile([5, 1, 4, 2, 3, 6, 7, 8, 9, 10], 90)).toBe(9);
  });
});

/** True if no two of the files stand in the same room, and each in one that is written apart. */
function areApart(paths: readonly string[]): boolean {
  const rooms = paths.map((path) =>
    WRITTEN_APART.map((room) => path.match(room)?.[0]).find((room) => room !== undefined),
  );
  return paths.length < 2 || (!rooms.includes(undefined) && new Set(rooms).size === rooms.length);
}
