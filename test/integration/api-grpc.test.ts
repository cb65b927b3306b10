import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import http2 from "node:http2";
import https from "node:https";
import tls from "node:tls";
import { promisify } from "node:util";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GetPriorityRequestSchema, GetPriorityResponseSchema, TradeService } from "../../gen/tradewire/v1/trade_pb.ts";
import { type Edge, startEdge } from "../support/edge.ts";
import { ALICE, TOKEN } from "../support/fake-trades.ts";

const run = promisify(execFile);

/** A client of grpc-js made from the definition at run time, as other languages make theirs. */
function loadClient(
  protoFile: string,
  service: string,
  address: string,
): grpc.Client & Record<string, CallableFunction> {
  const definition = loadSync(protoFile, {
    includeDirs: ["proto"],
    longs: String,
    enums: String,
    bytes: String,
    defaults: true,
  });
  const Constructor = service
    .split(".")
    .reduce<unknown>((scope, name) => (scope as Record<string, unknown>)[name], grpc.loadPackageDefinition(definition));
  return new (Constructor as grpc.ServiceClientConstructor)(address, grpc.credentials.createInsecure()) as never;
}

let edge: Edge;
let address: string;
beforeAll(async () => {
  edge = await startEdge();
  address = `${edge.host}:${edge.port}`;
});
afterAll(() => edge.close());

describe.each(["v1", "v1alpha"])("grpc.reflection.%s", (version) => {
  /** Sends all questions on one stream, as grpcurl does, and returns the answers. */
  async function ask(...questions: object[]): Promise<Record<string, Record<string, unknown>>[]> {
    const client = loadClient(
      `grpc/reflection/${version}/reflection.proto`,
      `grpc.reflection.${version}.ServerReflection`,
      address,
    );
    const stream = client.ServerReflectionInfo!() as grpc.ClientDuplexStream<object, never>;
    const answers: never[] = [];
    stream.on("data", (answer: never) => answers.push(answer));
    for (const question of questions) stream.write(question);
    stream.end();
    await once(stream, "end");
    client.close();
    return answers;
  }
  const filesOf = (answer: Record<string, Record<string, unknown>>) =>
    (answer.fileDescriptorResponse!.fileDescriptorProto as string[]).map(
      (file) => fromBinary(FileDescriptorProtoSchema, Buffer.from(file, "base64")).name,
    );

  it("lists the services", async () => {
    const [answer] = await ask({ listServices: "" });
    const services = answer!.listServicesResponse!.service as { name: string }[];
    expect(services.map(({ name }) => name).sort()).toEqual([
      "grpc.health.v1.Health",
      "grpc.reflection.v1.ServerReflection",
      "grpc.reflection.v1alpha.ServerReflection",
      "tradewire.v1.AccountService",
      "tradewire.v1.TradeService",
    ]);
  });

  it("sends files with their imports, once per stream", async () => {
    const [first, second] = await ask(
      { fileContainingSymbol: "tradewire.v1.TradeService" },
      { fileByFilename: "tradewire/v1/account.proto" },
    );
    expect(filesOf(first!).sort()).toEqual([
      "buf/validate/validate.proto",
      "google/api/annotations.proto",
      "google/api/http.proto",
      "google/protobuf/descriptor.proto",
      "google/protobuf/duration.proto",
      "google/protobuf/field_mask.proto",
      "google/protobuf/timestamp.proto",
      "tradewire/v1/trade.proto",
      "tradewire/v1/types.proto",
    ]);
    expect(filesOf(second!)).toEqual(["tradewire/v1/account.proto"]);
  });

  it("finds every kind of symbol", async () => {
    const symbols = [
      "tradewire.v1.TradeService.Buy",
      "tradewire.v1.BuyRequest",
      "tradewire.v1.BuyRequest.sol_amount",
      ".tradewire.v1.SwapMode",
      "tradewire.v1.SWAP_MODE_EXACT_IN",
      "tradewire.v1.ErrorDetail",
      "google.api.http",
    ];
    const answers = await ask(...symbols.map((symbol) => ({ fileContainingSymbol: symbol })));
    for (const answer of answers) expect(filesOf(answer).length).toBeGreaterThan(0);
  });

  it("finds extensions", async () => {
    const containingType = "google.protobuf.MethodOptions";
    const [extension, numbers] = await ask(
      { fileContainingExtension: { containingType, extensionNumber: 72295728 } },
      { allExtensionNumbersOfType: containingType },
    );
    expect(filesOf(extension!)).toContain("google/api/annotations.proto");
    expect(numbers!.allExtensionNumbersResponse).toEqual({ baseTypeName: containingType, extensionNumber: [72295728] });
  });

  it("ends with the service, and at the client's deadline, though the client goes on", async () => {
    // Longer than a test may take.
    const stopping = await startEdge({ drainMs: 600_000 });
    const session = http2.connect(`http://${stopping.host}:${stopping.port}`);
    const question = Buffer.of(0, 0, 0, 0, 2, 0x3a, 0);
    const open = async (more: Record<string, string>) => {
      const path = `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`;
      const type = { "content-type": "application/grpc", te: "trailers" };
      const stream = session.request({ ":method": "POST", ":path": path, ...type, ...more });
      const ends = once(stream, "trailers");
      stream.write(question);
      await once(stream, "data");
      const [trailers] = await Promise.all([ends, "grpc-timeout" in more ? undefined : stopping.close()]);
      return trailers[0]["grpc-status"];
    };
    expect(await open({ "grpc-timeout": "2S" })).toBe(`${grpc.status.DEADLINE_EXCEEDED}`);
    expect(await open({})).toBe(`${grpc.status.UNAVAILABLE}`);
    session.close();
  });

  it("reports unknown symbols", async () => {
    const answers = await ask(
      { fileContainingSymbol: "tradewire.v1.Nothing" },
      { fileByFilename: "nothing.proto" },
      { allExtensionNumbersOfType: "nothing" },
      { fileContainingExtension: { containingType: "nothing", extensionNumber: 1 } },
    );
    expect(answers.map((answer) => answer.errorResponse?.errorCode)).toEqual([5, 5, 5, 5]);
  });
});

