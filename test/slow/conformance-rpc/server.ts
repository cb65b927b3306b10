import type { Message } from "@bufbuild/protobuf";
import { Api } from "../../../src/api/server.ts";
import { monotonicMs } from "../../../src/primitives/clock.ts";
import { DEFAULT_API_SETTINGS } from "../../support/api-settings.ts";
import { ALICE, createFakeAccounts, createFakeTrades } from "../../support/fake-trades.ts";
import { messageOf, registry, service } from "./definition.ts";
import { readMessage, writeMessage } from "./frames.ts";
import { implementation } from "./service.ts";

// The API as it is, with the suite's service in addition to the product's own. Reads its options from stdin and writes its
// address to stdout.

interface ServerRequest extends Message {
  readonly useTls: boolean;
  readonly messageReceiveLimit: number;
  readonly serverCreds?: { readonly cert: Uint8Array; readonly key: Uint8Array };
}

const asked = readMessage(messageOf("ServerCompatRequest")) as ServerRequest;
const { useTls, serverCreds, messageReceiveLimit } = asked;
const credentials = useTls ? serverCreds : undefined;
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

const accounts = createFakeAccounts();
const api = new Api({
  nowMs: monotonicMs,
  wallMs: Date.now,
  requestIdPrefix: "conformance",
  trades: createFakeTrades(),
  accounts,
  keys: accounts,
  logger: { warn() {}, error: (facts, message) => console.error(message, facts) },
  settings: {
    ...DEFAULT_API_SETTINGS,
    port: 0,
    tls: credentials === undefined ? undefined : { cert: text(credentials.cert), key: text(credentials.key) },
    bodyLimitBytes: messageReceiveLimit === 0 ? 4 * 1024 * 1024 : messageReceiveLimit,
  },
  canBuild: () => true,
  extra: { services: new Map([[service, implementation]]), registry },
});
// Methods that are not listed as open need a key, and the suite has none.
api.fastify.addHook("onRequest", (request, _, done) => {
  request.raw.headers.authorization ??= `Bearer ${ALICE.key}`;
  done();
});
const { host, port } = await api.listen();
writeMessage(messageOf("ServerCompatResponse"), { host, port, pemCert: credentials?.cert ?? new Uint8Array() });
process.once("SIGTERM", () => process.exit(0));
