import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { TradeService } from "../../gen/tradewire/v1/trade_pb.ts";
import type { Tradewire } from "../../src/client/tradewire.ts";
import type { Address } from "../../src/primitives/address.ts";
import { binaryPath } from "../../src/sandbox/programs/manifest.ts";
import type { WorldToken } from "../../src/sandbox/world/tokens/token.ts";
import { ShadowLink } from "../../src/shadow/shadow-link.ts";
import { SOL_MINT } from "../../src/solana/programs.ts";
import { eventually } from "../support/eventually.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { createWires, type Outcome } from "../support/wires.ts";

const CPMM = readFileSync(binaryPath("raydium_cpmm"));
const ANOTHER_PROGRAM = readFileSync(binaryPath("pump_fun"));

let service: TestService;
let client: Tradewire;
const logged: { readonly facts: Record<string, unknown>; readonly message: string }[] = [];

beforeAll(async () => {
  const log = (facts: object, message: string) =>
    void logged.push({ facts: facts as Record<string, unknown>, message });
  service = await startTestService({ SHADOW_EXECUTION: "guard" }, { logger: { info: log, warn: log, error: log } });
  client = await service.newClient(1_000);
});
afterAll(() => service?.close());

/** The same program with another denominator of its fees: a fee lower by a ten-thousandth. */
function withOtherFees(code: Uint8Array): Uint8Array {
  const changed = Buffer.from(code);
  const denominator = Buffer.alloc(4);
  denominator.writeUInt32LE(1_000_000);
  let found = 0;
  for (let at = changed.indexOf(denominator); at !== -1; at = changed.indexOf(denominator, at + 4)) {
    changed.writeUInt32LE(1_000_100, at);
    found += 1;
  }
  expect(found).toBeGreaterThan(0);
  return changed;
}

/** A variant of a stand-in program. */
const variant = (name: string) => readFileSync(new URL(`../fixtures/programs/${name}.so`, import.meta.url));

const tokensOn = (venue: string) =>
  service.sandbox.world.tokens.filter((token) => token.venue === venue && token.quoteMint === SOL_MINT);

/** A quote of the token for SOL, on its venue alone if it has one. */
async function quote({ mint }: WorldToken, more: object = {}) {
  const { status, body } = await service.call(
    "/v1/tx/quote",
    { inputMint: "SOL", outputMint: mint.toString(), amount: 0.01, swapMode: "exactIn", slippage: 0.01, ...more },
    client.apiKey,
  );
  return { status, data: body.data as Quoted | undefined, error: body.error };
}

interface Quoted {
  readonly platform: string;
  readonly proof: { readonly checked: boolean; readonly programSlot?: number; readonly shadowSlot?: number };
  readonly faults: readonly { readonly venue: string; readonly market: string; readonly reason: string }[];
}

/** Waits until the market of a token is offered and checked. */
const checked = (token: WorldToken) =>
  eventually(async () => {
    const { data } = await quote(token);
    expect(data?.proof.checked).toBe(true);
    return data!;
  });

/** Does something while nothing reaches the shadow process: a market that is read for the first time stays unchecked for so long. */
async function withoutChecks<T>(work: () => Promise<T>): Promise<T> {
  const { send } = ShadowLink.prototype;
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const holding = vi.spyOn(ShadowLink.prototype, "send").mockImplementation(async function (this: ShadowLink, order) {
    await held;
    return send.call(this, order);
  });
  try {
    return await work();
  } finally {
    holding.mockRestore();
    release();
  }
}

const programOf = (venue: string): Address => service.sandbox.world.programs.find(({ name }) => name === venue)!.id;

test("each market of the embedded chain is checked on its program, and quotes and builds say so", async () => {
  for (const venue of new Set(service.sandbox.world.tokens.map((token) => token.venue))) {
    const [token] = tokensOn(venue);
    const { proof } = await checked(token!);
    expect(proof.programSlot).toBeGreaterThan(0);
    expect(proof.shadowSlot).toBeGreaterThanOrEqual(proof.programSlot!);
    const order = {
      mint: token!.mint.toString(),
      solAmount: 0.01,
      slippage: 0.01,
      priority: "fast",
      requireChecked: true,
    };
    const built = await service.call("/v1/tx/buy", order, client.apiKey);
    expect(built).toMatchObject({ status: 200, body: { data: { proof: { checked: true } } } });
  }
  const status = (await (await fetch(`${service.url}/status.json`)).json()) as Status;
  expect(status.shadow).toMatchObject({ mode: "guard", state: "up", differences: 0 });
  expect(status.shadow.checks).toBeGreaterThan(0);
});

