import { describe, expect, it, vi } from "vitest";
import {
  boxOf,
  expire,
  land,
  landElsewhere,
  principal,
  resigned,
  rest,
  SLOT,
  seen,
  startProcess,
  submitLanded,
  submitOne,
  submitTwice,
  useSubmitWorld,
} from "../../../../test/support/submit-world.ts";
import type { Submitter } from "../submit-trade.ts";

const world = useSubmitWorld();

const FAILURE = { InstructionError: [0, { Custom: 1 }] };
/** How a failed trade is reported by a look-up, a repeated submit and the list. */
const ends = (code: string, finalized: boolean) => [
  [code, finalized],
  [code, finalized],
  ["failed", undefined],
];

/** A trade submitted by process "a" that has failed in a block, which is confirmed and not finalized yet. */
async function submitFailed(a: Submitter) {
  const { trade, answer } = await submitOne(a);
  world.progress = seen("confirmed", FAILURE);
  land("a", trade.signature, FAILURE);
  await rest(10);
  return { trade, error: answer.error };
}

const PAGE = { most: 10, after: undefined, sinceMs: undefined, untilMs: undefined };

describe("finality", () => {
  it("is requested once per 400 ms for any number of look-ups and streams, and never again once reached", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = await submitLanded(a);
    const streamed: string[] = [];
    const streams = Array.from({ length: 20 }, async () => {
      for await (const { status } of a.watch(principal, trade.signature, new AbortController().signal))
        if (status === "finalized") streamed.push(status);
    });
    for (let i = 0; i < 4_000 / 50; i++) {
      for (const { status } of await Promise.all(Array.from({ length: 10 }, () => a.find(principal, trade.signature))))
        expect(status).toBe("confirmed");
      await rest(50);
    }
    expect(world.looks).toBeGreaterThanOrEqual(9);
    expect(world.looks).toBeLessThanOrEqual(11);
    world.progress = seen("finalized");
    await rest(850);
    await Promise.all(streams);
    expect(streamed).toHaveLength(20);
    const [row] = world.submissions.rows.values();
    expect(row).toMatchObject({ isFinalized: true });

    world.looks = 0;
    world.isNodeDown = true;
    await rest(1_000);
    for (const one of [a, b, startProcess("c")]) {
      expect(await one.find(principal, trade.signature)).toMatchObject({ status: "finalized", slot: SLOT, result: {} });
      const again = boxOf(one.submit(trade));
      await rest(10);
      expect(again.value).toEqual(await one.find(principal, trade.signature));
      await rest(1_000);
    }
    expect(world.looks).toBe(0);
  });

  it("reported by one process is reported by the others when the trade is submitted again", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = await submitLanded(a);
    const replay = async (one: Submitter) => {
      const again = boxOf(one.submit(trade));
      await rest(200);
      return again.value?.status;
    };
    expect([await replay(a), await replay(b)]).toEqual(["confirmed", "confirmed"]);
    await rest(400);
    world.progress = seen("finalized");
    expect((await b.find(principal, trade.signature)).status).toBe("finalized");
    expect([await replay(a), await replay(b)]).toEqual(["finalized", "finalized"]);
    world.submissions.isDown = true;
    expect([await replay(a), await replay(b)]).toEqual(["finalized", "finalized"]);
  });

  it("is reported with the database away, and written when it is back", async () => {
    const a = startProcess("a");
    const trade = await submitLanded(a);
    world.progress = seen("finalized");
    world.submissions.isDown = true;
    expect((await a.find(principal, trade.signature)).status).toBe("finalized");
    world.submissions.isDown = false;
    world.progress = undefined;
    await rest(400);
    expect([...world.submissions.rows.values()].map(({ isFinalized }) => isFinalized)).toEqual([false]);
    expect((await a.find(principal, trade.signature)).status).toBe("finalized");
    expect([...world.submissions.rows.values()].map(({ isFinalized }) => isFinalized)).toEqual([true]);
  });

  it("is written again if a server that took over lacks it, with the next look-up", async () => {
    const a = startProcess("a");
    const trade = await submitLanded(a);
    world.progress = seen("finalized");
    expect((await a.find(principal, trade.signature)).status).toBe("finalized");
    const [row] = [...world.submissions.rows.values()];
    world.submissions.rows.set(row!.messageHash, { ...row!, isFinalized: false });
    world.isNodeDown = true;
    expect((await a.find(principal, trade.signature)).status).toBe("finalized");
    const again = boxOf(startProcess("b").submit(trade));
    await rest(10);
    expect(again.value?.status).toBe("finalized");
  });

  it("in another slot than the confirmed one, which was undone, brings slot and amounts of the final record to every process", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = await submitLanded(a);
    // Both remember the end that was confirmed.
    expect(await b.submit(trade)).toMatchObject({ slot: SLOT, result: { outAmount: 42n } });
    const streamed: unknown[] = [];
    const stream = (async () => {
      for await (const { status, slot, result } of a.watch(principal, trade.signature, new AbortController().signal))
        streamed.push([status, slot, result?.outAmount]);
    })();
    await rest(400);
    world.progress = seen("finalized", null, SLOT + 9n);
    expect(await b.find(principal, trade.signature)).toMatchObject({ status: "confirmed", slot: SLOT });
    await rest(10);
    landElsewhere("b", trade.signature);
    await rest(10);
    const final = { status: "finalized", slot: SLOT + 9n, result: { outAmount: 41n } };
    for (const one of [a, b, startProcess("c")]) {
      expect(await one.find(principal, trade.signature)).toMatchObject(final);
      expect(await one.submit(trade)).toMatchObject(final);
      const { trades } = await one.list(principal, { ...PAGE, statuses: new Set() });
      expect(trades).toMatchObject([final].map(({ result: _, ...told }) => told));
    }
    await rest(3_000);
    await stream;
    expect(streamed).toEqual([
      ["confirmed", SLOT, 42n],
      ["finalized", SLOT + 9n, 41n],
    ]);
  });

  it("in another slot is on record together with that slot, though the process ends or the disk is full just then", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = await submitLanded(a);
    world.submissions.finalize = () => Promise.reject(new Error("full"));
    world.progress = seen("finalized", null, SLOT + 9n);
    await b.find(principal, trade.signature);
    await rest(10);
    landElsewhere("b", trade.signature);
    await rest(10);
    const again = boxOf(a.submit(trade));
    await rest(10);
    expect(again.value).toMatchObject({ status: "finalized", slot: SLOT + 9n, result: { outAmount: 41n } });
  });

  it("in another slot where the trade failed is a failure from then on", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = await submitLanded(a);
    world.progress = seen("finalized", FAILURE, SLOT + 9n);
    await b.find(principal, trade.signature);
    await rest(10);
    landElsewhere("b", trade.signature, { error: FAILURE });
    await rest(10);
    for (const one of [a, b]) {
      await expect(one.find(principal, trade.signature)).rejects.toMatchObject({ code: "INSUFFICIENT_SOL" });
      await expect(one.submit(trade)).rejects.toMatchObject({ code: "INSUFFICIENT_SOL" });
    }
  });

  it("in another slot changes nothing while the record of that slot cannot be read", async () => {
    const a = startProcess("a");
    const trade = await submitLanded(a);
    world.progress = seen("finalized", null, SLOT + 9n);
    for (const slot of [SLOT, SLOT + 8n]) {
      await a.find(principal, trade.signature);
      await rest(10);
      landElsewhere("a", trade.signature, { slot });
      await rest(400);
      expect(await a.find(principal, trade.signature)).toMatchObject({ status: "confirmed", slot: SLOT });
    }
  });

  it("in another slot by the word of fewer nodes than vouched for the confirmed one changes nothing", async () => {
    const a = startProcess("a");
    const trade = await submitLanded(a);
    world.progress = seen("finalized", null, SLOT + 9n);
    await a.find(principal, trade.signature);
    await rest(10);
    landElsewhere("a", trade.signature, { witnesses: 1 });
    await rest(10);
    world.progress = seen("confirmed");
    await rest(400);
    expect(await a.find(principal, trade.signature)).toMatchObject({ status: "confirmed", slot: SLOT });
  });

  it("that another process records and reports is not taken back by one that has begun to correct it", async () => {
    const warnings: string[] = [];
    const [a, b] = [startProcess("a"), startProcess("b", (message) => warnings.push(message))];
    const trade = await submitLanded(a);
    world.progress = seen("finalized", null, SLOT + 9n);
    await b.find(principal, trade.signature);
    await rest(10);
    world.progress = seen("finalized");
    const final = { status: "finalized", slot: SLOT, result: { outAmount: 42n } };
    expect(await a.find(principal, trade.signature)).toMatchObject(final);
    landElsewhere("b", trade.signature);
    await rest(400);
    for (const one of [a, b, startProcess("c")])
      expect(await one.find(principal, trade.signature)).toMatchObject(final);
    expect(warnings).toEqual([]);
  });

  it("on record is not taken back, whatever the nodes say later", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = await submitLanded(a);
    world.progress = seen("finalized");
    await b.find(principal, trade.signature);
    await rest(400);
    world.progress = seen("finalized", null, SLOT + 9n);
    world.submissions.isDown = true;
    const found = a.find(principal, trade.signature);
    world.submissions.isDown = false;
    await found;
    await rest(10);
    landElsewhere("a", trade.signature);
    await rest(10);
    expect(await b.find(principal, trade.signature)).toMatchObject({ status: "finalized", slot: SLOT });
  });

  it("of an end that is not the one on record marks no record, and has that one corrected", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const { trade } = await submitOne(a);
    // Without the database, process b drives it too, and sees it land in another slot.
    world.submissions.isDown = true;
    const other = boxOf(b.submit(trade));
    await rest(200);
    landElsewhere("b", trade.signature);
    await rest(3_000);
    expect(other.value).toMatchObject({ status: "confirmed", slot: SLOT + 9n });
    world.submissions.isDown = false;
    land("a", trade.signature);
    await rest(3_000);
    world.progress = seen("finalized", null, SLOT + 9n);
    world.submissions.isDown = true;
    const found = b.find(principal, trade.signature);
    world.submissions.isDown = false;
    expect(await found).toMatchObject({ status: "finalized", slot: SLOT + 9n });
    const [row] = world.submissions.rows.values();
    expect(row).toMatchObject({ isFinalized: false });
    await b.find(principal, trade.signature);
    await rest(10);
    landElsewhere("b", trade.signature);
    await rest(10);
    for (const one of [a, b])
      expect(await one.find(principal, trade.signature)).toMatchObject({ status: "finalized", slot: SLOT + 9n });
  });

  it("of a trade that failed says so at every process, and not before", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const { trade, error } = await submitFailed(a);
    expect(error).toMatchObject({
      code: "INSUFFICIENT_SOL",
      facts: { safeToRebuild: true, details: { finalized: false } },
    });
    const told = async (one: Submitter) => {
      const said: unknown[] = [];
      for (const ask of [() => one.find(principal, trade.signature), () => one.submit(trade)])
        await ask().catch(({ code, facts }) => said.push([code, facts.details.finalized]));
      const { trades } = await one.list(principal, { ...PAGE, statuses: new Set() });
      return [...said, ...trades.map(({ status }) => [status, undefined])];
    };
    for (const one of [a, b]) expect(await told(one)).toEqual(ends("INSUFFICIENT_SOL", false));
    await rest(400);
    world.progress = seen("finalized", FAILURE);
    for (const one of [a, b]) expect(await told(one)).toEqual(ends("INSUFFICIENT_SOL", true));
    world.isNodeDown = true;
    await rest(400);
    expect(await told(startProcess("c"))).toEqual(ends("INSUFFICIENT_SOL", true));
  });

  it("of a trade that failed is found by submitting it again, to any process", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const { trade } = await submitFailed(a);
    await expect(b.submit(trade)).rejects.toMatchObject({
      facts: { safeToRebuild: true, details: { finalized: false } },
    });
    await rest(400);
    world.progress = seen("finalized", FAILURE);
    for (const one of [a, b])
      await expect(one.submit(trade)).rejects.toMatchObject({
        facts: { safeToRebuild: true, details: { finalized: true } },
      });
    world.isNodeDown = true;
    await rest(400);
    for (const one of [a, b])
      await expect(one.submit(trade)).rejects.toMatchObject({
        facts: { safeToRebuild: true, details: { finalized: true } },
      });
  });

  it("in another slot than the one that a trade failed in brings what it did there to every process", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const { trade } = await submitFailed(a);
    await expect(b.submit(trade)).rejects.toMatchObject({
      facts: { safeToRebuild: true, details: { finalized: false } },
    });
    await rest(400);
    world.progress = seen("finalized", null, SLOT + 9n);
    await expect(a.submit(trade)).rejects.toMatchObject({
      facts: { safeToRebuild: true, details: { finalized: false } },
    });
    await rest(10);
    landElsewhere("a", trade.signature);
    await rest(10);
    const final = { status: "finalized", slot: SLOT + 9n, result: { outAmount: 41n } };
    for (const one of [a, b, startProcess("c")]) {
      expect(await one.find(principal, trade.signature)).toMatchObject(final);
      expect(await one.submit(trade)).toMatchObject(final);
    }
  });

  it("in another slot by the word of fewer nodes than vouched for a failure changes nothing", async () => {
    const a = startProcess("a");
    const { trade } = await submitFailed(a);
    await rest(400);
    world.progress = seen("finalized", null, SLOT + 9n);
    await a.find(principal, trade.signature).catch(() => {});
    await rest(10);
    landElsewhere("a", trade.signature, { witnesses: 1 });
    await rest(10);
    world.progress = seen("confirmed", FAILURE);
    await rest(400);
    await expect(a.find(principal, trade.signature)).rejects.toMatchObject({
      code: "INSUFFICIENT_SOL",
      facts: { safeToRebuild: true, details: { finalized: false } },
    });
  });

  it("comes to no trade that failed in an undone block and has expired: every process says so", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const { trade } = await submitFailed(a);
    await rest(400);
    world.progress = undefined;
    const look = async () => {
      await expect(b.find(principal, trade.signature)).rejects.toMatchObject({
        facts: { safeToRebuild: true, details: { finalized: false } },
      });
      await rest(10);
    };
    await look();
    expire("b", trade.signature);
    await rest(400);
    for (const one of [a, b, startProcess("c")]) {
      const expired = { code: "TX_EXPIRED", facts: { safeToRebuild: true, details: { scope: "message" } } };
      await expect(one.find(principal, trade.signature)).rejects.toMatchObject(expired);
      await expect(one.submit(trade)).rejects.toMatchObject(expired);
    }
  });

  it("comes to a trade that failed in an undone block under the signature that its wallet's history shows", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const { trade } = await submitFailed(a);
    const other = resigned(trade);
    await rest(400);
    world.progress = undefined;
    world.finding = { kind: "found", transaction: other.signedTransaction, sinceMs: 10_000, isRemembered: true };
    await expect(b.find(principal, trade.signature)).rejects.toMatchObject({ code: "INSUFFICIENT_SOL" });
    await rest(10);
    expire("b", trade.signature);
    await rest(10);
    landElsewhere("b", other.signature);
    await rest(400);
    const final = { status: "finalized", slot: SLOT + 9n, signature: other.signature, result: { outAmount: 41n } };
    const c = startProcess("c");
    expect(await c.find(principal, trade.signature)).toMatchObject({ ...final, signature: trade.signature });
    for (const one of [a, b, c]) {
      for (const again of [trade, other]) {
        expect(await one.submit(again)).toMatchObject(final);
        expect(await one.find(principal, again.signature)).toMatchObject({ ...final, signature: again.signature });
      }
    }
  });

  it("comes to a trade whose block was undone under the signature that its wallet's history shows", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = await submitLanded(a);
    const other = resigned(trade);
    await rest(400);
    world.progress = undefined;
    world.finding = { kind: "found", transaction: other.signedTransaction, sinceMs: 10_000, isRemembered: true };
    expect(await b.find(principal, trade.signature)).toMatchObject({ status: "confirmed", slot: SLOT });
    await rest(10);
    expire("b", trade.signature);
    await rest(10);
    landElsewhere("b", other.signature);
    await rest(400);
    const final = { status: "finalized", slot: SLOT + 9n, signature: other.signature, result: { outAmount: 41n } };
    for (const one of [a, b, startProcess("c")]) {
      expect(await one.find(principal, trade.signature)).toMatchObject({ ...final, signature: trade.signature });
      expect(await one.submit(trade)).toMatchObject(final);
    }
  });

  it.each([null, FAILURE])(
    "comes to a trade whose block was undone under another signature that was submitted, though no node serves its wallet's history: %j",
    async (error) => {
      const [a, b] = [startProcess("a"), startProcess("b")];
      const { trade, other } = await submitTwice(a);
      land("a", trade.signature, error);
      await rest(400);
      world.progress = undefined;
      world.finding = { kind: "unserved", sinceMs: 10_000, isRemembered: true };
      await b.find(principal, other.signature).catch(() => {});
      await rest(10);
      expire("b", trade.signature);
      await rest(10);
      landElsewhere("b", other.signature);
      await rest(400);
      const final = { status: "finalized", slot: SLOT + 9n, signature: other.signature, result: { outAmount: 41n } };
      for (const one of [a, b, startProcess("c")]) {
        expect(await one.find(principal, trade.signature)).toMatchObject({ ...final, signature: trade.signature });
        expect(await one.submit(trade)).toMatchObject(final);
        expect(await one.submit(other)).toMatchObject(final);
      }
    },
  );

  it("comes to no trade whose block was undone and that is in no other: it stays confirmed, and says so", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = await submitLanded(a);
    await rest(400);
    const cut = new AbortController();
    const reasons: (string | undefined)[] = [];
    const watched = (async () => {
      for await (const { pendingReason } of b.watch(principal, trade.signature, cut.signal))
        reasons.push(pendingReason);
    })();
    await rest(10);
    world.progress = undefined;
    await rest(400);
    const confirmed = { status: "confirmed", slot: SLOT };
    expect(await b.find(principal, trade.signature)).toMatchObject({ ...confirmed, pendingReason: undefined });
    await rest(400);
    expire("b", trade.signature);
    await rest(10);
    const undone = { ...confirmed, pendingReason: expect.stringContaining("undone") };
    for (const answer of [confirmed, undone]) expect(await b.submit(trade)).toMatchObject(answer);
    expect(await b.find(principal, trade.signature)).toMatchObject(undone);
    const listed = await b.list(principal, { ...PAGE, statuses: new Set() });
    expect(listed.trades).toMatchObject([{ status: "confirmed", trade: undone }]);
    await rest(2_500);
    cut.abort();
    await rest(10);
    await watched;
    expect(reasons).toEqual([undefined, expect.stringContaining("undone")]);
    // Another process learns it from the nodes.
    for (const [one, name] of [
      [a, "a"],
      [startProcess("c"), "c"],
    ] as const) {
      expect(await one.submit(trade)).toMatchObject({ ...confirmed, pendingReason: undefined });
      expect(await one.find(principal, trade.signature)).toMatchObject({ ...confirmed, pendingReason: undefined });
      await rest(10);
      expire(name, trade.signature);
      await rest(400);
      expect(await one.find(principal, trade.signature)).toMatchObject(undone);
    }
  });

  it("is looked for 32 trades at a time, however many that nodes have forgotten are read", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trades = await Promise.all(Array.from({ length: 50 }, () => submitOne(a)));
    for (const { trade } of trades) land("a", trade.signature);
    await rest(10);
    world.progress = undefined;
    const look = async () => {
      for (const { trade } of trades)
        expect(await b.find(principal, trade.signature)).toMatchObject({ status: "confirmed" });
      await rest(400);
    };
    const followed = () => trades.filter(({ trade }) => world.inFlight.has(`b ${trade.signature}`));
    for (let i = 0; i < 3; i++) await look();
    expect(followed()).toHaveLength(32);
    for (const { trade } of followed()) expire("b", trade.signature);
    await look();
    expect(followed()).toHaveLength(50);
  });

  it("in another slot is corrected at once, however many trades are looked for that the nodes have forgotten", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const forgotten = await Promise.all(Array.from({ length: 40 }, () => submitOne(a)));
    for (const { trade } of forgotten) land("a", trade.signature);
    const moved = await submitLanded(a);
    await rest(10);
    world.progress = undefined;
    for (const { trade } of forgotten) await b.find(principal, trade.signature);
    await rest(400);
    world.progress = seen("finalized", null, SLOT + 9n);
    await b.find(principal, moved.signature);
    await rest(10);
    landElsewhere("b", moved.signature);
    await rest(400);
    expect(await b.find(principal, moved.signature)).toMatchObject({ status: "finalized", slot: SLOT + 9n });
  });

  it("comes to no trade that failed while fewer nodes than vouched for that show that it has expired", async () => {
    const a = startProcess("a");
    const { trade } = await submitFailed(a);
    await rest(400);
    world.progress = undefined;
    const finding = { kind: "absent", reachesBack: true, witnesses: 2, sinceMs: 10_000, isRemembered: true } as const;
    for (const worse of [
      { ...finding, witnesses: 1 },
      { ...finding, reachesBack: false },
      { ...finding, sinceMs: 1e12 },
      { kind: "unserved", sinceMs: 0, isRemembered: true } as const,
    ]) {
      world.finding = worse;
      for (const isExpired of [true, false]) {
        await expect(a.find(principal, trade.signature)).rejects.toMatchObject({
          code: "INSUFFICIENT_SOL",
          facts: { safeToRebuild: true, details: { finalized: false } },
        });
        await rest(10);
        if (isExpired) expire("a", trade.signature);
        await rest(10_000);
      }
      landElsewhere("a", trade.signature);
      await rest(10_000);
    }
  });

  it("of a failure that the nodes do not show any more is searched for every 10 s at most, and not beyond their history", async () => {
    const a = startProcess("a");
    const { trade } = await submitFailed(a);
    await rest(400);
    world.progress = undefined;
    world.finding = { kind: "unserved", sinceMs: 0, isRemembered: false };
    const searches = async (forMs: number) => {
      let begun = 0;
      for (let ms = 0; ms < forMs; ms += 400) {
        await a.find(principal, trade.signature).catch(() => {});
        await a.submit(trade).catch(() => {});
        await rest(400);
        if (world.inFlight.size === 0) continue;
        begun++;
        expire("a", trade.signature);
        world.inFlight.clear();
      }
      return begun;
    };
    world.inFlight.clear();
    expect(await searches(60_000)).toBe(6);
    await rest(86_400_000);
    expect(await searches(60_000)).toBe(0);
  });

  it("of a failure keeps no repeated submit waiting for slow nodes: the next one has their answer", async () => {
    const a = startProcess("a");
    const { trade } = await submitFailed(a);
    await rest(400);
    const answered = Promise.withResolvers<void>();
    world.nodesAnswer = answered.promise;
    world.progress = seen("finalized", FAILURE);
    const first = boxOf(a.submit(trade));
    await rest(250);
    expect(first.error?.facts.details).toMatchObject({ finalized: false });
    answered.resolve();
    await rest(10);
    await expect(a.submit(trade)).rejects.toMatchObject({ facts: { details: { finalized: true } } });
  });

  it("recorded while this process's nodes show nothing leaves its memory of the end, for when the database is away", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = await submitLanded(a);
    await b.submit(trade);
    const answered = Promise.withResolvers<void>();
    world.nodesAnswer = answered.promise;
    world.progress = undefined;
    const looked = boxOf(b.find(principal, trade.signature));
    await rest(10);
    const [row] = [...world.submissions.rows.values()];
    await world.submissions.finalize(row!.messageHash, row!.outcome!);
    answered.resolve();
    await rest(10);
    expect(looked.value).toMatchObject({ status: "confirmed", slot: SLOT });
    world.submissions.isDown = true;
    world.inFlight.clear();
    const again = boxOf(b.submit(trade));
    await rest(2_100);
    expect(again.value).toMatchObject({ status: "confirmed", slot: SLOT });
    expect(world.inFlight.size).toBe(0);
  });

  it("on record is the answer of a process that has followed the trade too, and comes to its end later", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const { trade } = await submitOne(a);
    world.submissions.isDown = true;
    const late = boxOf(b.submit(trade));
    await rest(10);
    world.submissions.isDown = false;
    land("a", trade.signature);
    await rest(10);
    for (const one of [a, b]) expect(await one.find(principal, trade.signature)).toMatchObject({ status: "finalized" });
    land("b", trade.signature);
    await rest(10);
    expect(late.value).toMatchObject({ status: "finalized", slot: SLOT });
  });

  it("on record is the answer of a process that could write neither its claim nor the end", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = await submitLanded(a);
    world.progress = seen("finalized");
    await rest(400);
    expect(await a.find(principal, trade.signature)).toMatchObject({ status: "finalized" });
    for (const write of ["claim", "finish"] as const)
      vi.spyOn(world.submissions, write).mockRejectedValueOnce(new Error("reset"));
    world.inFlight.clear();
    const late = boxOf(b.submit(trade));
    await rest(100);
    land("b", trade.signature);
    await rest(10);
    expect(late.value).toMatchObject({ status: "finalized", slot: SLOT });
  });

  it("of a success makes no failure in the same slot final", async () => {
    const a = startProcess("a");
    const { trade } = await submitFailed(a);
    await rest(400);
    world.progress = seen("finalized");
    await expect(a.find(principal, trade.signature)).rejects.toMatchObject({
      facts: { safeToRebuild: true, details: { finalized: false } },
    });
  });
});

