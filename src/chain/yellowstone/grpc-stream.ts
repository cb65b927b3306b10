import { type ClientHttp2Session, connect, constants } from "node:http2";

interface GrpcStreamOptions {
  /** Scheme, host and port of the server. */
  readonly url: string;
  /** `/package.Service/Method` */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly onMessage: (message: Uint8Array) => void;
  /** Called once, when the stream is over for whatever reason, unless it was closed here. */
  readonly onEnd: (reason: string) => void;
}

/** A call in both directions that stays open. */
export interface GrpcStream {
  send(message: Uint8Array): void;
  close(): void;
}

/** The largest account is 10 MiB. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** Room for bursts: with HTTP/2's own 64 KiB a stream of accounts would wait for the round trip all the time. Bytes. */
const WINDOW_BYTES = 16 * 1024 * 1024;
const PING_MS = 10_000;
const PREFIX_BYTES = 5;

/**
 * Opens one gRPC call that streams in both directions, uncompressed, on a connection of its own.
 *
 * @see https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
 */
export function openGrpcStream({ url, path, headers, onMessage, onEnd }: GrpcStreamOptions): GrpcStream {
  let over = false;
  const end = (reason: string) => {
    if (over) return;
    over = true;
    clearInterval(ping);
    session.destroy();
    onEnd(reason);
  };
  const session: ClientHttp2Session = connect(url, {
    settings: { initialWindowSize: WINDOW_BYTES, enablePush: false },
  });
  const ping = setInterval(() => session.ping(() => {}), PING_MS);
  session.on("connect", () => session.setLocalWindowSize(WINDOW_BYTES));
  session.on("error", (error) => end(error.message));
  session.on("close", () => end("the connection was closed"));
  const call = session.request({
    [constants.HTTP2_HEADER_METHOD]: "POST",
    [constants.HTTP2_HEADER_PATH]: path,
    "content-type": "application/grpc+proto",
    te: "trailers",
    ...headers,
  });
  call.on("response", (answer) => {
    if (answer[":status"] !== 200) end(`HTTP ${answer[":status"]}`);
    else if (answer["grpc-status"] !== undefined) end(statusText(answer));
  });
  call.on("trailers", (trailers) => end(statusText(trailers)));
  call.on("error", (error) => end(error.message));
  call.on("close", () => end("the stream was closed"));
  const take = createFrameReader(onMessage);
  call.on("data", (chunk: Buffer) => {
    if (over) return;
    try {
      take(chunk);
    } catch (error) {
      end(String(error));
    }
  });

  return {
    send(message) {
      if (over) return;
      const prefix = Buffer.alloc(PREFIX_BYTES);
      prefix.writeUInt32BE(message.length, 1);
      call.write(Buffer.concat([prefix, message]));
    },
    close() {
      over = true;
      clearInterval(ping);
      session.destroy();
    },
  };
}

function statusText(headers: Readonly<Record<string, unknown>>): string {
  const message = headers["grpc-message"];
  return `gRPC status ${headers["grpc-status"]}${typeof message === "string" ? `: ${decodeURIComponent(message).slice(0, 200)}` : ""}`;
}

/** Cuts a stream of bytes into messages. Each message is only valid during the call that hands it over. */
function createFrameReader(onMessage: (message: Uint8Array) => void): (chunk: Buffer) => void {
  let parts: Buffer[] = [];
  let length = 0;
  /** Bytes without which nothing can be done. */
  let wanted = PREFIX_BYTES;
  return (chunk) => {
    parts.push(chunk);
    length += chunk.length;
    if (length < wanted) return;
    const bytes = parts.length === 1 ? chunk : Buffer.concat(parts, length);
    let at = 0;
    wanted = PREFIX_BYTES;
    while (bytes.length - at >= PREFIX_BYTES) {
      const size = bytes.readUInt32BE(at + 1);
      if (bytes[at] !== 0) throw new Error("a compressed message was sent, which was not asked for");
      if (size > MAX_MESSAGE_BYTES) throw new Error(`a message of ${size} bytes is too large`);
      if (bytes.length - at < PREFIX_BYTES + size) {
        wanted = PREFIX_BYTES + size;
        break;
      }
      onMessage(bytes.subarray(at + PREFIX_BYTES, at + PREFIX_BYTES + size));
      at += PREFIX_BYTES + size;
    }
    length = bytes.length - at;
    parts = length === 0 ? [] : [bytes.subarray(at)];
  };
}