test("on every wire requireChecked is answered by a checked market, or with VENUE_DEGRADED while none is", async () => {
  const cold = tokensOn("pump_fun").at(-1)!;
  const mint = cold.mint.toString();
  const { buy, sell, swap, quote: quoteOf } = TradeService.method;
  const terms = { slippage: 0.01, priority: "fast", requireChecked: true };
  const pair = { inputMint: "SOL", outputMint: mint, amount: 0.01, swapMode: "exactIn" };
  const calls = [
    [quoteOf, { ...pair, slippage: 0.01, requireChecked: true }],
    [buy, { ...terms, mint, solAmount: 0.01 }],
    [sell, { ...terms, mint, tokenAmount: 1 }],
    [swap, { ...terms, ...pair }],
  ] as const;
  const wires = createWires(service.url);
  const askAll = async () => {
    const outcomes: [string, Outcome][] = [];
    for (const wire of wires)
      for (const [method, request] of calls) {
        const outcome = await wire.call(method, request, `Bearer ${client.apiKey}`);
        outcomes.push([`${wire.name}: ${method.name}`, outcome]);
      }
    return outcomes;
  };
  const before = await withoutChecks(askAll);
  for (const [what, outcome] of before) {
    expect(outcome, what).toMatchObject({ code: "VENUE_DEGRADED", retryable: true });
    expect(outcome, what).toMatchObject({ message: expect.stringMatching(/not checked on the deployed program/) });
  }
  await checked(cold);
  await client.buy({ mint, solAmount: 0.1, slippage: 0.01, priority: "fast" });
  for (const [what, outcome] of await askAll())
    expect(outcome, what).toMatchObject({ value: { proof: { checked: true } } });
  for (const wire of wires) wire.close();
});

interface Status {
  readonly shadow: { readonly checks: number; readonly differences: number };
  readonly venues: readonly { readonly id: string; readonly withheld: number; readonly checked: number }[];
  readonly recent: { readonly venues: readonly { readonly id: string; readonly withheld: number }[] };
}

test("a program with another fee is found out: its markets are withheld, others stay, and they come back with the program", async () => {
  const [token] = tokensOn("raydium_cpmm");
  const [other] = tokensOn("pump_swap");
  await checked(token!);
  await checked(other!);
  const before = service.sandbox.slot();
  await service.sandbox.setProgram(programOf("raydium_cpmm"), withOtherFees(CPMM));
  // Within how many slots, the next test shows slot by slot.
  await eventually(async () => expect((await quote(token!)).error?.code).toBe("VENUE_DEGRADED"));
  const differing = await eventually(() => {
    const found = logged.find(({ message }) => message.includes("a market differs"));
    expect(found).toBeDefined();
    return found!;
  });
  expect(differing.facts).toMatchObject({ venue: "raydium_cpmm" });
  expect(differing.facts.reason).toMatch(/we quote \d+ for \d+, the program moves \d+ for \d+/);
  expect((await quote(other!)).data?.proof.checked).toBe(true);
  await eventually(async () => {
    const { recent } = (await (await fetch(`${service.url}/status.json`)).json()) as Status;
    expect(recent.venues.find(({ id }) => id === "raydium_cpmm")?.withheld).toBeGreaterThan(0);
    expect(recent.venues.find(({ id }) => id === "pump_swap")?.withheld ?? 0).toBe(0);
  });

  await service.sandbox.setProgram(programOf("raydium_cpmm"), CPMM);
  const { platform, proof } = await checked(token!);
  expect(platform).toBe("raydium_cpmm");
  expect(proof.programSlot).toBeGreaterThan(before);
});