describe("finality, while a failover takes a correction from the record,", () => {
  /** The record as it was before its end was corrected: another slot. */
  const regress = () => {
    const [row] = [...world.submissions.rows.values()];
    const outcome = row!.outcome!.replace(`${SLOT}n`, `${SLOT - 9n}n`);
    expect(outcome).not.toBe(row!.outcome);
    world.submissions.rows.set(row!.messageHash, { ...row!, outcome, isFinalized: false });
    return row!.messageHash;
  };

  it("is not written to the end that was undone", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = await submitLanded(a);
    world.progress = seen("finalized");
    await rest(400);
    const { finalize } = world.submissions;
    let messageHash = "";
    vi.spyOn(world.submissions, "finalize").mockImplementationOnce((...params) => {
      messageHash = regress();
      return finalize(...params);
    });
    expect(await b.find(principal, trade.signature)).toMatchObject({ status: "finalized", slot: SLOT });
    expect(world.submissions.rows.get(messageHash)!.isFinalized).toBe(false);
  });

  it("is not read from one server for the end on another", async () => {
    const a = startProcess("a");
    const trade = await submitLanded(a);
    regress();
    vi.spyOn(world.submissions, "standingOf").mockResolvedValue({ digest: "another server's", isFinalized: true });
    expect(await a.submit(trade)).toMatchObject({ status: "confirmed", slot: SLOT });
    world.progress = seen("finalized");
    await rest(400);
    expect(await a.find(principal, trade.signature)).toMatchObject({ status: "confirmed", slot: SLOT - 9n });
  });
});
