import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import {
  boxOf,
  land,
  principal,
  rest,
  seen,
  signedTrade,
  startProcess,
  submitLanded,
  useSubmitWorld,
} from "../../../test/support/submit-world.ts";

const world = useSubmitWorld();

/** Collects each answer of a watch: its status, whether it has amounts, and its events. `watched` resolves when it ends. */
function watch(process: ReturnType<typeof startProcess>, signature: string) {
  const answers: [string, boolean, string[]][] = [];
  const watched = (async () => {
    for await (const { status, result, events } of process.watch(principal, signature, new AbortController().signal))
      answers.push([status, result !== undefined, events.map(({ kind }) => kind)]);
  })();
  return { answers, watched };
}

it("streams a trade of another process forward only, until it is finalized", async () => {
  const [a, b] = [startProcess("a"), startProcess("b")];
  const trade = signedTrade();
  boxOf(a.submit(trade));
  await rest(10);
  world.progress = undefined;
  const answers: [string, string[]][] = [];
  const watched = (async () => {
    for await (const { status, events } of b.watch(principal, trade.signature, new AbortController().signal))
      answers.push([status, events.map(({ kind }) => kind)]);
  })();
  for (const next of [seen("processed"), undefined, seen("processed"), seen("confirmed")]) {
    await rest(450);
    world.progress = next;
  }
  await rest(450);
  land("a", trade.signature);
  await rest(450);
  world.progress = seen("finalized");
  await rest(450);
  await watched;
  expect(answers).toEqual([
    ["pending", []],
    ["processed", ["processed"]],
    ["confirmed", ["confirmed"]],
    ["confirmed", []],
    ["finalized", ["finalized"]],
  ]);
});

it("a stream that starts after the outcome has the amounts in its first answer, and ends at finality", async () => {
  const a = startProcess("a");
  const trade = await submitLanded(a);
  const { answers, watched } = watch(a, trade.signature);
  await rest(450);
  world.progress = seen("finalized");
  await rest(450);
  await watched;
  expect(answers).toEqual([
    ["confirmed", true, ["sent", "confirmed"]],
    ["finalized", true, ["finalized"]],
  ]);
});

it("a stream asks of a trade with its amounts seldom before its slot may be final, and at once then", async () => {
  const a = startProcess("a");
  const trade = await submitLanded(a);
  world.mayBeFinal = false;
  world.looks = 0;
  const { answers, watched } = watch(a, trade.signature);
  await rest(6_100);
  expect(world.looks).toBe(4);
  world.progress = seen("finalized");
  world.mayBeFinal = true;
  await rest(450);
  await watched;
  expect(world.looks).toBe(5);
  expect(answers.at(-1)![0]).toBe("finalized");
});

it("a stream learns of finality within two seconds from nodes whose notices are behind", async () => {
  const a = startProcess("a");
  const trade = await submitLanded(a);
  const { watched } = watch(a, trade.signature);
  await rest(450);
  world.mayBeFinal = false;
  world.progress = seen("finalized");
  await rest(2_000);
  await watched;
});

it("a stream that starts after finality begins with it and all its events, as a look-up says: it never goes back", async () => {
  const a = startProcess("a");
  const trade = await submitLanded(a);
  world.progress = seen("finalized");
  await rest(450);
  const { answers, watched } = watch(a, trade.signature);
  await rest(450);
  await watched;
  expect(answers).toEqual([["finalized", true, ["sent", "confirmed", "finalized"]]]);
});

it("finalized never precedes the amounts, even if the trade is first seen finalized", async () => {
  const a = startProcess("a");
  const trade = signedTrade();
  const answer = boxOf(a.submit(trade));
  await rest(10);
  const { answers, watched } = watch(a, trade.signature);
  await rest(10);
  land("a", trade.signature);
  await rest(10);
  await watched;
  expect(answer.value?.status).toBe("confirmed");
  expect(answers).toEqual([
    ["pending", false, ["sent"]],
    ["confirmed", false, ["confirmed"]],
    ["finalized", true, ["finalized"]],
  ]);
});

it("takes nothing back when its process takes the trade over, which knows less then than the chain has shown", async () => {
  const [a, b] = [startProcess("a"), startProcess("b")];
  const trade = signedTrade();
  boxOf(a.submit(trade));
  await rest(10);
  world.progress = seen("confirmed");
  const { answers, watched } = watch(b, trade.signature);
  await rest(450);
  await a.close();
  await rest(1_500);
  expect([...world.inFlight.keys()]).toContain(`b ${trade.signature}`);
  land("b", trade.signature);
  await rest(450);
  world.progress = seen("finalized");
  await rest(450);
  await watched;
  expect(answers).toEqual([
    ["confirmed", false, ["confirmed"]],
    ["confirmed", false, ["sent"]],
    ["confirmed", false, ["confirmed"]],
    ["confirmed", true, []],
    ["finalized", true, ["finalized"]],
  ]);
});

it("waits on its caller's signal once at a time, however often the trade changes", async () => {
  const a = startProcess("a");
  const trade = signedTrade();
  boxOf(a.submit(trade));
  await rest(10);
  const { signal } = new AbortController();
  const watched = (async () => {
    for await (const { status } of a.watch(principal, trade.signature, signal)) expect(status).toBe("pending");
  })();
  for (let i = 0; i < 50; i++) {
    world.inFlight.get(`a ${trade.signature}`)!.order.onDispute?.(`reason ${i}`);
    await rest(10);
  }
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  await a.close();
  void watched;
});

describe("a stream of a trade whose record a failover has lost", () => {
  it("goes on: the process that follows the trade writes it again", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = signedTrade();
    boxOf(a.submit(trade));
    await rest(10);
    world.progress = seen("confirmed");
    const { answers, watched } = watch(b, trade.signature);
    await rest(450);
    world.submissions.rows.clear();
    await rest(3_000);
    land("a", trade.signature);
    await rest(100);
    world.submissions.rows.clear();
    await rest(3_000);
    world.progress = seen("finalized");
    await rest(450);
    await watched;
    expect(answers).toEqual([
      ["confirmed", false, ["confirmed"]],
      ["confirmed", true, []],
      ["finalized", true, ["finalized"]],
    ]);
  });

  it("ends in TRADE_NOT_FOUND if nobody writes it again", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = signedTrade();
    boxOf(a.submit(trade));
    await rest(10);
    const { answers, watched } = watch(b, trade.signature);
    const ended = watched.then(
      () => "finalized",
      ({ code }) => code,
    );
    await rest(450);
    await a.close();
    await b.close();
    world.submissions.rows.clear();
    await rest(15_000);
    expect(answers).toHaveLength(1);
    await rest(2_500);
    expect(await Promise.race([ended, "open"])).toBe("TRADE_NOT_FOUND");
  });
});
