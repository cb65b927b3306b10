/** A part of all samples, 0 to 1. */
export interface Share {
  readonly name: string;
  readonly share: number;
  /** What it consists of, the largest first. */
  readonly inside: string;
}

/** One sample: its thread, and what it was in, innermost first. */
interface Stack {
  readonly thread: string;
  readonly frames: readonly string[];
}

const SHOWN_INSIDE = 4;
const LONGEST_NAME = 48;
const COLLECTION = /Scaveng|MarkCompact|CollectGarbage|Sweep/;
/** What a frame is, by its name; the first that fits. */
const KINDS: readonly (readonly [kind: string, frame: RegExp])[] = [
  ["JavaScript", /^JS:/],
  ["V8's builtins", /^Builtins_/],
  ["V8's C++", /^v8::/],
  ["Node's C++", /^node::/],
];
const SYSTEM_CALL = /^(?:entry_SYSCALL|do_syscall|asm_sysvec|ret_from_fork)/;

/** Samples by what ran: code compiled from JavaScript, V8's builtins, the kernel and so on. @param text of `perf script -F comm,ip,sym` */
export function kindShares(text: string): readonly Share[] {
  return sharesOf(text, ({ thread, frames }) => {
    if (thread.startsWith("V8Worker")) return ["V8's other threads", frames[0]!];
    if (frames.some((frame) => COLLECTION.test(frame))) return ["collection on the main thread", frames[0]!];
    if (frames.some((frame) => SYSTEM_CALL.test(frame))) return ["the kernel", frames[0]!];
    return [KINDS.find(([, frame]) => frame.test(frames[0]!))?.[0] ?? "C libraries and the rest", frames[0]!];
  });
}

/** Samples by thread, those of one name together, and by what was innermost. */
export function threadShares(text: string): readonly Share[] {
  return sharesOf(text, ({ thread, frames }) => [thread, frames[0]!]);
}

/** Samples by the innermost JavaScript function, and by what it had called: itself, a builtin, C++. */
export function callerShares(text: string): readonly Share[] {
  return sharesOf(text, ({ frames }) => {
    const at = frames.findIndex((frame) => frame.startsWith("JS:") && !frame.includes("wasm-function"));
    if (at < 0) return ["none", frames[0]!];
    return [frames[at]!.slice("JS:".length), at === 0 ? "itself" : frames[at - 1]!];
  });
}

/** Code begins at a multiple of so many bytes. */
const PLACE = 8;

/**
 * The names of compiled code without those whose memory later code has taken: of two at one address `perf` takes either, and one function
 * then seems to do another's work.
 *
 * @param map lines of address and size, in hexadecimal, and name, as V8 writes them for `perf`
 */
export function newestNames(map: string): string {
  const taken = new Set<number>();
  const kept: string[] = [];
  for (const line of map.trimEnd().split("\n").reverse()) {
    const [, start, size] = /^([\da-f]+) ([\da-f]+) /.exec(line) ?? [];
    if (start === undefined || size === undefined) continue;
    const first = Math.floor(Number.parseInt(start, 16) / PLACE);
    const last = Math.ceil((Number.parseInt(start, 16) + Number.parseInt(size, 16)) / PLACE) - 1;
    let isTaken = false;
    for (let place = first; place <= last; place++) {
      isTaken ||= taken.has(place);
      taken.add(place);
    }
    if (!isTaken) kept.push(line);
  }
  return `${kept.reverse().join("\n")}\n`;
}

function sharesOf(text: string, namesOf: (stack: Stack) => readonly [name: string, inside: string]): readonly Share[] {
  const parts = new Map<string, Map<string, number>>();
  let all = 0;
  for (const stack of stacksIn(text)) {
    const [name, inside] = namesOf(stack);
    const counts = parts.get(name) ?? new Map<string, number>();
    parts.set(name, counts.set(inside, (counts.get(inside) ?? 0) + 1));
    all += 1;
  }
  const sumOf = (counts: ReadonlyMap<string, number>) => [...counts.values()].reduce((sum, count) => sum + count, 0);
  return [...parts]
    .map(([name, counts]) => ({ name, share: sumOf(counts) / all, inside: largest(counts, all) }))
    .sort((a, b) => b.share - a.share);
}

function largest(counts: ReadonlyMap<string, number>, all: number): string {
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .slice(0, SHOWN_INSIDE)
    .map(([name, count]) => `${name.slice(0, LONGEST_NAME)} ${((count / all) * 100).toFixed(2)}`)
    .join(", ");
}

/** Stacks are parted by empty lines: the thread's name, then a line for each frame with its address. */
function* stacksIn(text: string): Generator<Stack> {
  for (const block of text.split("\n\n")) {
    const [thread, ...lines] = block.split("\n").filter((line) => line.trim() !== "");
    if (thread === undefined || lines.length === 0) continue;
    yield { thread: thread.trim(), frames: lines.map(frameIn) };
  }
}

/** The name of a frame: compiled functions without the sign of their compiler, files from the project's root on. */
function frameIn(line: string): string {
  return line
    .trim()
    .replace(/^[\da-f]+ /, "")
    .replace(/^JS:[*+~^]?'?/, "JS:")
    .replace(/file:\/\/\S*\/(?=(?:src|test)\/)/, "");
}
