import { readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { searchedVenue } from "../../../test/support/searched-venue.ts";
import { Address } from "../../primitives/address.ts";
import { ASSOCIATED_TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { Venue } from "../../venues/venue.ts";
import type { CheckOrder } from "../protocol.ts";
import { ShadowEngine } from "./shadow-engine.ts";
import { ShadowSvm } from "./shadow-svm.ts";

const NOBODY = new Uint8Array(32).fill(1);
const COST_MS = 30;
const code = readFileSync(new URL("../../sandbox/programs/raydium_cpmm.so", import.meta.url));
const order = (isRoutine: boolean): CheckOrder => ({
  kind: "check",
  venue: "none",
  market: NOBODY,
  pair: [NOBODY, NOBODY],
  accounts: [],
  missing: [],
  programs: [],
  clock: { slot: 1n, epoch: 0n, unixTimestamp: 0n },
  rentLamportsPerByte: 1n,
  turn: 1,
  isRoutine,
});

/** An engine each of whose checks takes 30 ms of processor time. */
function engineOf(cpuPercent: number) {
  let nowMs = 0;
  let usedMs = 0;
  let reads = 0;
  // Read before and after each check.
  const cpuMs = () => {
    if (reads++ % 2 === 1) usedMs += COST_MS;
    return usedMs;
  };
  const engine = new ShadowEngine({ venues: [], cpuMs, nowMs: () => nowMs, cpuPercent });
  const check = (isRoutine: boolean) => engine.perform(order(isRoutine)).kind !== "busy";
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { check, pass, usedMs: () => usedMs };
}

test("routine checks keep to their share of a core, however often they are ordered", () => {
  for (const percent of [1, 2, 10]) {
    const { check, pass, usedMs } = engineOf(percent);
    const seconds = 3_600;
    for (let tenth = 0; tenth < seconds * 10; tenth++) {
      check(true);
      pass(100);
    }
    const share = (100 * usedMs()) / (seconds * 1_000);
    // One check may pass the budget, and ten seconds' worth is there from the start.
    expect(share).toBeLessThanOrEqual(percent * (1 + 11 / seconds) + 0.01);
    expect(share).toBeGreaterThan(percent * 0.9);
  }
});

test("a check for a reason is made without budget, and routine ones pay for it", () => {
  const { check, pass } = engineOf(2);
  for (let index = 0; index < 20; index++) expect(check(false)).toBe(true);
  // 600 ms of which 200 were there: 400 are earned in 20 s.
  pass(19_900);
  expect(check(true)).toBe(false);
  pass(200);
  expect(check(true)).toBe(true);
});

test("without a share, no routine check is made", () => {
  const { check, pass } = engineOf(0);
  pass(3_600_000);
  expect([check(true), check(false)]).toEqual([false, true]);
});

/** By this feature programs of the oldest version still run: those of the sandbox are. */
const OLDEST_RUN = Address.parse("TestFeature21111111111111111111111111111111")!;

/** An engine with two programs of the oldest version, and a check that takes them. */
function engineOfOldPrograms() {
  const [mint, quoteMint, market, token] = [2, 3, 4, 5].map((fill) => new Uint8Array(32).fill(fill));
  const mints = [Address.from(mint!), Address.from(quoteMint!)] as const;
  const venue: Venue = {
    ...searchedVenue,
    decode: ({ address }) => ({ venue: "raydium_cpmm", address, mints, nativeSol: false }),
  };
  const engine = new ShadowEngine({ venues: [venue], cpuMs: () => 0, nowMs: () => 0, cpuPercent: 2 });
  const programs = [ASSOCIATED_TOKEN_PROGRAM.bytes, token!].map((id) => ({ id, slot: 1n }));
  const none = { lamports: 1n, data: new Uint8Array(0), executable: false, slot: 1n };
  const accounts = [market!, mint!, quoteMint!].map((address) => ({ ...none, address, owner: token! }));
  const checked = { ...order(false), venue: venue.id, market: market!, pair: [mint!, quoteMint!] as const };
  return {
    deploy() {
      for (const program of programs) engine.perform({ kind: "program", isUpgradeable: true, code, ...program });
    },
    /** True if the programs were loaded for it. */
    check() {
      const answer = engine.perform({ ...checked, accounts, programs });
      return answer.kind !== "checked" || !answer.differences.join().includes("cannot be loaded");
    },
    activate: (active: readonly Uint8Array[]) => void engine.perform({ kind: "features", active }),
  };
}

test("a program that the cluster's features do not let load is loaded once they do, and the reverse", () => {
  const all = ShadowSvm.features();
  const without = all.filter((id) => Address.from(id) !== OLDEST_RUN);
  expect(without.length).toBe(all.length - 1);
  const { deploy, check, activate } = engineOfOldPrograms();
  activate(without);
  deploy();
  expect(check()).toBe(false);
  activate(all);
  expect(check()).toBe(true);
  activate(without);
  expect(check()).toBe(false);
});

test("features that are named again load no program again", () => {
  const { deploy, check, activate } = engineOfOldPrograms();
  activate(ShadowSvm.features());
  deploy();
  check();
  const loaded = vi.spyOn(ShadowSvm.prototype, "load");
  activate(ShadowSvm.features());
  check();
  expect(loaded).not.toHaveBeenCalled();
  loaded.mockRestore();
});
