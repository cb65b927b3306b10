import type { Socket } from "node:net";

const counts = new WeakMap<Socket, number>();

/** Requests served so far on an HTTP/1.1 connection. */
export const requestsOn = (socket: Socket): number => counts.get(socket) ?? 0;

/** Counts a request on its HTTP/1.1 connection. Returns how many there were. */
export function countRequest(socket: Socket): number {
  const count = requestsOn(socket) + 1;
  counts.set(socket, count);
  return count;
}