describe("grpc.health.v1", () => {
  it("checks the whole service, each service, and no other", async () => {
    const client = loadClient("grpc/health/v1/health.proto", "grpc.health.v1.Health", address);
    const check = (service: string) =>
      new Promise((resolve, reject) => {
        client.Check!({ service }, (error: unknown, answer: unknown) => (error ? reject(error) : resolve(answer)));
      });
    expect(await check("")).toEqual({ status: "SERVING" });
    expect(await check("tradewire.v1.TradeService")).toEqual({ status: "SERVING" });
    await expect(check("nothing")).rejects.toMatchObject({ code: grpc.status.NOT_FOUND });
    client.close();
  });

  it("lists the whole service and each service", async () => {
    const client = loadClient("grpc/health/v1/health.proto", "grpc.health.v1.Health", address);
    const listed = await new Promise((resolve, reject) => {
      client.List!({}, (error: unknown, answer: unknown) => (error ? reject(error) : resolve(answer)));
    });
    const status = "SERVING";
    expect(listed).toEqual({
      statuses: {
        "": { status },
        "tradewire.v1.TradeService": { status },
        "tradewire.v1.AccountService": { status },
      },
    });
    client.close();
  });
});

describe("a client built from reflection alone", () => {
  it.each(["grpc", "grpcweb", "connect"])("calls over %s", async (protocol) => {
    const { stdout } = await run("buf", [
      "curl",
      ...(protocol === "grpc" ? ["--protocol", "grpc"] : ["--protocol", protocol]),
      "--http2-prior-knowledge",
      "--header",
      `Authorization: Bearer ${ALICE.key}`,
      "--data",
      JSON.stringify({ mint: TOKEN.toString(), solAmount: 0.1, slippage: 0, priority: "PRIORITY_FAST" }),
      `http://${address}/tradewire.v1.TradeService/Buy`,
    ]);
    expect(JSON.parse(stdout)).toMatchObject({ platform: "fake", estimates: { inputAmount: 0.1 } });
  });
});

describe("with a certificate", () => {
  // A certificate for localhost, made for this test. Its key is worthless elsewhere.
  const cert = readFileSync("test/fixtures/tls/localhost.pem", "utf8");
  const key = readFileSync("test/fixtures/tls/localhost.key", "utf8");

  it("speaks the negotiated protocol on the one port", async () => {
    const secure = await startEdge({ tls: { cert, key } });
    const baseUrl = `https://localhost:${secure.port}`;

    const http1 = https.get(`${baseUrl}/v1/ping`, { ca: cert, agent: false });
    const [response] = await once(http1, "response");
    response.resume();
    expect([response.statusCode, response.httpVersion]).toEqual([200, "1.1"]);

    const session = http2.connect(baseUrl, { ca: cert });
    const stream = session.request({ ":path": "/v1/priority" });
    const [head] = await once(stream, "response");
    expect(head[":status"]).toBe(200);
    stream.resume();
    session.close();

    const nodeOptions = { ca: cert };
    for (const transport of [
      createGrpcTransport({ baseUrl, nodeOptions }),
      createConnectTransport({ baseUrl, httpVersion: "1.1", nodeOptions }),
    ]) {
      expect((await createClient(TradeService, transport).getPriority({})).levels).toHaveLength(2);
    }

    const client = new grpc.Client(`localhost:${secure.port}`, grpc.credentials.createSsl(Buffer.from(cert)));
    const levels = await new Promise((resolve, reject) => {
      client.makeUnaryRequest(
        "/tradewire.v1.TradeService/GetPriority",
        (message: never) => Buffer.from(toBinary(GetPriorityRequestSchema, message)),
        (bytes: Buffer) => fromBinary(GetPriorityResponseSchema, bytes),
        { $typeName: "tradewire.v1.GetPriorityRequest" } as never,
        (error, answer) => (error ? reject(error) : resolve(answer!.levels)),
      );
    });
    expect(levels).toHaveLength(2);
    client.close();
    await secure.close();
  });

  it("holds back a client that pipelines over HTTP/1.1, and refuses nothing", async () => {
    const secure = await startEdge({ tls: { cert, key } });
    const requests = 400;
    const socket = tls.connect({ host: "localhost", port: secure.port, ca: cert });
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
    });
    await once(socket, "secureConnect");
    const body = JSON.stringify({ mint: TOKEN.toString(), solAmount: 0.1, slippage: 0.05, priority: "fast" });
    const headers = `Host: localhost\r\nAuthorization: Bearer ${ALICE.key}\r\nContent-Type: application/json\r\n`;
    for (let i = 1; i <= requests; i++) {
      const last = i === requests ? "Connection: close\r\n" : "";
      // Each part is a TLS record of its own, so that bodies arrive while reading is held back.
      socket.write(`POST /v1/tx/buy HTTP/1.1\r\n${headers}${last}Content-Length: ${body.length}\r\n\r\n`);
      socket.write(body);
    }
    await once(socket, "close");
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    expect(statuses).toHaveLength(requests);
    expect(new Set(statuses).has("400")).toBe(false);
    await secure.close();
  });
});
