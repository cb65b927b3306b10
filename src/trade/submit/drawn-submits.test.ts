import { afterEach, expect, test, vi } from "vitest";
import { DrawnSubmits } from "../../../test/support/drawn-submits.ts";

const RUNS = Number(process.env.RUNS ?? (process.env.EXHAUSTIVE === "1" ? 3_000 : 25));
const FIRST_SEED = Number(process.env.SEED ?? 1);

afterEach(() => void vi.useRealTimers());

/**
 * Each seed draws some trades, signed once or twice, of which some have a twin, and submits them to several processes on one database. Between
 * any two steps a process may die, stop or start; the database is slow, refuses, loses answers or its last writes, or is away from one process
 * alone, or takes no writes from it; the nodes of one answer nothing; the wall clock is set, by minutes or days; transactions land, are lost, or
 * land past the service; and the wallet's history is whole, short or not served, when nodes remember the message and later. Every answer is
 * compared with what the chain has, and in the end with those of all processes.
 */
test("whatever happens between two steps of a submit, answers are what the chain has, and all processes agree in the end", async () => {
  for (let seed = FIRST_SEED; seed < FIRST_SEED + RUNS; seed++) {
    vi.useFakeTimers();
    const drawn = new DrawnSubmits(seed);
    const broken = await drawn.play();
    vi.useRealTimers();
    expect(broken, `seed ${seed}, ${drawn.what}\n${drawn.log.join("\n")}`).toEqual([]);
  }
});
