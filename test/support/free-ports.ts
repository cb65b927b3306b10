import { once } from "node:events";
import { createServer, type Server } from "node:net";

/** Ports that Linux hands out to nobody by itself: one that was free stays free until it is used. */
const [FIRST, COUNT] = [20_000, 10_000];
/** Processes that run beside each other begin this far apart, and come to each other's ports late. */
const APART = 97;

let next = (process.pid * APART) % COUNT;

/** @returns the first of so many successive free ports of 127.0.0.1, none of which this process is given again soon */
export async function freePorts(count: number): Promise<number> {
  for (let tries = 0; tries < COUNT; tries++) {
    if (next + count > COUNT) next = 0;
    const first = FIRST + next;
    // Before anything is awaited: what asks beside this one gets others.
    next += count;
    if (await areFree(first, count)) return first;
  }
  throw new Error(`No ${count} ports between ${FIRST} and ${FIRST + COUNT} are free`);
}

async function areFree(first: number, count: number): Promise<boolean> {
  const bound = await Promise.allSettled(Array.from({ length: count }, (_, i) => bind(first + i)));
  for (const one of bound) {
    if (one.status === "fulfilled") await new Promise((resolve) => one.value.close(resolve));
  }
  return bound.every(({ status }) => status === "fulfilled");
}

async function bind(port: number): Promise<Server> {
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  return server;
}
