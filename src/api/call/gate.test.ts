import { expect, it } from "vitest";
import { AccountService } from "../../../gen/tradewire/v1/account_pb.ts";
import { TradeService } from "../../../gen/tradewire/v1/trade_pb.ts";
import { DEFAULT_API_SETTINGS } from "../../../test/support/api-settings.ts";
import { ALICE } from "../../../test/support/fake-trades.ts";
import type { KeyDirectory, Principal } from "../../accounts/port.ts";
import { TradewireError } from "../../errors/tradewire-error.ts";
import { Admission } from "./admission.ts";
import { CallState, responseHeaders } from "./call-state.ts";
import { Gate, type GatedCall } from "./gate.ts";
import { RateLimits } from "./rate-limits.ts";
import { RefusalPace } from "./refusal-pace.ts";

const KNOWN: Principal = { accountId: "account", keyId: "id", wallet: ALICE.wallet };
const PER_SECOND = 5;
const UNKNOWN = new TradewireError("AUTH_ERROR", "This API key is unknown here.");

/** A gate over a store that answers on command, with a clock that the test moves. */
function createGate(addressBuild = 20) {
  const clock = { nowMs: 0 };
  const asked: { readonly apiKey: string; answer(principal: Principal): void; fail(error: unknown): void }[] = [];
  const keys: KeyDirectory = {
    recall: (apiKey) => (apiKey === "in-memory" ? KNOWN : undefined),
    authenticate: (apiKey) =>
      new Promise((answer, fail) => {
        asked.push({ apiKey, answer, fail });
      }),
    watch: () => () => {},
  };
  const admission = new Admission(DEFAULT_API_SETTINGS.admission, () => clock.nowMs);
  const observed: string[] = [];
  const limits = new RateLimits(
    { ...DEFAULT_API_SETTINGS.limits, addressAuth: PER_SECOND, build: PER_SECOND, addressBuild, burstSeconds: 1 },
    () => clock.nowMs,
  );
  const gate = new Gate({
    keys,
    logger: { warn() {}, error() {} },
    limits,
    admission,
    observe: ({ code, keyId }) => observed.push(`${code} ${keyId}`),
    refusals: new RefusalPace(() => clock.nowMs),
  });
  /** The outcome of a call from an address: its error code, or OK. */
  const call = async (apiKey: string | undefined, peer = "192.0.2.1"): Promise<string> => {
    try {
      await gate.enter({
        method: AccountService.method.getProfile,
        state: new CallState("request", peer, () => clock.nowMs),
        headerOf: () => (apiKey === undefined ? undefined : `Bearer ${apiKey}`),
        message: undefined,
      });
      return "OK";
    } catch (error) {
      return error instanceof TradewireError ? error.code : String(error);
    }
  };
  /** A build with a key in memory. */
  const build = (peer = "192.0.2.1"): GatedCall => ({
    method: TradeService.method.buy,
    state: new CallState("request", peer, () => clock.nowMs),
    headerOf: () => "Bearer in-memory",
    message: undefined,
  });
  return { gate, call, build, asked, clock, admission, observed };
}

function counted(codes: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const code of codes) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}

it("looks up at most as many keys at once for an address as it may have failures", async () => {
  const { call, asked, clock } = createGate();
  const calls = Array.from({ length: 200 }, (_, i) => call(`wrong-${i}`));
  const other = call("wrong", "192.0.2.2");
  expect(asked).toHaveLength(PER_SECOND + 1);
  for (const { fail } of asked) fail(UNKNOWN);
  expect(counted(await Promise.all(calls))).toEqual({ AUTH_ERROR: PER_SECOND, RATE_LIMIT_EXCEEDED: 195 });
  expect(await other).toBe("AUTH_ERROR");
  expect(await call("wrong")).toBe("RATE_LIMIT_EXCEEDED");
  expect(await call(undefined)).toBe("RATE_LIMIT_EXCEEDED");
  for (let i = 0; i < 100; i++) expect(await call("in-memory")).toBe("OK");
  clock.nowMs += 1_000 / PER_SECOND;
  expect(await call(undefined)).toBe("AUTH_ERROR");
  expect(asked).toHaveLength(PER_SECOND + 1);
});

