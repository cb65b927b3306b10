import { readFileSync } from "node:fs";
import { createFileRegistry, type DescMessage, fromBinary, type Message } from "@bufbuild/protobuf";
import { type Any, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

const PACKAGE = "connectrpc.conformance.v1";

/** The suite's own definition, compiled by the runner. */
export const registry = createFileRegistry(
  fromBinary(FileDescriptorSetSchema, readFileSync(process.env.CONFORMANCE_DESCRIPTORS!)),
);

export const service = registry.getService(`${PACKAGE}.ConformanceService`)!;

/** A message of the suite, by its short name. @throws Error when there is none of that name */
export function messageOf(name: string): DescMessage {
  const desc = registry.getMessage(`${PACKAGE}.${name}`);
  if (desc === undefined) throw new Error(`the suite defines no ${name}`);
  return desc;
}

/** A name with its values, of a header, a trailer or a query. */
export interface Field {
  readonly name: string;
  readonly value: readonly string[];
}

/** An error that a call is to end with. */
export interface ErrorDefinition {
  readonly code: number;
  readonly message?: string;
  readonly details: readonly Any[];
}

/** The answer demanded of a unary call. */
export interface UnaryDefinition extends Message {
  readonly responseHeaders: readonly Field[];
  readonly responseTrailers: readonly Field[];
  readonly responseDelayMs: number;
  readonly response:
    | { readonly case: "responseData"; readonly value: Uint8Array }
    | { readonly case: "error"; readonly value: ErrorDefinition }
    | { readonly case: undefined };
}

/** The answers demanded of a streaming call. */
export interface StreamDefinition extends Message {
  readonly responseHeaders: readonly Field[];
  readonly responseTrailers: readonly Field[];
  readonly responseDelayMs: number;
  readonly responseData: readonly Uint8Array[];
  readonly error?: ErrorDefinition;
}

/** Any request of the suite. */
export interface Request<Definition> extends Message {
  readonly responseDefinition?: Definition;
  readonly fullDuplex?: boolean;
}

/** The fields of a header list. */
export function toFields(entries: Iterable<readonly [string, string]>): Field[] {
  return Array.from(entries, ([name, value]) => ({ name, value: [value] }));
}
