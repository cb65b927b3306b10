import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { TradewireError } from "../../src/errors/tradewire-error.ts";
import type { Address } from "../../src/primitives/address.ts";
import { ShadowEngine } from "../../src/shadow/engine/shadow-engine.ts";
import type { LiveMarket } from "../../src/shadow/live-market.ts";
import { MarketChecks } from "../../src/shadow/market-checks.ts";
import type { ShadowOrder } from "../../src/shadow/protocol.ts";
import { SOL_MINT } from "../../src/solana/programs.ts";
import { venues } from "../../src/venues/registry.ts";
import type { Quote, Venue } from "../../src/venues/venue.ts";
import { eventually } from "../support/eventually.ts";
import { codeOf } from "../support/shadow-check.ts";
import { worldOnSvm } from "../support/world.ts";

const open: { close(): void }[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});

/** A venue of the registry with parts of it replaced. */
const altered = (id: string, parts: Partial<Venue>): readonly Venue[] =>
  venues.map((venue) => (venue.id === id ? { ...venue, ...parts } : venue));

/** Checks of markets of the embedded chain's world, on an engine in this process. */
function startChecks(ours: readonly Venue[]) {
  const { world, svm } = worldOnSvm(1);
  // Samples take nothing of the budget, so that all are made.
  const engine = new ShadowEngine({ venues: ours, cpuMs: () => 0, nowMs: () => 0, cpuPercent: 2 });
  const logged: string[] = [];
  const orders: ShadowOrder[] = [];
  /** Accounts of each read, as many as were asked for. */
  const reads: number[] = [];
  let aheadMs = 0;
  let mostPerRead = Number.POSITIVE_INFINITY;
  let slot = 1n;
  let isDown = false;
  let isMadeUp = false;
  const unreadable = new Set<Address>();
  const checks = new MarketChecks({
    isGuarding: true,
    isUp: () => !isDown,
    now: () => Date.now() + aheadMs,
    log: (facts, message) => logged.push(`${message} ${JSON.stringify(facts)}`),
    head: { clock: () => svm.clock(), rentExemption: (space) => svm.rent(space) },
    send: async (order: ShadowOrder) => {
      orders.push(order);
      return isDown ? undefined : engine.perform(order);
    },
    fetchAccounts: async (addresses) => {
      reads.push(addresses.length);
      if (addresses.length > mostPerRead) throw new Error("the accounts are too large together");
      return { accounts: addresses.map((address) => svm.get(address)) };
    },
    programs: {
      follow: async () => {},
      get: (id) => (svm.get(id) === null || unreadable.has(id) ? null : { id, isUpgradeable: true, slot }),
      fetchCode: async (id) => {
        if (isMadeUp) return undefined;
        const { isUpgradeable, code } = codeOf(svm, id);
        return { build: { id, isUpgradeable, slot }, code };
      },
    },
  });
  open.push(checks);
  /** Every market of a venue, as the market room would keep it. */
  const liveOn = (venueId: string): LiveMarket[] =>
    world.tokens
      .filter(({ venue }) => venue === venueId)
      .map(({ market, mint, quoteMint }) => {
        const venue = ours.find(({ id }) => id === venueId)!;
        const pair = { a: mint, b: quoteMint };
        const held = new Set<Address>([market]);
        const view = { get: (address: Address) => (held.has(address) ? svm.get(address) : undefined) };
        const decoded = venue.decode(svm.get(market)!, pair)!;
        for (const address of venue.needs(decoded, view)) held.add(address);
        for (const address of venue.needs(decoded, view)) held.add(address);
        return { venue, address: market, pair, held, view, judged: () => {} };
      });
  const begin = async (lives: readonly LiveMarket[]) => {
    for (const live of lives) checks.begin(live);
    await checks.settled(lives, 60_000);
  };
  const upgrade = (id: Address) => {
    slot += 1n;
    checks.noteReplaced({ id, isUpgradeable: true, slot });
  };
  /** One node claims a deployment that no other has, or is found to have made it up: the slot of before is read again. */
  const claim = (id: Address, isClaimed: boolean) => {
    isMadeUp = isClaimed;
    slot += isClaimed ? 1_000n : -1_000n;
    checks.noteReplaced({ id, isUpgradeable: true, slot });
  };
  return {
    checks,
    liveOn,
    begin,
    upgrade,
    claim,
    logged,
    orders,
    unreadable,
    reads,
    /** The turn of every market to be checked again has come. */
    passTurns: () => {
      aheadMs += 11_000;
    },
    setMostPerRead: (most: number) => {
      mostPerRead = most;
    },
    setDown: (value: boolean) => {
      isDown = value;
    },
  };
}

