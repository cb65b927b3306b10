import http from "node:http";

export interface Sample {
  readonly status: number;
  readonly ms: number;
  /** When the answer was there, on the monotonic clock. */
  readonly endMs: number;
  readonly headers: http.IncomingHttpHeaders;
  /** Why there was no answer. */
  readonly error: string | undefined;
}

export interface Call {
  readonly path: string;
  readonly body?: object;
  readonly key?: string;
}

/** Longest time without a byte of an answer before a call counts as lost: longer than anything the service waits for. Milliseconds. */
const LOST_MS = 60_000;

/** One call on an agent's connections. Never rejects and always ends: a lost call is a sample. */
export function callOnce(port: number, { path, body, key }: Call, agent: http.Agent): Promise<Sample> {
  const startMs = performance.now();
  return new Promise((resolve) => {
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const request = http.request(
      {
        host: "127.0.0.1",
        port,
        path,
        agent,
        method: payload === undefined ? "GET" : "POST",
        headers: {
          ...(payload === undefined
            ? {}
            : { "content-type": "application/json", "content-length": Buffer.byteLength(payload) }),
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        },
      },
      (response) => {
        response.resume();
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            ms: performance.now() - startMs,
            endMs: performance.now(),
            headers: response.headers,
            error: undefined,
          }),
        );
        response.on("error", (error) => fail(error));
      },
    );
    const fail = (error: Error) =>
      resolve({
        status: 0,
        ms: performance.now() - startMs,
        endMs: performance.now(),
        headers: {},
        error: error.message,
      });
    request.on("error", fail);
    request.setTimeout(LOST_MS, () => request.destroy(new Error(`no answer within ${LOST_MS / 1_000} s`)));
    request.end(payload);
  });
}
