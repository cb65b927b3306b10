import type { IncomingHttpHeaders } from "node:http";
import { type DescMethod, type Registry, toJsonString } from "@bufbuild/protobuf";
import { inflaterOf, isKnownCoding } from "../coding/inflate.ts";
import { FRAME_HEAD, frameHead, unframe } from "../frames.ts";
import { createJsonForm } from "./json-form.ts";

/** JSON in frames: of Connect streams, gRPC and gRPC-Web. */
const FRAMED_JSON = /^application\/(connect|grpc|grpc-web)\+json *(?:;|$)/i;
/** Flags of a frame other than that of a compressed message. */
const OTHER_FLAGS = 0xfe;

/** The body of a request for a stream, as the RPC library is to read it. @throws TradewireError VALIDATION_ERROR */
type JsonStreamReader = (body: Buffer, headers: IncomingHttpHeaders) => Buffer;

/**
 * Reads the JSON of requests for a stream with the decoder of calls with one answer, and writes it anew for the RPC library, whose own
 * refusals name no field. A body that is not one frame of JSON is returned as it is.
 *
 * @param registry resolves google.protobuf.Any in JSON; undefined if no message contains one
 * @param limitBytes of a message
 */
export function createJsonStreamReader(
  method: DescMethod,
  registry: Registry | undefined,
  limitBytes: number,
): JsonStreamReader {
  const { decode } = createJsonForm(method, registry);
  const options = { enumAsInteger: true, ...(registry === undefined ? {} : { registry }) };
  return (body, headers) => {
    const wire = FRAMED_JSON.exec(headers["content-type"] ?? "")?.[1]?.toLowerCase();
    if (wire === undefined || !isOneFrame(body)) return body;
    const coding = headers[wire === "connect" ? "connect-content-encoding" : "grpc-encoding"];
    if (!isKnownCoding(coding)) return body;
    const message = decode(unframe(body, inflaterOf(coding, limitBytes)));
    const json = Buffer.from(toJsonString(method.input, message, options));
    return Buffer.concat([Buffer.from(frameHead(0, json.length), "latin1"), json]);
  };
}

const isOneFrame = (body: Buffer): boolean =>
  body.length >= FRAME_HEAD && (body[0]! & OTHER_FLAGS) === 0 && body.length === FRAME_HEAD + body.readUInt32BE(1);
