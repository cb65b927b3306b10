import { type ClientHttp2Session, connect } from "node:http2";
import type { Lane } from "./http1-lane.ts";
import type { WireRequest } from "./wire-requests.ts";

/** An HTTP/2 connection that carries gRPC calls. After GOAWAY the next calls take another one. */
export class Http2Lane implements Lane {
  readonly #port: number;
  #session: ClientHttp2Session;

  constructor(port: number) {
    this.#port = port;
    this.#session = this.#connect();
  }

  #connect(): ClientHttp2Session {
    const session = connect(`http://127.0.0.1:${this.#port}`);
    session.on("goaway", () => {
      if (session === this.#session) this.#session = this.#connect();
    });
    return session;
  }

  async call(request: WireRequest): Promise<number | undefined> {
    const session = this.#session;
    try {
      return await callOn(session, request);
    } catch (error) {
      // Opened while GOAWAY was on its way, and not served: safe to repeat.
      if (session === this.#session) throw error;
      return callOn(this.#session, request);
    }
  }

  get isOpen(): boolean {
    return !(this.#session.closed || this.#session.destroyed);
  }

  close(): void {
    this.#session.destroy();
  }
}

function callOn(session: ClientHttp2Session, { path, headers, body }: WireRequest): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ":method": "POST", ":path": path, ...headers });
    let length = 0;
    let status = "";
    stream.on("response", (fields) => {
      status = String(fields["grpc-status"] ?? "");
    });
    stream.on("trailers", (fields) => {
      status = String(fields["grpc-status"] ?? status);
    });
    stream.on("data", (chunk: Buffer) => {
      length += chunk.length;
    });
    stream.on("error", reject);
    stream.on("end", () => {
      if (status === "0") resolve(length);
      else if (status === "14") resolve(undefined);
      else reject(new Error(`gRPC status ${status}`));
    });
    stream.on("close", () => reject(new Error("The server closed a stream during a call.")));
    stream.end(body);
  });
}
