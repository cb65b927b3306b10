import { describe, expect, it } from "vitest";
import {
  boxOf,
  principal,
  rest,
  SLOT,
  seen,
  startProcess,
  submitLanded,
  useSubmitWorld,
} from "../../../../test/support/submit-world.ts";
import type { Submitter } from "../submit-trade.ts";

const world = useSubmitWorld();

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

  it("is ignored if it is of another slot than the outcome", async () => {
    const a = startProcess("a");
    const trade = await submitLanded(a);
    world.progress = seen("finalized", null, SLOT + 1n);
    expect((await a.find(principal, trade.signature)).status).toBe("confirmed");
  });
});