const cpmm = venues.find(({ id }) => id === "raydium_cpmm")!;
const launchlab = venues.find(({ id }) => id === "raydium_launchlab")!;
const isLinear = (state: unknown) => (state as { curve: { type: number } }).curve.type === 2;

/** Quotes of linear LaunchLab curves that are off by one while `isWrong` answers true. */
const linearOffByOne = (isWrong: () => boolean) =>
  altered(launchlab.id, {
    quote(state, ask): Quote {
      const quote = launchlab.quote(state, ask);
      return isWrong() && isLinear(state) ? { ...quote, outAmount: quote.outAmount - 1n } : quote;
    },
  });

test("a wrong rounding of LaunchLab's linear curve is withheld by itself, other curves are not", async () => {
  let isWrong = true;
  const { checks, liveOn, begin, logged } = startChecks(linearOffByOne(() => isWrong));
  const lives = liveOn(launchlab.id);
  await begin(lives);
  const linear = lives.filter(({ venue, address, view, pair }) =>
    isLinear(venue.read(venue.decode(view.get(address)!, pair)!, view)),
  );
  expect(linear.length).toBeGreaterThan(0);
  expect(linear.length).toBeLessThan(lives.length);
  for (const live of lives) {
    const { withheld, backing } = checks.standingOf(live);
    if (linear.includes(live)) expect(withheld).toMatch(/differs from the deployed program: .*we quote \d+ for \d+/);
    else expect([withheld, backing.checked]).toEqual([undefined, true]);
  }
  expect(logged.join()).toContain("a market differs; withheld");

  isWrong = false;
  for (const { address } of linear) checks.noteLanded(address);
  await eventually(() => {
    for (const live of lives) expect(checks.standingOf(live).withheld).toBeUndefined();
  });
});

test("a curve that goes on where its quotes end is withheld, though every quote is exact", async () => {
  const END = 10n ** 9n;
  const endingAt = (end: bigint) =>
    altered("raydium_cpmm", {
      quote(state, ask): Quote {
        const quote = cpmm.quote(state, ask);
        if (ask.inMint === SOL_MINT && quote.inAmount > end)
          throw new TradewireError("INSUFFICIENT_LIQUIDITY", "nearly complete", { details: { mostIn: `${end}` } });
        return quote;
      },
    });
  const { checks, liveOn, begin } = startChecks(endingAt(END));
  const [early] = liveOn("raydium_cpmm");
  await begin([early!]);
  const { withheld } = checks.standingOf(early!);
  expect(withheld).toMatch(/the curve takes 1000000000 for \d+ at most, the program moves 1125000001 for \d+/);
});

test("markets checked in turn are read together, each is checked, and what differs is found and withheld", async () => {
  let isWrong = false;
  const { checks, liveOn, begin, reads, passTurns } = startChecks(linearOffByOne(() => isWrong));
  const linear = liveOn(launchlab.id).find(({ venue, address, view, pair }) =>
    isLinear(venue.read(venue.decode(view.get(address)!, pair)!, view)),
  );
  const lives = [linear!, ...liveOn("raydium_cpmm").slice(0, 2)];
  await begin(lives);
  const { checks: before } = checks.counts();
  reads.length = 0;
  isWrong = true;
  passTurns();
  await eventually(() => expect(checks.counts().checks).toBe(before + lives.length));
  for (const live of lives) expect(checks.standingOf(live).withheld !== undefined).toBe(live === linear);
  // One call for all of them, and two that show the difference again.
  expect(reads).toHaveLength(3);
  expect(reads[0]).toBeLessThanOrEqual(100);

  isWrong = false;
  passTurns();
  await eventually(() => expect(checks.standingOf(linear!).withheld).toBeUndefined());
});

test("markets whose accounts no node answers together are checked all the same, each on a read of its own", async () => {
  const { checks, liveOn, begin, passTurns, setMostPerRead } = startChecks(venues);
  const lives = [...liveOn(launchlab.id), ...liveOn("raydium_cpmm")].slice(0, 4);
  await begin(lives);
  setMostPerRead(40);
  const { checks: before } = checks.counts();
  passTurns();
  await eventually(() => expect(checks.counts().checks).toBeGreaterThanOrEqual(before + lives.length));
});

