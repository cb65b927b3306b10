import type { IncomingHttpHeaders } from "node:http";
import { type DescMethod, type Registry, toJsonString } from "@bufbuild/protobuf";
import { parseTimeout as parseConnectTimeout } from "@connectrpc/connect/protocol-connect";
import { parseTimeout as parseGrpcTimeout } from "@connectrpc/connect/protocol-grpc";
import { type CodingHeader, type Inflate, inflaterOf } from "../coding/inflate.ts";
import { frameHead, unframe } from "../frames.ts";
import { readTimeout } from "../wire.ts";
import { createJsonForm } from "./json-form.ts";

/** Requests for a stream have their message in a frame. */
const FRAMED = /^application\/(?:(connect)|grpc(?:-web)?)(?:\+(proto|json))? *(?:;|$)/i;

interface Framed {
  readonly isJson: boolean;
  readonly codingHeader: CodingHeader;
  readonly deadlineMs: (headers: IncomingHttpHeaders) => number | undefined;
}

function framedAs({ "content-type": type = "" }: IncomingHttpHeaders): Framed | undefined {
  const [isFramed, connect, form] = FRAMED.exec(type) ?? [];
  if (isFramed === undefined) return undefined;
  const isJson = form?.toLowerCase() === "json";
  return connect === undefined
    ? {
        isJson,
        codingHeader: "grpc-encoding",
        deadlineMs: (headers) => readTimeout(parseGrpcTimeout, headers, "grpc-timeout"),
      }
    : {
        isJson,
        codingHeader: "connect-content-encoding",
        deadlineMs: (headers) => readTimeout(parseConnectTimeout, headers, "connect-timeout-ms"),
      };
}

/**
 * The body of a request for a stream, as the RPC library is to read it.
 *
 * @throws TradewireError VALIDATION_ERROR
 * @throws ConnectError if the request breaks a rule of its protocol
 */
type ReadBody = (body: Buffer) => Buffer;

/**
 * Reads requests for a stream as calls with one answer are read, and writes them anew for the RPC library, whose own refusals have no
 * `ErrorDetail` and name no field. A body in another form is returned as it is.
 *
 * @param registry resolves google.protobuf.Any in JSON; undefined if no message contains one
 * @param limitBytes of a message
 * @returns called with the headers of a request before the library has them
 */
export function createStreamReader(
  method: DescMethod,
  registry: Registry | undefined,
  limitBytes: number,
): (headers: IncomingHttpHeaders) => ReadBody {
  const { decode } = createJsonForm(method, registry);
  const options = { enumAsInteger: true, ...(registry === undefined ? {} : { registry }) };
  return (headers) => {
    const framed = framedAs(headers);
    if (framed === undefined) return (body) => body;
    const { isJson, codingHeader, deadlineMs } = framed;
    let inflate: Inflate | undefined;
    let problem: unknown;
    try {
      inflate = inflaterOf(headers, codingHeader, limitBytes);
      deadlineMs(headers);
    } catch (error) {
      problem = error;
      // The library would refuse them first, in its own words.
      for (const name of [codingHeader, "grpc-timeout", "connect-timeout-ms"]) delete headers[name];
    }
    return (body) => {
      if (problem !== undefined) throw problem;
      const bytes = unframe(body, inflate);
      const message = isJson ? Buffer.from(toJsonString(method.input, decode(bytes), options)) : bytes;
      return Buffer.concat([Buffer.from(frameHead(0, message.length), "latin1"), message]);
    };
  };
}
