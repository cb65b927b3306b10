import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const PLACE = fileURLToPath(new URL("heap-place.ts", import.meta.url));

/** Lets the heap grow by some 100 MB, then asks for a WebAssembly memory. Prints in how many GiB of addresses there is memory to write. */
const GROW = `
  import { readFileSync } from "node:fs";
  const kept = Array.from({ length: 1_000_000 }, (_, i) => ({ i, of: [i] }));
  const places = new Set();
  for (const [, from] of readFileSync("/proc/self/maps", "latin1").matchAll(/^([0-9a-f]+)-[0-9a-f]+ rw-p /gm))
    places.add(Math.floor(Number.parseInt(from, 16) / 2 ** 30));
  const wasm = new WebAssembly.Memory({ initial: 1, maximum: 65_536 }).buffer.byteLength;
  console.log(JSON.stringify({ places: places.size, kept: kept.length, wasm }));
`;

function grow(command: string, args: readonly string[]): { readonly places: number; readonly kept: number } {
  const output = execFileSync(command, [...args, "--import", PLACE, "--input-type=module", "-e", GROW]);
  return JSON.parse(output.toString("utf8"));
}

// The only system that scatters the heap.
test.runIf(process.platform === "linux")(
  "the pieces of a growing heap lie side by side, with room for other memory",
  () => {
    const grown = grow(process.execPath, []);
    expect(grown).toMatchObject({ kept: 1_000_000, wasm: 65_536 });
    // Without reserved addresses, some five hundred.
    expect(grown.places).toBeLessThan(150);
  },
);

test.runIf(process.platform === "linux")("a process with a limit of addresses runs as without", () => {
  const limited = ["-c", 'ulimit -v 100000000; exec "$@"', "sh", process.execPath];
  expect(grow("sh", limited)).toMatchObject({ kept: 1_000_000 });
});
