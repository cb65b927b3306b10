import { describe, expect, it, vi } from "vitest";
import {
  boxOf,
  LEASE_MS,
  land,
  principal,
  resigned,
  rest,
  SLOT,
  sealerOf,
  seen,
  signedTrade,
  startProcess,
  submitOne,
  submitTwice,
  useSubmitWorld,
} from "../../../test/support/submit-world.ts";
import { TradewireError } from "../../errors/tradewire-error.ts";
import type { Submitter } from "./submit-trade.ts";

const world = useSubmitWorld();

describe("a process that does not hold the claim", () => {
  const statusAt = async (one: Submitter, signature: string) => {
    // Longer than one look at the chain is shared.
    await rest(400);
    return (await one.find(principal, signature)).status;
  };

  it("reports a pending trade as the chain shows it, also if it has joined the attempt", async () => {
    const [a, b, joined] = [startProcess("a"), startProcess("b"), startProcess("c")];
    const trade = signedTrade();
    boxOf(a.submit(trade));
    await rest(10);
    boxOf(joined.submit(trade));
    await rest(10);
    for (const one of [b, joined]) {
      world.progress = undefined;
      expect(await statusAt(one, trade.signature)).toBe("pending");
      world.progress = seen("processed");
      await rest(400);
      expect(await one.find(principal, trade.signature)).toMatchObject({ status: "processed", slot: SLOT });
      world.isNodeDown = true;
      expect(await statusAt(one, trade.signature)).toBe("pending");
      world.isNodeDown = false;
      world.progress = seen("finalized");
      expect(await statusAt(one, trade.signature)).toBe("confirmed");
    }
    land("a", trade.signature);
    await rest(200);
    for (const one of [b, joined])
      expect(await one.find(principal, trade.signature)).toMatchObject({ status: "finalized", result: {} });
  });

  it("takes no confirmation back, whatever a node shows later, and if it takes the trade over", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = signedTrade();
    boxOf(a.submit(trade));
    await rest(10);
    const confirmed = { status: "confirmed", slot: SLOT };
    world.progress = seen("confirmed");
    await rest(400);
    expect(await b.find(principal, trade.signature)).toMatchObject(confirmed);
    for (const next of [seen("processed", null, SLOT + 3n), undefined]) {
      world.progress = next;
      await rest(400);
      expect(await b.find(principal, trade.signature)).toMatchObject(confirmed);
    }
    world.isNodeDown = true;
    await rest(400);
    expect(await b.find(principal, trade.signature)).toMatchObject(confirmed);
    await a.close();
    await rest(1_100);
    expect([...world.inFlight.keys()]).toContain(`b ${trade.signature}`);
    expect(await b.find(principal, trade.signature)).toMatchObject(confirmed);
    const all = { most: 5, after: undefined, statuses: new Set<never>(), sinceMs: undefined, untilMs: undefined };
    const { trades } = await b.list(principal, all);
    expect(trades).toMatchObject([confirmed]);
  });

  it("ignores a node that contradicts the outcome of a trade", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = signedTrade();
    boxOf(a.submit(trade));
    await rest(10);
    land("a", trade.signature);
    await rest(300);
    for (const wrong of [
      seen("finalized", { InstructionError: [1, "x"] }),
      { ...seen("finalized"), slot: SLOT + 1n },
    ]) {
      world.progress = wrong;
      expect(await statusAt(b, trade.signature)).toBe("confirmed");
    }
    world.progress = seen("finalized");
    expect(await statusAt(b, trade.signature)).toBe("finalized");
  });

  it("reports it with the holder dead, and takes over later", async () => {
    const a = startProcess("a");
    const trade = signedTrade();
    const claimed = vi.spyOn(world.submissions, "renew").mockImplementation(async (hashes) => hashes);
    boxOf(a.submit(trade));
    await rest(10);
    const b = startProcess("b");
    world.progress = seen("confirmed");
    expect(await statusAt(b, trade.signature)).toBe("confirmed");
    await rest(LEASE_MS + 1_100);
    claimed.mockRestore();
    land("b", trade.signature);
    await rest(100);
    expect(await b.find(principal, trade.signature)).toMatchObject({ status: "confirmed", result: {} });
  });

  it("leaves what it cannot read to a process that can, and warns once", async () => {
    const a = startProcess("a");
    const trade = signedTrade();
    const renewed = vi.spyOn(world.submissions, "renew").mockImplementation(async (hashes) => hashes);
    boxOf(a.submit(trade));
    await rest(10);
    const warnings: string[] = [];
    startProcess("b", (message) => warnings.push(message), sealerOf("08"));
    await rest(LEASE_MS + 3_100);
    expect(warnings.filter((message) => message.includes(trade.signature))).toHaveLength(1);
    const c = startProcess("c");
    await rest(1_100);
    renewed.mockRestore();
    land("c", trade.signature);
    await rest(100);
    expect(await c.find(principal, trade.signature)).toMatchObject({ status: "finalized", result: {} });
  });

  it("reports a failed trade as processed until its record says why", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = signedTrade();
    boxOf(a.submit(trade));
    await rest(10);
    world.progress = seen("confirmed", { InstructionError: [2, { Custom: 6_004 }] });
    expect(await statusAt(b, trade.signature)).toBe("processed");
  });

  it("answers a submit in time with what it sees, at most processed", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const trade = signedTrade();
    boxOf(a.submit(trade));
    await rest(10);
    const joined = boxOf(b.submit(trade));
    world.progress = seen("confirmed");
    await rest(25_000);
    expect(joined.value).toMatchObject({ status: "processed", slot: SLOT, result: undefined });
  });
});