test("markets that make no trade are checked again on the processor time of routine checks alone", async () => {
  const { checks, liveOn, begin, orders, passTurns } = startChecks(
    altered("raydium_cpmm", {
      quote() {
        throw new TradewireError("INSUFFICIENT_LIQUIDITY", "empty");
      },
    }),
  );
  const lives = liveOn("raydium_cpmm").slice(0, 3);
  await begin(lives);
  orders.length = 0;
  passTurns();
  await eventually(() => expect(orders.length).toBeGreaterThanOrEqual(lives.length));
  expect(orders.every((order) => order.kind === "check" && order.isRoutine)).toBe(true);
  for (const live of lives)
    expect(checks.standingOf(live)).toMatchObject({ withheld: undefined, backing: { checked: false } });
});

test("a program that cannot be read backs nothing: its markets are offered unchecked, and refused to callers that require checks", async () => {
  const { checks, liveOn, begin, unreadable } = startChecks(venues);
  unreadable.add(launchlab.programs[0]!);
  const lives = liveOn(launchlab.id);
  await begin(lives);
  for (const live of lives)
    expect(checks.standingOf(live)).toMatchObject({ withheld: undefined, backing: { checked: false } });
  unreadable.clear();
  for (const { address } of lives) checks.noteLanded(address);
  await eventually(() => {
    for (const live of lives) expect(checks.standingOf(live).backing.checked).toBe(true);
  });
});

test("a layout read wrongly throws nothing: its markets are withheld, and then the venue as a whole", async () => {
  const { checks, liveOn, begin } = startChecks(
    altered("raydium_cpmm", {
      read() {
        throw new RangeError("outside the bytes");
      },
    }),
  );
  const lives = liveOn("raydium_cpmm");
  const others = liveOn("pump_fun");
  await begin([...lives, ...others]);
  for (const live of lives)
    expect(checks.standingOf(live).withheld).toContain("our code fails: RangeError: outside the bytes");
  for (const live of others) expect(checks.standingOf(live).withheld).toBeUndefined();
  const found = checks.report().find(({ id }) => id === "raydium_cpmm")!;
  expect(found).toMatchObject({ agrees: 0, withheld: lives.length });
  expect(found.reason).toMatch(/\d+ of the \d+ checked markets/);
});

test("a replaced program withholds exactly what runs on it, at once, and until it was checked", async () => {
  const { checks, liveOn, begin, upgrade, setDown } = startChecks(venues);
  const touched = liveOn("raydium_cpmm");
  const untouched = liveOn("raydium_launchlab");
  await begin([...touched, ...untouched]);
  setDown(true);
  upgrade(touched[0]!.venue.programs[0]!);
  for (const live of touched) expect(checks.standingOf(live).withheld).toMatch(/was replaced at slot 2/);
  for (const live of untouched) expect(checks.standingOf(live).withheld).toBeUndefined();
  setDown(false);
  for (const { address } of touched) checks.noteLanded(address);
  await eventually(() => {
    for (const live of touched) {
      const { withheld, backing } = checks.standingOf(live);
      expect([withheld, backing.checked, backing.programSlot]).toEqual([undefined, true, 2n]);
    }
  });
});

test("what is withheld is checked soon after the process has been down, however often that was tried meanwhile", async () => {
  const { checks, liveOn, begin, upgrade, setDown, passTurns } = startChecks(venues);
  const [live] = liveOn("raydium_cpmm");
  await begin([live!]);
  setDown(true);
  upgrade(live!.venue.programs[0]!);
  for (let tries = 0; tries < 10; tries++) {
    checks.noteLanded(live!.address);
    for (let turn = 0; turn < 10; turn++) await nextTurn();
  }
  expect(checks.standingOf(live!).withheld).toMatch(/was replaced at slot 2/);
  setDown(false);
  passTurns();
  await eventually(() => expect(checks.standingOf(live!).withheld).toBeUndefined());
});

test("the markets of a venue learn that it is offered again when those that differ are no longer live", async () => {
  const wrong = new Set<Address>();
  const { checks, liveOn, begin } = startChecks(
    altered("raydium_cpmm", {
      read(market, have) {
        if (wrong.has(market.address)) throw new RangeError("outside the bytes");
        return cpmm.read(market, have);
      },
    }),
  );
  const lives = liveOn("raydium_cpmm").slice(0, 3);
  for (const { address } of lives.slice(1)) wrong.add(address);
  let judgements = 0;
  const good = { ...lives[0]!, judged: () => void judgements++ };
  await begin([good, ...lives.slice(1)]);
  expect(checks.standingOf(good).withheld).toMatch(/2 of the 3 checked markets/);
  judgements = 0;
  checks.end(lives[1]!);
  expect(checks.standingOf(good).withheld).toBeUndefined();
  expect(judgements).toBe(1);
});

