import { randomBytes } from "node:crypto";

/** Names calls, uniquely across processes: a random part of this process and a counter. */
export function createRequestIds(): () => string {
  const prefix = `req_${randomBytes(6).toString("hex")}_`;
  let count = 0;
  return () => prefix + (count++).toString(36);
}
