/** The yardstick of HTTP/1.1: a bare Fastify server that parses a JSON body and answers JSON of a given size. */
import { fastify } from "fastify";
import { answerParent } from "../child.ts";
import { cpuMicros } from "../measure.ts";

const size = Number(process.argv[2]);
const server = fastify({ logger: false });
const answer = { success: true, data: { text: "" } };
answer.data.text = "x".repeat(Math.max(0, size - JSON.stringify(answer).length));
server.post("/v1/tx/buy", (_request, reply) => {
  reply.header("content-type", "application/json; charset=utf-8").send(JSON.stringify(answer));
});
const address = await server.listen({ port: 0, host: "127.0.0.1" });
answerParent({ port: Number(new URL(address).port) }, () => ({ cpu: cpuMicros(), bytes: 0 }));
