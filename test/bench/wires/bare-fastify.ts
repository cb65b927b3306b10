/** The yardstick of HTTP/1.1: a bare Fastify server that parses a JSON body and answers JSON of the size it was told last. */
import { fastify } from "fastify";
import { answerParent } from "../child.ts";
import { cpuMicros } from "../measure.ts";
import type { BareQuestion } from "./yardsticks.ts";

const server = fastify({ logger: false });
const answer = { success: true, data: { text: "" } };
const least = JSON.stringify(answer).length;
server.post("/v1/tx/buy", (_request, reply) => {
  reply.header("content-type", "application/json; charset=utf-8").send(JSON.stringify(answer));
});
const address = await server.listen({ port: 0, host: "127.0.0.1" });
answerParent({ port: Number(new URL(address).port) }, ({ answerBytes }: BareQuestion) => {
  if (answerBytes !== undefined) answer.data.text = "x".repeat(Math.max(0, answerBytes - least));
  return { cpu: cpuMicros(), bytes: 0 };
});