describe("a look-up that the database keeps waiting while the trade is submitted", () => {
  it.each([
    ["finds no record, because it was asked before", async () => undefined],
    [
      "is not answered",
      async () => {
        throw new TradewireError("UPSTREAM_ERROR", "The account database does not answer.");
      },
    ],
  ])("knows the trade, though it %s", async (_how, answered) => {
    const a = startProcess("a");
    const trade = signedTrade();
    vi.spyOn(world.submissions, "bySignature").mockImplementation(async () => {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      return await answered();
    });
    const found = boxOf(a.find(principal, trade.signature));
    const streamed: string[] = [];
    const cut = new AbortController();
    const stream = (async () => {
      for await (const { status } of a.watch(principal, trade.signature, cut.signal)) streamed.push(status);
    })();
    await rest(10);
    boxOf(a.submit(trade));
    await rest(2_500);
    expect(found).toMatchObject({ value: { status: "pending", signature: trade.signature }, error: undefined });
    expect(streamed).toEqual(["pending"]);
    cut.abort();
    await rest(1_000);
    await stream;
  });
});

it("does not deny a trade that another process sends and could not record yet: the same bytes find out", async () => {
  const [a, b] = [startProcess("a"), startProcess("b")];
  world.submissions.isDown = true;
  const { trade } = await submitOne(a);
  await rest(200);
  expect([...world.inFlight.keys()]).toContain(`a ${trade.signature}`);
  vi.spyOn(world.submissions, "bySignature").mockResolvedValue(undefined);
  await expect(b.find(principal, trade.signature)).rejects.toMatchObject({
    code: "TRADE_NOT_FOUND",
    message: expect.stringContaining("submit the same bytes again"),
  });
  const again = boxOf(b.submit(trade));
  await rest(200);
  land("b", trade.signature);
  await rest(3_000);
  expect(again.value).toMatchObject({ status: "confirmed", slot: SLOT });
});

it("reports a trade as finalized under whichever of its signatures it is asked for", async () => {
  const [a, b] = [startProcess("a"), startProcess("b")];
  const { trade, other } = await submitTwice(a);
  world.shown = trade.signature;
  land("a", trade.signature);
  await rest(100);
  for (const one of [a, b])
    expect(await one.find(principal, other.signature)).toMatchObject({
      signature: other.signature,
      status: "finalized",
    });
});

it("names the signature that it is asked for, wherever the trade is followed and however far it is", async () => {
  const [a, b] = [startProcess("a"), startProcess("b")];
  const { trade, other } = await submitTwice(a);
  world.progress = seen("confirmed");
  const cut = new AbortController();
  const streamed: string[] = [];
  const streams = [trade, other].map(async ({ signature }) => {
    for await (const told of a.watch(principal, signature, cut.signal))
      streamed.push(told.signature === signature ? told.status : told.signature);
  });
  const named = async (processes: readonly Submitter[]) => {
    for (const one of processes)
      for (const { signature } of [trade, other])
        expect(await one.find(principal, signature)).toMatchObject({ signature });
  };
  await named([a, b]);
  land("a", other.signature);
  await rest(1_000);
  await named([a, b]);
  world.submissions.isDown = true;
  await named([a]);
  cut.abort();
  await rest(1_000);
  await Promise.all(streams);
  expect(new Set(streamed)).toEqual(new Set(["pending", "confirmed"]));
});

describe("a trade that has landed under its second signature is found by the first", () => {
  it("wherever it is asked for", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const { trade, other } = await submitTwice(a);
    land("a", other.signature);
    await rest(100);
    for (const one of [a, b]) expect(await one.find(principal, trade.signature)).toMatchObject({ slot: SLOT });
  });

  it("even if that could not be stored beside the outcome, and without delaying the answer", async () => {
    const [a, b] = [startProcess("a"), startProcess("b")];
    const { trade, other, answer } = await submitTwice(a);
    const storing = vi.spyOn(world.submissions, "addSignature").mockImplementation(() => new Promise(() => {}));
    land("a", other.signature);
    await rest(200);
    expect(answer.value).toMatchObject({ signature: other.signature });
    await expect(b.find(principal, trade.signature)).rejects.toMatchObject({ code: "TRADE_NOT_FOUND" });
    storing.mockRestore();
    await rest(2_000);
    expect(await b.find(principal, trade.signature)).toMatchObject({ slot: SLOT });
  });

  it("of a process that got the second while another one followed the first", async () => {
    const [a, b, c] = [startProcess("a"), startProcess("b"), startProcess("c")];
    const trade = signedTrade();
    const other = resigned(trade);
    boxOf(a.submit(trade));
    await rest(10);
    boxOf(b.submit(other));
    await rest(200);
    land("b", other.signature);
    await rest(200);
    expect(await c.find(principal, trade.signature)).toMatchObject({ slot: SLOT });
  });
});
