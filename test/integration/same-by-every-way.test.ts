import { create, fromBinary, fromJsonString, type Message, toBinary } from "@bufbuild/protobuf";
import { createValidator } from "@bufbuild/protovalidate";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createRandom } from "../../src/primitives/random.ts";
import { DEFAULT_API_SETTINGS } from "../support/api-settings.ts";
import { type Edge, startEdge } from "../support/edge.ts";
import { ALICE } from "../support/fake-trades.ts";
import { isWhole } from "../support/whole.ts";
import { noteTrades } from "../support/wire-forms/noted-trades.ts";
import { type RequestText, randomRequestText } from "../support/wire-forms/request-texts.ts";
import { type Answer, type Form, openWays, type Way } from "../support/wire-forms/ways.ts";

/** Requests of each test, each sent by every way. `SEED` begins elsewhere. */
const ROUNDS = isWhole ? 20_000 : 100;
const SEED = Number(process.env.SEED ?? 1);
/** A call a second more than any test makes. */
const UNLIMITED = Object.fromEntries(Object.keys(DEFAULT_API_SETTINGS.limits).map((name) => [name, 1_000_000]));
const REFUSED_AS_MALFORMED: readonly unknown[] = ["VALIDATION_ERROR", "BODY_TOO_LARGE"];

let edge: Edge;
let opened: ReturnType<typeof openWays>;
let noted: ReturnType<typeof noteTrades>;
beforeAll(async () => {
  const limits = { ...DEFAULT_API_SETTINGS.limits, ...UNLIMITED, burstSeconds: 1 };
  edge = await startEdge({ limits, maxRequestsPerConnection: Number.MAX_SAFE_INTEGER });
  noted = noteTrades(edge.trades);
  opened = openWays(`http://${edge.host}:${edge.port}`, ALICE.key);
});
afterAll(async () => {
  opened.close();
  await edge.close();
});

type Outcome = Answer & { readonly asked: string | undefined };

/** Sends a request by every way of a form, and holds that they all have one outcome. */
async function sendAll(
  form: Form,
  { method }: Pick<RequestText, "method">,
  body: Buffer,
  what: string,
): Promise<Outcome> {
  const send = async (way: Way): Promise<Outcome> => {
    noted.take();
    const answer = await way.send(method, body);
    return { ...answer, asked: noted.take() };
  };
  const ways = opened.ways.filter((way) => way.form === form && (way.only === undefined || way.only === method));
  const first = await send(ways[0]!);
  for (const way of ways.slice(1)) expect([way.name, await send(way)], what).toEqual([way.name, first]);
  return first;
}

const codeOf = (outcome: Outcome): unknown =>
  "code" in outcome ? outcome.code : "value" in outcome ? "OK" : outcome.bare;

/** Without what the wires say each in their own words: HTTP statuses, and how they name enum values. */
function inCommon(outcome: Outcome): unknown {
  const { status: _, ...rest } = outcome as Outcome & { readonly status?: string };
  const text = JSON.stringify(rest);
  return JSON.parse(text.replace(/\b(?:PRIORITY|SWAP_MODE)_([A-Z_]+)/g, (_, name: string) => camelCase(name)));
}

const camelCase = (name: string): string =>
  name.toLowerCase().replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The message that a text is by the RPC library; undefined if it is none. */
function byLibrary({ method: { input } }: RequestText, text: Buffer): Message | undefined {
  try {
    return fromJsonString(input, new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(text));
  } catch {
    return undefined;
  }
}

it("answers a request in JSON alike by every way, over REST as over the typed wires, and as in the binary form", async () => {
  const random = createRandom(SEED);
  const outcomes = new Map<unknown, number>();
  for (let round = 0; round < ROUNDS; round++) {
    const request = randomRequestText(random);
    const text = request.bytes("full");
    const what = `round ${round}: ${request.method.name} ${text.toString().slice(0, 1_000)}`;
    const rest = await sendAll("rest", request, request.bytes("short"), what);
    const json = await sendAll("json", request, text, what);
    if (request.isOfBoth) expect(inCommon(json), what).toEqual(inCommon(rest));
    const message = byLibrary(request, text);
    if (message === undefined) expect(REFUSED_AS_MALFORMED, what).toContain(codeOf(json));
    else if (request.isStrict) {
      const bytes = Buffer.from(toBinary(request.method.input, message));
      expect(await sendAll("binary", request, bytes, what), what).toEqual(json);
    }
    outcomes.set(codeOf(json), (outcomes.get(codeOf(json)) ?? 0) + 1);
  }
  // Both sides of every comparison were met.
  for (const code of ["OK", "VALIDATION_ERROR", "MESSAGE_MISMATCH"])
    expect(outcomes.get(code), code).toBeGreaterThan(ROUNDS / 50);
  expect(edge.errors).toEqual([]);
});

it("answers a request in the binary form alike by every way, whatever its bytes are", async () => {
  const random = createRandom(SEED);
  const validator = createValidator();
  for (let round = 0; round < ROUNDS; round++) {
    const request = randomRequestText(random);
    const { input } = request.method;
    const bytes = Buffer.from(toBinary(input, byLibrary(request, request.bytes("full")) ?? create(input)));
    for (let change = random.u32() % 3; change > 0 && bytes.length > 0; change--) {
      bytes[random.u32() % bytes.length] = random.u32() & 0xff;
    }
    const body = random.chance(0.9) ? bytes : bytes.subarray(0, random.u32() % (bytes.length + 1));
    const what = `round ${round}: ${request.method.name} ${body.toString("hex")}`;
    const outcome = await sendAll("binary", request, body, what);
    if (codeOf(outcome) === "VALIDATION_ERROR") continue;
    const message = fromBinary(input, body);
    expect(validator.validate(input, message), what).toMatchObject({ kind: "valid" });
    expect(message.$unknown, what).toBeUndefined();
  }
  expect(edge.errors).toEqual([]);
});
