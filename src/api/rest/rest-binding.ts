import { type DescService, getOption, hasOption } from "@bufbuild/protobuf";
import { http } from "../../../gen/google/api/annotations_pb.ts";

/** How a method is reached over REST. */
export interface RestBinding {
  readonly verb: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** As annotated, with variables in braces. */
  readonly path: string;
  /** True if the request is the JSON body, false if it is in the path. */
  readonly hasBody: boolean;
  /** Request fields in the path. */
  readonly variables: readonly string[];
}

/**
 * Reads the google.api.http annotation of a unary method or a server stream; undefined if it has none. A stream is served as
 * server-sent events.
 * @throws Error if the annotation has an unsupported form
 */
export function restBindingOf(method: DescService["methods"][number]): RestBinding | undefined {
  if (!hasOption(method, http)) return undefined;
  const isServed = method.methodKind === "unary" || method.methodKind === "server_streaming";
  const { pattern, body } = getOption(method, http);
  if (!isServed || pattern.case === undefined || pattern.case === "custom" || (body !== "" && body !== "*")) {
    throw new Error(`the HTTP annotation of ${method.name} has an unsupported form`);
  }
  return {
    verb: pattern.case.toUpperCase() as RestBinding["verb"],
    path: pattern.value,
    hasBody: body === "*",
    variables: Array.from(pattern.value.matchAll(/\{(\w+)\}/g), (match) => match[1]!),
  };
}
