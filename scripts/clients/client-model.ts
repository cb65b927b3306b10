/** As much of an OpenAPI schema as ours has. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

/** A parameter of an operation's path or query. */
interface Parameter {
  readonly name: string;
  readonly in: "path" | "query";
  readonly description?: string;
  readonly schema: Schema;
}

interface RestOperation {
  readonly operationId: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: { readonly "application/json": { readonly schema: Schema } } };
  readonly responses: { readonly "200": { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> } };
}

/** The OpenAPI document. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, RestOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** An operation as a client calls it. */
export interface ClientMethod {
  /** As in the document: `getTrade`. */
  readonly name: string;
  readonly about: string;
  readonly verb: string;
  readonly path: string;
  readonly inPath: readonly Parameter[];
  readonly inQuery: readonly Parameter[];
  /** Name of the body's schema; undefined without one. */
  readonly body: string | undefined;
  /** Name of the answer's schema. */
  readonly answer: string;
  /** True if the answer is a stream of events. */
  readonly isStream: boolean;
  /** What says which transaction the answer must be about: its signature among the parameters, or the signed bytes of the body. */
  readonly trade: "signature" | "signedTransaction" | undefined;
}

/** Every operation that has an answer, in the order of the document. */
export function methodsOf({ paths, components }: ApiDocument): readonly ClientMethod[] {
  return Object.entries(paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).flatMap(([verb, operation]) => {
      const content = operation.responses["200"].content;
      if (content === undefined) return [];
      const events = content["text/event-stream"]?.schema;
      const answer = events ?? content["application/json"]!.schema.properties!.data!;
      const { parameters = [], requestBody } = operation;
      const body = requestBody?.content["application/json"].schema;
      const inBody = body && components.schemas[nameOf(body)]?.properties;
      const isSigned = inBody !== undefined && "signedTransaction" in inBody;
      const isNamed = parameters.some((parameter) => parameter.in === "path" && parameter.name === "signature");
      return [
        {
          name: operation.operationId,
          about: operation.description ?? "",
          verb: verb.toUpperCase(),
          path,
          inPath: parameters.filter((parameter) => parameter.in === "path"),
          inQuery: parameters.filter((parameter) => parameter.in === "query"),
          body: body && nameOf(body),
          answer: nameOf(answer),
          isStream: events !== undefined,
          trade: isSigned ? "signedTransaction" : isNamed ? "signature" : undefined,
        },
      ];
    }),
  );
}

/** The name that a reference leads to. @throws Error if it is none */
export function nameOf({ $ref }: Schema): string {
  if ($ref === undefined) throw new Error("a schema without a name");
  return $ref.split("/").at(-1)!;
}

/** The schema that is not null, and whether null is allowed too. */
export function withoutNull(schema: Schema): { readonly schema: Schema; readonly isNullable: boolean } {
  if (schema.anyOf !== undefined) {
    return { schema: schema.anyOf.find(({ type }) => type !== "null")!, isNullable: true };
  }
  if (Array.isArray(schema.type)) {
    return { schema: { ...schema, type: schema.type.find((type) => type !== "null")! }, isNullable: true };
  }
  return { schema, isNullable: false };
}

/** `getTrade` as `get_trade`. */
export const snakeOf = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** `getTrade` as `GetTrade`. */
export const pascalOf = (name: string): string => name[0]!.toUpperCase() + name.slice(1);
