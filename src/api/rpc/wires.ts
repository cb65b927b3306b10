import type { IncomingMessage } from "node:http";
import type { DescMethodUnary, Registry } from "@bufbuild/protobuf";
import { isKnownCoding } from "./coding/inflate.ts";
import { createConnectBinaryWire, createConnectJsonWire } from "./connect-wire.ts";
import { createGrpcWebWire, createGrpcWire } from "./grpc-wires.ts";
import type { Wire } from "./wire.ts";

/** The wires of one method. */
export class Wires {
  readonly #connectJson: Wire;
  readonly #connectBinary: Wire;
  readonly #grpc: Wire;
  readonly #grpcWeb: Wire;

  /** @param registry resolves google.protobuf.Any in JSON; undefined if no message contains one */
  constructor(method: DescMethodUnary, registry: Registry | undefined) {
    this.#connectJson = createConnectJsonWire(method, registry);
    this.#connectBinary = createConnectBinaryWire(method);
    this.#grpc = createGrpcWire(method);
    this.#grpcWeb = createGrpcWebWire(method);
  }

  /** The wire of a request in everyday form; undefined for any other form. */
  select({ headers, httpVersionMajor }: IncomingMessage): Wire | undefined {
    const type = headers["content-type"];
    switch (type) {
      case "application/json":
      case "application/json; charset=utf-8":
        return isKnownCoding(headers["content-encoding"]) ? this.#connectJson : undefined;
      case "application/proto":
        return isKnownCoding(headers["content-encoding"]) ? this.#connectBinary : undefined;
      case "application/grpc":
      case "application/grpc+proto":
        return httpVersionMajor === 2 && isKnownCoding(headers["grpc-encoding"]) ? this.#grpc : undefined;
      case "application/grpc-web":
      case "application/grpc-web+proto":
        return isKnownCoding(headers["grpc-encoding"]) ? this.#grpcWeb : undefined;
      default:
        return JSON_IN_UTF8.test(type ?? "") && isKnownCoding(headers["content-encoding"])
          ? this.#connectJson
          : undefined;
    }
  }
}

/** The other spellings of JSON in UTF-8. */
const JSON_IN_UTF8 = /^application\/json *; *charset="?utf-8"?$/i;