it("counts neither a valid key nor an unreachable database as a failure", async () => {
  const { call, asked } = createGate();
  for (let i = 0; i < 4 * PER_SECOND; i++) {
    const right = call(`right-${i}`);
    asked.pop()!.answer(KNOWN);
    expect(await right).toBe("OK");
    const away = call(`right-${i}`);
    asked.pop()!.fail(new TradewireError("UPSTREAM_ERROR", "The account database does not answer."));
    expect(await away).toBe("UPSTREAM_ERROR");
  }
  const left = Array.from({ length: PER_SECOND + 1 }, () => call(undefined));
  expect(counted(await Promise.all(left))).toEqual({ AUTH_ERROR: PER_SECOND, RATE_LIMIT_EXCEEDED: 1 });
});

it("paces refusals of calls beyond a limit, which hold no place while they wait", async () => {
  const { gate, build, admission, clock } = createGate(2_000);
  let refused = 0;
  const entering: (void | Promise<void>)[] = [];
  for (let i = 0; i < 1_000; i++) {
    const call = build();
    try {
      entering.push(gate.enter(call));
    } catch (error) {
      gate.leave(call, error);
      refused++;
    }
  }
  expect(refused).toBe(300);
  const waiting = entering.filter((one) => one instanceof Promise);
  expect(waiting).toHaveLength(1_000 - 300 - PER_SECOND);
  expect(admission.state().builds).toBe(PER_SECOND);
  clock.nowMs += 1_000;
  const outcomes = await Promise.allSettled(waiting);
  for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: { code: "RATE_LIMIT_EXCEEDED" } });
});

it("lets the refusals of one address wait for none of another's", async () => {
  const { gate, build, clock } = createGate(10_000);
  const refused = { many: 0, other: 0 };
  const enter = (peer: string, name: keyof typeof refused) => {
    try {
      gate.enter(build(peer))?.catch(() => refused[name]++);
    } catch {}
  };
  for (let i = 0; i < 3_000; i++) enter("192.0.2.1", "many");
  enter("192.0.2.2", "other");
  clock.nowMs += 1.1;
  await expect.poll(() => refused).toEqual({ many: 2, other: 1 });
  clock.nowMs += 1_000;
  await expect.poll(() => refused.many).toBe(3_000 - 300 - PER_SECOND);
});

it("refuses at once what the long way refuses, counted and observed alike", () => {
  const { gate, build, clock, observed } = createGate();
  expect(gate.refuseNow(build())).toBeUndefined();
  for (let i = 0; i < PER_SECOND; i++) {
    const call = build();
    gate.enter(call);
    gate.leave(call);
  }
  const refuse = (call: GatedCall) => {
    try {
      gate.enter(call);
    } catch (error) {
      gate.leave(call, error);
      return error;
    }
    throw new Error("it passed");
  };
  const [long, short] = [build(), build()];
  expect(gate.refuseNow(short)).toEqual(refuse(long));
  expect(responseHeaders(short.state)).toEqual(responseHeaders(long.state));
  expect(observed.slice(-2)).toEqual(["RATE_LIMIT_EXCEEDED id", "RATE_LIMIT_EXCEEDED id"]);
  // Each of these counts against the address, until that refuses them.
  for (let i = 0; i < 20 - PER_SECOND - 2; i++) expect(gate.refuseNow(build())?.message).toMatch(/from this API key/);
  expect(gate.refuseNow(build())?.message).toMatch(/from this address/);
  expect(observed.at(-1)).toBe("RATE_LIMIT_EXCEEDED undefined");
  for (let i = 0; i < 400; i++) gate.refuseNow(build());
  expect(gate.refuseNow(build())).toBeUndefined();
  // As many as the pace allows.
  expect(observed).toHaveLength(PER_SECOND + 300);
  clock.nowMs += 1_000;
  expect(gate.refuseNow(build())).toBeUndefined();
});