test("a replaced program withholds its markets, and no others, within two slots of its deployment", async () => {
  const { sandbox } = service;
  const { checks } = service.app.shadow!;
  const [token] = tokensOn("raydium_cpmm");
  await checked(token!);
  const withheldOn = () => checks.report().flatMap(({ id, withheld }) => (withheld > 0 ? [id] : []));
  const seenSlot = async () => Number(/^tradewire_slot (.*)$/m.exec(await readMetrics())![1]);
  await sandbox.pause();
  const from = await sandbox.advanceSlots(1);
  await sandbox.setProgram(programOf("raydium_cpmm"), variant("cpmm_more_accounts"));
  // Slot by slot: each is opened once the service has seen the one before, and with it what that one changed.
  let slot = from;
  while (withheldOn().length === 0 && slot < from + 3) {
    slot = await sandbox.advanceSlots(1);
    await eventually(async () => expect(await seenSlot()).toBe(slot));
  }
  expect([withheldOn(), slot - from <= 2]).toEqual([["raydium_cpmm"], true]);
  await sandbox.setProgram(programOf("raydium_cpmm"), CPMM);
  await sandbox.resume();
  await checked(token!);
});

test("a program that cannot do the trade at all is found out, and never fails a request otherwise", async () => {
  const [token] = tokensOn("raydium_launchlab");
  await checked(token!);
  await service.sandbox.setProgram(programOf("raydium_launchlab"), ANOTHER_PROGRAM);
  await eventually(async () => expect((await quote(token!)).error?.code).toBe("VENUE_DEGRADED"));
  await eventually(() => expect(logged.some(({ facts }) => /the program fails/.test(`${facts.reason}`))).toBe(true));
  await service.sandbox.setProgram(programOf("raydium_launchlab"), readFileSync(binaryPath("raydium_launchlab")));
  await checked(token!);
});

test("a build that takes more compute is offered with a limit that follows, and trades on it land", async () => {
  const [token] = tokensOn("raydium_cpmm");
  const order = { mint: token!.mint.toString(), solAmount: 0.01, slippage: 0.01, priority: "fast" } as const;
  await checked(token!);
  const before = service.sandbox.slot();
  await service.sandbox.setProgram(programOf("raydium_cpmm"), variant("cpmm_more_compute"));
  await eventually(async () => expect((await checked(token!)).proof.programSlot).toBeGreaterThanOrEqual(before));
  const { landed, differences } = await landedMetrics();
  expect((await client.buy(order)).status).toMatch(/confirmed|finalized/);
  // Exact, and within a bound that the check has raised.
  expect(await landedMetrics()).toEqual({ landed: landed + 1, differences, over_bound: 0 });
});

const readMetrics = async () => (await fetch(`${service.app.admin!.url}/metrics`)).text();

async function landedMetrics() {
  const metrics = await readMetrics();
  const read = (name: string) => Number(new RegExp(`^tradewire_landed_${name} (.*)$`, "m").exec(metrics)![1]);
  return { landed: read("total"), differences: read("differences_total"), over_bound: read("over_bound_total") };
}

test("a build that wants an account more is withheld until the old one is back", async () => {
  const [token] = tokensOn("raydium_cpmm");
  await service.sandbox.setProgram(programOf("raydium_cpmm"), variant("cpmm_more_accounts"));
  await eventually(async () => expect((await quote(token!)).error?.code).toBe("VENUE_DEGRADED"));
  await eventually(() => expect(logged.some(({ facts }) => /0xbbd/.test(`${facts.reason}`))).toBe(true));
  expect((await quote(token!, { requireChecked: true })).error?.code).toBe("VENUE_DEGRADED");
  await service.sandbox.setProgram(programOf("raydium_cpmm"), CPMM);
  await checked(token!);
});

test("killing the shadow process costs trades nothing; it comes back by itself", async () => {
  const [token] = tokensOn("pump_fun");
  await checked(token!);
  const { shadow } = service.app;
  const first = shadow!.pid()!;
  process.kill(first, "SIGKILL");
  const built = await client.buy({ mint: token!.mint.toString(), solAmount: 0.01, slippage: 0.01, priority: "fast" });
  expect(built.status).toMatch(/confirmed|finalized/);
  await eventually(() => expect(shadow!.pid()).not.toBe(first));
  await eventually(async () => {
    const status = (await (await fetch(`${service.url}/status.json`)).json()) as Status;
    expect(status.shadow).toMatchObject({ state: "up" });
  });
});
