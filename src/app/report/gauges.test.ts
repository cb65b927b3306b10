import { expect, it } from "vitest";
import { serviceGauges } from "./gauges.ts";

const counts = {
  accounts: 0,
  streamed: 0,
  notices: 0,
  reads: 0,
  forks: 0,
  gaps: 0,
  disbelieved: 0,
  audited: 0,
  auditDifferences: 0,
};
const gauges = () =>
  serviceGauges({
    api: { load: () => ({ connections: 1, builds: 2, submits: 3, shed: 4 }) },
    head: { slot: () => 5n, slotAgeMs: () => 6, slotMs: () => 7 },
    keys: { storeAgeMs: () => 8 },
    store: { writeRefusal: () => "full" },
    markets: { size: () => ({ pairs: 9, markets: 10 }) },
    source: { counts: () => counts },
    landing: { counts: () => ({ pending: 11, repeated: 12, shed: 13 }) },
    senders: [{ isCooling: () => true }, { isCooling: () => false }],
    canBuild: () => true,
    landed: { counts: () => ({ landed: 14, different: 15, overBound: 16 }) },
    trades: { venueCounts: () => new Map([["pump_fun", { quotes: 17, withheld: 18, slippage: 19 }]]) },
  } as unknown as Parameters<typeof serviceGauges>[0]);

const read = (all: ReturnType<typeof gauges>, name: string) => all.find((one) => one.name === name)!.read();

it("names base units, ends counters with total, and documents each", () => {
  for (const { name, help, type } of gauges()) {
    expect(name).toMatch(/^tradewire_[a-z_]+$/);
    expect(name).not.toMatch(/_(ms|milliseconds|minutes)$/);
    expect(name.endsWith("_total")).toBe(type === "counter");
    expect(help).toMatch(/^\S.*\.$/);
  }
});

it("reports how busy the process is now, however idle it was before", async () => {
  const all = gauges();
  await new Promise((resolve) => setTimeout(resolve, 300));
  read(all, "tradewire_event_loop_utilization");
  // Twice, because a turn of the event loop counts once it has ended.
  for (let i = 0; i < 2; i++) {
    for (const untilMs = performance.now() + 30; performance.now() < untilMs; );
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(read(all, "tradewire_event_loop_utilization")).toBeGreaterThan(0.8);
});

it("counts what became of each venue, by why it failed", () => {
  const all = gauges();
  const value = (name: string) => all.find((one) => one.name === name)!.read();
  expect(value("tradewire_venue_quotes_total")).toEqual([['venue="pump_fun"', 17]]);
  expect(value("tradewire_venue_failures_total")).toContainEqual(['venue="pump_fun",reason="withheld"', 18]);
  expect(value("tradewire_venue_failures_total")).toContainEqual(['venue="pump_fun",reason="slippage"', 19]);
});
