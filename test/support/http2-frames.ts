/** The connection preface of HTTP/2. */
export const HTTP2_PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");

export const FrameType = { data: 0, headers: 1, rstStream: 3, settings: 4, goAway: 7, windowUpdate: 8 } as const;

const END_STREAM = 1;
const END_HEADERS = 4;
const INITIAL_WINDOW_SIZE = 4;

/** A frame, as it came. */
export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** One frame of HTTP/2. */
export function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const bytes = Buffer.alloc(9 + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(stream, 5);
  bytes.set(payload, 9);
  return bytes;
}

export function settingsFrame({ initialWindowSize }: { readonly initialWindowSize?: number } = {}): Buffer {
  if (initialWindowSize === undefined) return frame(FrameType.settings, 0, 0, Buffer.alloc(0));
  const payload = Buffer.alloc(6);
  payload.writeUInt16BE(INITIAL_WINDOW_SIZE, 0);
  payload.writeUInt32BE(initialWindowSize, 2);
  return frame(FrameType.settings, 0, 0, payload);
}

export function windowUpdateFrame(stream: number, bytes: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(bytes, 0);
  return frame(FrameType.windowUpdate, 0, stream, payload);
}

/** A whole request without a body. Its header block uses no dynamic table, so that any frame can be sent alone. */
export function headersFrame(stream: number, method: "GET" | "POST", path: string, isWhole = true): Buffer {
  const text = (value: string) => Buffer.concat([Buffer.of(value.length), Buffer.from(value, "latin1")]);
  const block = Buffer.concat([
    Buffer.of(method === "GET" ? 0x82 : 0x83, 0x86, 0x04),
    text(path),
    Buffer.of(0x01),
    text("localhost"),
  ]);
  return frame(FrameType.headers, END_HEADERS | (isWhole ? END_STREAM : 0), stream, block);
}

/** The whole frames at the beginning of the bytes, and what follows them. */
export function framesOf(bytes: Buffer): { readonly frames: readonly Frame[]; readonly rest: Buffer } {
  const frames: Frame[] = [];
  let at = 0;
  while (bytes.length >= at + 9) {
    const end = at + 9 + bytes.readUIntBE(at, 3);
    if (bytes.length < end) break;
    const payload = bytes.subarray(at + 9, end);
    frames.push({ type: bytes[at + 3]!, flags: bytes[at + 4]!, stream: bytes.readUInt32BE(at + 5), payload });
    at = end;
  }
  return { frames, rest: bytes.subarray(at) };
}
