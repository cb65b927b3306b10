import type { BenchChild } from "../child.ts";
import { median } from "../measure.ts";
import type { CallWork } from "../spread/spread-service.ts";
import type { BenchRow } from "../venues.ts";
import { measureCalls, type SpreadServer } from "./measured-calls.ts";
import { WIRES, type WireName } from "./wire-requests.ts";

const WORKS: readonly CallWork[] = ["call and build and update", "call and build", "call"];
const BLOCKS = 3;
/**
 * Calls of a block or a wire before any is measured: an update is paid for by the next build of its market, one of a thousand, and what
 * another wire left is collected.
 */
const SETTLING_CALLS = 3_000;
const TIMED_BATCHES = 3;
const TIMED_CALLS = 600;
const COUNTED_BATCHES = 15;
/** Calls whose allocations are counted: too few for a collection in between. */
const COUNTED_CALLS = 60;

/** Of one call: microseconds and bytes. */
interface Cost {
  readonly micros: number;
  readonly bytes: number;
}

/**
 * What a REST buy consists of, in blocks that take turns: whole, without the update after it, and answered with a build made before,
 * which leaves the wire, the gate and the answer. Then the allocations of a buy on each wire.
 */
export async function partRows(callers: BenchChild, server: SpreadServer): Promise<readonly BenchRow[]> {
  const blocks = WORKS.map((): Cost[] => []);
  for (let block = 0; block < BLOCKS; block++)
    for (const [index, work] of WORKS.entries()) blocks[index]!.push(await measureBlock(callers, server, work));
  const [whole, unchanged, call] = blocks.map(
    (costs): Cost => ({
      micros: median(costs.map(({ micros }) => micros)),
      bytes: median(costs.map(({ bytes }) => bytes)),
    }),
  ) as [Cost, Cost, Cost];
  const rows: BenchRow[] = [
    ["a REST buy, in blocks", micros(whole.micros), "", ""],
    ["of it REST and the gate", micros(call.micros), "", ""],
    ["of it the build", micros(unchanged.micros - call.micros), "", ""],
    ["of it the update, its notice and decoding", micros(whole.micros - unchanged.micros), "", ""],
    ["allocations of a REST buy", kibibytes(whole.bytes), "", "≤ 16 KiB"],
    ["of them REST and the gate", kibibytes(call.bytes), "", ""],
    ["of them the build", kibibytes(unchanged.bytes - call.bytes), "", ""],
    ["of them the update, its notice and decoding", kibibytes(whole.bytes - unchanged.bytes), "", ""],
  ];
  for (const wire of WIRES) {
    if (wire === "REST") continue;
    await measureCalls(callers, server, { wire, calls: SETTLING_CALLS }, WORKS[0]);
    rows.push([`allocations of a ${wire} buy`, kibibytes(await countBytes(callers, server, wire)), "", ""]);
  }
  return rows;
}

async function measureBlock(callers: BenchChild, server: SpreadServer, work: CallWork): Promise<Cost> {
  await measureCalls(callers, server, { wire: "REST", calls: SETTLING_CALLS }, work);
  const times: number[] = [];
  for (let batch = 0; batch < TIMED_BATCHES; batch++)
    times.push((await measureCalls(callers, server, { wire: "REST", calls: TIMED_CALLS })).micros);
  return { micros: median(times), bytes: await countBytes(callers, server, "REST") };
}

/** Bytes that a call leaves to the collector. */
async function countBytes(callers: BenchChild, server: SpreadServer, wire: WireName): Promise<number> {
  const counted: number[] = [];
  for (let batch = 0; batch < COUNTED_BATCHES; batch++) {
    const { bytes } = await measureCalls(callers, server, { wire, calls: COUNTED_CALLS });
    // A collection has run in between.
    if (bytes > 0) counted.push(bytes);
  }
  return median(counted);
}

const micros = (value: number): string => `${value.toFixed(0)} µs`;
const kibibytes = (bytes: number): string => `${(bytes / 1024).toFixed(1)} KiB`;
