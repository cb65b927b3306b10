import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseAst } from "vitest/node";

/** The repository's folder. */
export const ROOT = resolve(import.meta.dirname, "../..");
/** The folder of the code that is not generated. */
export const SRC = join(ROOT, "src");

/** Paths under `src` of every TypeScript file that is not a test, sorted. */
export function sourcePaths(): string[] {
  return readdirSync(SRC, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts") && !path.includes("node_modules"))
    .sort();
}

/** The code of a file under `src`. */
export function readSource(path: string): string {
  return readFileSync(join(SRC, path), "utf8");
}

/** A function of a file: from its first line to its last, both counted. */
export interface FunctionSize {
  readonly name: string;
  readonly lines: number;
}

/** A node of a syntax tree. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

const FUNCTIONS = ["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"];

/** Every function and method in the code, those inside others included. */
export function functionsOf(code: string, ast = parse(code)): FunctionSize[] {
  const starts = lineStarts(code);
  const found: FunctionSize[] = [];
  walk(ast, undefined, (node, parent) => {
    if (!FUNCTIONS.includes(node.type) || node.body === null) return;
    const lines = lineAt(starts, node.end - 1) - lineAt(starts, node.start) + 1;
    found.push({ name: nameOf(node) ?? nameOf(parent) ?? "(anonymous)", lines });
  });
  return found;
}

/** Names the code exports, each once; types and values alike. Re-exports count for the file that declares them. */
export function exportsOf(code: string, ast = parse(code)): string[] {
  const names = new Set<string>();
  for (const statement of (ast as unknown as { body: Node[] }).body) {
    if (statement.type !== "ExportNamedDeclaration" || statement.source !== null) continue;
    const declaration = statement.declaration as Node | null;
    if (declaration === null) {
      for (const specifier of statement.specifiers as Node[]) names.add((specifier.exported as { name: string }).name);
    } else if (declaration.type === "VariableDeclaration") {
      for (const { id } of declaration.declarations as { id: Node }[])
        for (const name of boundNames(id)) names.add(name);
    } else {
      const name = nameOf(declaration);
      if (name !== undefined) names.add(name);
    }
  }
  return [...names];
}

/** The value that `percent` % of the sorted values do not exceed. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)] ?? 0;
}

/** The syntax tree of the code. */
export function parse(code: string): Node {
  return parseAst(code, { lang: "ts" }) as unknown as Node;
}

function walk(node: Node, parent: Node | undefined, visit: (node: Node, parent: Node | undefined) => void): void {
  visit(node, parent);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (child !== null && typeof child === "object" && typeof child.type === "string") walk(child, node, visit);
    }
  }
}

/** The name a declaration, a method, a property or a variable gives. */
function nameOf(node: Node | undefined): string | undefined {
  const named = (node?.id ?? node?.key) as { name?: string } | null | undefined;
  return named?.name;
}

/** The names a pattern binds: one, or those of `{ a, b: c }` and `[a, b]`. */
function boundNames(pattern: Node | null): string[] {
  switch (pattern?.type) {
    case "Identifier":
      return [pattern.name as string];
    case "ObjectPattern":
      return (pattern.properties as Node[]).flatMap((one) => boundNames((one.value ?? one.argument) as Node));
    case "ArrayPattern":
      return (pattern.elements as (Node | null)[]).flatMap(boundNames);
    case "AssignmentPattern":
      return boundNames(pattern.left as Node);
    case "RestElement":
      return boundNames(pattern.argument as Node);
    default:
      return [];
  }
}

function lineStarts(code: string): number[] {
  const starts = [0];
  for (let at = code.indexOf("\n"); at !== -1; at = code.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** The index of the line that holds the character at `offset`. */
function lineAt(starts: readonly number[], offset: number): number {
  let low = 0;
  for (let high = starts.length - 1; low < high; ) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle]! <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}