test("a deployment that one node makes up withholds its markets only until its slot is read from another", async () => {
  const { checks, liveOn, begin, claim } = startChecks(venues);
  const touched = liveOn("raydium_cpmm").slice(0, 2);
  const untouched = liveOn("raydium_launchlab").slice(0, 1);
  await begin([...touched, ...untouched]);
  const [program] = touched[0]!.venue.programs;
  claim(program!, true);
  for (const { address } of touched) checks.noteLanded(address);
  for (const live of touched) expect(checks.standingOf(live).withheld).toMatch(/was replaced at slot 1001/);
  for (const live of untouched) expect(checks.standingOf(live).withheld).toBeUndefined();
  claim(program!, false);
  await eventually(() => {
    for (const live of touched)
      expect(checks.standingOf(live)).toMatchObject({
        withheld: undefined,
        backing: { checked: true, programSlot: 1n },
      });
  });
});

test("a landed trade that took more than its bound raises the limits of its market until another build runs", async () => {
  const { checks, liveOn, begin, upgrade } = startChecks(venues);
  const [first, second] = liveOn("raydium_cpmm");
  await begin([first!, second!]);
  const [scale] = [checks.standingOf(first!).unitsScale];
  checks.noteLanded(first!.address, 1.08);
  expect(checks.standingOf(first!).unitsScale).toBeCloseTo(1.08 * 1.05, 6);
  expect(checks.standingOf(second!).unitsScale).toBe(scale);
  checks.noteLanded(first!.address, 1.02);
  checks.noteLanded(first!.address);
  expect(checks.standingOf(first!).unitsScale).toBeCloseTo(1.08 * 1.05, 6);
  upgrade(first!.venue.programs[0]!);
  await eventually(() => {
    const { backing, unitsScale } = checks.standingOf(first!);
    expect([backing.programSlot, unitsScale]).toEqual([2n, scale]);
  });
});

test("a process that is down takes nothing back", async () => {
  const { checks, liveOn, begin, setDown } = startChecks(venues);
  const lives = liveOn("pump_swap");
  await begin(lives);
  setDown(true);
  for (const { address } of lives) checks.noteLanded(address);
  const [fresh] = liveOn("raydium_cpmm");
  checks.begin(fresh!);
  await eventually(() =>
    expect(checks.standingOf(fresh!)).toMatchObject({ withheld: undefined, backing: { checked: false } }),
  );
  for (const live of lives)
    expect(checks.standingOf(live)).toMatchObject({ withheld: undefined, backing: { checked: true } });
});

test("a market whose program refuses the leaner form of its trades is counted, and logged once with the numbers", async () => {
  const pump = venues.find(({ id }) => id === "pump_fun")!;
  let isDropped = true;
  const { checks, liveOn, begin, logged } = startChecks(
    altered(pump.id, {
      swap(state, quote, terms) {
        const leg = pump.swap(state, quote, terms);
        if (!isDropped || (quote.fill as { readonly isOlder?: boolean }).isOlder !== true) return leg;
        return {
          ...leg,
          instructions: leg.instructions.map((one) => ({
            ...one,
            accounts: one.accounts,
            data: one.data.toReversed(),
          })),
        };
      },
    }),
  );
  const said = (text: string) => logged.filter((line) => line.includes(text));
  const lives = liveOn(pump.id);
  await begin(lives);
  const refused = checks.leanRefusals();
  expect(refused).toBeGreaterThan(0);
  expect(said("leaner form is refused; traded without")).toHaveLength(refused);
  expect(said("leaner form is refused")[0]).toMatch(/we quote \d+ for \d+, the program fails/);
  const before = checks.counts().checks;
  for (const { address } of lives) checks.noteLanded(address);
  await eventually(() => expect(checks.counts().checks).toBeGreaterThanOrEqual(before + lives.length));
  expect(said("leaner form is refused")).toHaveLength(refused);

  isDropped = false;
  for (const { address } of lives) checks.noteLanded(address);
  await eventually(() => expect(checks.leanRefusals()).toBe(0));
  expect(said("leaner form agrees again")).toHaveLength(refused);
});
