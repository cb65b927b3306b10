import type { IncomingMessage } from "node:http";
import type { DescMethodUnary, Registry } from "@bufbuild/protobuf";
import { createConnectBinaryWire, createConnectJsonWire } from "./connect-wire.ts";
import { createJsonForm } from "./forms/json-form.ts";
import { binaryFrames, createGrpcWebWire, createGrpcWire, jsonFrames } from "./grpc-wires.ts";
import type { Wire } from "./wire.ts";

/** The wires of one method. */
export class Wires {
  readonly #byType: ReadonlyMap<string | undefined, Wire>;
  readonly #grpcByType: ReadonlyMap<string | undefined, Wire>;

  /** @param registry resolves google.protobuf.Any in JSON; undefined if no message contains one */
  constructor(method: DescMethodUnary, registry: Registry | undefined) {
    const [binary, json] = [binaryFrames(method), createJsonForm(method, registry)];
    const [web, grpc] = [createGrpcWebWire(binary), createGrpcWire(binary)];
    this.#byType = new Map([
      ["application/json", createConnectJsonWire(json)],
      ["application/proto", createConnectBinaryWire(method)],
      ["application/grpc-web", web],
      ["application/grpc-web+proto", web],
      ["application/grpc-web+json", createGrpcWebWire(jsonFrames(json))],
    ]);
    this.#grpcByType = new Map([
      ["application/grpc", grpc],
      ["application/grpc+proto", grpc],
      ["application/grpc+json", createGrpcWire(jsonFrames(json))],
    ]);
  }

  /** The wire of a request in everyday form; undefined for any other form. */
  select({ headers, httpVersionMajor }: IncomingMessage): Wire | undefined {
    const type = headers["content-type"];
    return this.#ofType(type, httpVersionMajor) ?? this.#ofType(plainType(type), httpVersionMajor);
  }

  #ofType(type: string | undefined, httpVersionMajor: number): Wire | undefined {
    return this.#byType.get(type) ?? (httpVersionMajor === 2 ? this.#grpcByType.get(type) : undefined);
  }
}

/** JSON may say that it is in UTF-8, which it always is. */
const JSON_IN_UTF8 = /^([a-z/+-]+json) *; *charset=(?:utf-?8|"utf-?8")$/;

/** A content type in the spelling that the wires are known by. */
export function plainType(type = ""): string {
  const lower = type.toLowerCase();
  return JSON_IN_UTF8.exec(lower)?.[1] ?? lower;
}
