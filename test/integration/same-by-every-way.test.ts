import { isUtf8 } from "node:buffer";
import { create, fromBinary, fromJsonString, type Message, toBinary } from "@bufbuild/protobuf";
import { createValidator } from "@bufbuild/protovalidate";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createRandom } from "../../src/primitives/random.ts";
import { DEFAULT_API_SETTINGS } from "../support/api-settings.ts";
import { type Edge, startEdge } from "../support/edge.ts";
import { ALICE } from "../support/fake-trades.ts";
import { isWhole } from "../support/whole.ts";
import { noteTrades } from "../support/wire-forms/noted-trades.ts";
import { isDescribed, type RequestSchema } from "../support/wire-forms/request-schema.ts";
import { type RequestText, randomRequestText } from "../support/wire-forms/request-texts.ts";
import { type Answer, type Form, openWays, type Way } from "../support/wire-forms/ways.ts";

/** Requests of each test, each sent by every way. `SEED` begins elsewhere. */
const ROUNDS = isWhole ? 5_000 : 40;
const SEED = Number(process.env.SEED ?? 1);
/** A call a second more than any test makes. */
const UNLIMITED = Object.fromEntries(Object.keys(DEFAULT_API_SETTINGS.limits).map((name) => [name, 1_000_000]));
const REFUSED_AS_MALFORMED: readonly unknown[] = ["VALIDATION_ERROR", "BODY_TOO_LARGE"];

let edge: Edge;
let byServer = 0;
let opened: ReturnType<typeof openWays>;
let noted: ReturnType<typeof noteTrades>;
beforeAll(async () => {
  const limits = { ...DEFAULT_API_SETTINGS.limits, ...UNLIMITED, burstSeconds: 1 };
  edge = await startEdge({ limits, maxRequestsPerConnection: Number.MAX_SAFE_INTEGER });
  edge.fastify.server.on("request", () => byServer++);
  noted = noteTrades(edge.trades);
  opened = openWays(`http://${edge.host}:${edge.port}`, ALICE.key);
});
afterAll(async () => {
  opened.close();
  await edge.close();
});

interface OpenApi {
  readonly components: { readonly schemas: Readonly<Record<string, RequestSchema>> };
}

/** Refusals of what a request means, of which a schema knows nothing. */
const BEYOND_FORM =
  /^(message is not a challenge|The amount is out of range|mint is SOL|\w+ (is not an address|\w+ name the same)|\w+ leaves no venue)/;

/** The object that a body is, as a schema sees it: null stands for the absence of a field. Undefined if it is no JSON in UTF-8. */
function parsed(bytes: Buffer, { properties = {} }: RequestSchema): unknown {
  if (!isUtf8(bytes)) return undefined;
  try {
    const json = JSON.parse(bytes.toString());
    if (typeof json !== "object" || json === null || Array.isArray(json)) return json;
    return Object.fromEntries(
      Object.entries(json).filter(([name, value]) => value !== null || !Object.hasOwn(properties, name)),
    );
  } catch {
    return undefined;
  }
}

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
    else if (request.isStrict && codeOf(json) !== "BODY_TOO_LARGE") {
      const bytes = Buffer.from(toBinary(request.method.input, message));
      expect(await sendAll("binary", request, bytes, what), what).toEqual(json);
    }
    outcomes.set(codeOf(json), (outcomes.get(codeOf(json)) ?? 0) + 1);
  }
  // Both sides of every comparison were met.
  for (const code of ["OK", "VALIDATION_ERROR"]) expect(outcomes.get(code), code).toBeGreaterThan(ROUNDS / 10);
  expect(byServer / opened.sentOverHttp1()).toBeLessThan(0.7);
  expect(edge.errors).toEqual([]);
});

it("takes over REST what the OpenAPI document describes, and nothing else", async () => {
  const random = createRandom(SEED + 1);
  const url = `http://${edge.host}:${edge.port}/v1/openapi.json`;
  const { schemas } = ((await (await fetch(url)).json()) as OpenApi).components;
  const rest = opened.ways[0]!;
  const counts = { described: 0, other: 0 };
  for (let round = 0; round < 3 * ROUNDS; round++) {
    const request = randomRequestText(random);
    const bytes = request.bytes("short");
    const schema = schemas[request.method.input.name]!;
    const json = parsed(bytes, schema);
    if (json === undefined) continue;
    const answer = await rest.send(request.method, bytes);
    // Names given twice are gone from what is parsed, and so is the length.
    if ("message" in answer && /given twice|is larger than/.test(answer.message)) continue;
    const what = `round ${round}: ${request.method.name} ${bytes.toString().slice(0, 1_000)}`;
    if (isDescribed(json, schema, schemas)) {
      if ("message" in answer && answer.code === "VALIDATION_ERROR") expect(answer.message, what).toMatch(BEYOND_FORM);
      counts.described++;
    } else {
      expect(answer, what).toMatchObject({ code: "VALIDATION_ERROR" });
      counts.other++;
    }
  }
  expect(Math.min(counts.described, counts.other)).toBeGreaterThan(ROUNDS / 2);
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
