import { readFileSync } from "node:fs";

// V8 takes its heap from the system in pieces of 256 KiB at random addresses, so a heap of 300 MB needs a thousand page tables. A build in
// spread traffic reads some fifty pages of it that the processor has not read of late, and their page tables first. If an address is
// taken, Linux puts the piece beside the last one instead, so nearly all addresses are reserved here. That takes no memory
// (docs/performance.md).

/** Left free of each gap: for the heap, and for WebAssembly memories, which reserve 10 GiB each. Bytes. */
const LEFT_FREE = 2 ** 35;

/** Where the addresses of a process end. */
const END = 2 ** 47;

/**
 * An array that may grow reserves its addresses up to its greatest length. Exported because V8 collects what no code of a module can reach.
 */
export const reserved: ArrayBuffer[] = [];

/** Sizes of the gaps between what the process has mapped, the largest first: then an array as large as one gap fits no other. Bytes. */
function gapsOf(maps: string): readonly number[] {
  const gaps: number[] = [];
  let end = 0;
  for (const [, from, to] of maps.matchAll(/^([0-9a-f]+)-([0-9a-f]+) /gm)) {
    const start = Number.parseInt(from!, 16);
    if (start >= END) break;
    gaps.push(start - end);
    end = Number.parseInt(to!, 16);
  }
  return gaps.sort((a, b) => b - a);
}

try {
  for (const gap of gapsOf(readFileSync("/proc/self/maps", "latin1"))) {
    if (gap > 2 * LEFT_FREE) reserved.push(new ArrayBuffer(0, { maxByteLength: gap - LEFT_FREE }));
  }
} catch {
  // Another system, or a limit of addresses (`ulimit -v`): V8 places its heap as it likes.
}
