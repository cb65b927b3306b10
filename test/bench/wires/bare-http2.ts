/** The yardstick of gRPC: a raw node:http2 server that reads a message and answers one of the size it was told last, with trailers. */
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { answerParent } from "../child.ts";
import { cpuMicros } from "../measure.ts";
import type { BareQuestion } from "./yardsticks.ts";

let answer = Buffer.alloc(0);
const server = createServer();
server.on("stream", (stream) => {
  stream.on("data", () => {});
  stream.on("end", () => {
    stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    stream.end(answer);
  });
});
server.listen(0, "127.0.0.1", () => {
  answerParent({ port: (server.address() as AddressInfo).port }, ({ answerBytes }: BareQuestion) => {
    if (answerBytes !== undefined) answer = Buffer.alloc(answerBytes, 1);
    return { cpu: cpuMicros(), bytes: 0 };
  });
});
