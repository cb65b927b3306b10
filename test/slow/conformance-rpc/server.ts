import type { Message } from "@bufbuild/protobuf";
import { createApi } from "../../../src/api/server.ts";
import { DEFAULT_API_SETTINGS } from "../../support/api-settings.ts";
import { ALICE, createFakeAccounts, createFakeTrades } from "../../support/fake-trades.ts";
import { messageOf, registry, service } from "./definition.ts";
import { readMessage, writeMessage } from "./frames.ts";
import { implementation } from "./service.ts";

// The service's edge as it is, with the suite's service beside the product's own. What it has to offer comes on stdin,
// where it listens goes to stdout.

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
const api = await createApi({
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
  serving: () => true,
  beside: { services: new Map([[service, implementation]]), registry },
});
// Whatever is not listed as open needs a key, and the suite has none.
api.fastify.addHook("onRequest", (request, _, done) => {
  request.raw.headers.authorization ??= `Bearer ${ALICE.key}`;
  done();
});
const { host, port } = await api.listen();
writeMessage(messageOf("ServerCompatResponse"), { host, port, pemCert: credentials?.cert ?? new Uint8Array() });
process.once("SIGTERM", () => process.exit(0));
