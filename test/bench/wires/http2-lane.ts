import { type ClientHttp2Session, connect } from "node:http2";
import type { Lane } from "./http1-lane.ts";
import type { WireRequest } from "./wire-requests.ts";

/** An HTTP/2 connection that carries gRPC calls. */
export class Http2Lane implements Lane {
  readonly #session: ClientHttp2Session;

  constructor(port: number) {
    this.#session = connect(`http://127.0.0.1:${port}`);
  }

  call({ path, headers, body }: WireRequest): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      const stream = this.#session.request({ ":method": "POST", ":path": path, ...headers });
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
      stream.end(body);
    });
  }

  get isOpen(): boolean {
    return !(this.#session.closed || this.#session.destroyed);
  }

  close(): void {
    this.#session.destroy();
  }
}
