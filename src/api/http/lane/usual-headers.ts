/** Request headers that most clients send. */
type UsualName =
  | "host"
  | "connection"
  | "content-type"
  | "content-length"
  | "authorization"
  | "user-agent"
  | "accept"
  | "accept-encoding"
  | "accept-language"
  | "content-encoding"
  | "connect-protocol-version"
  | "connect-timeout-ms"
  | "grpc-encoding"
  | "grpc-timeout"
  | "traceparent"
  | "sec-fetch-mode";

/** The headers of a request without others: of one shape, so that neither making them nor asking for one is a look-up by text. */
export class UsualHeaders implements Record<UsualName, string | undefined> {
  [name: string]: string | undefined;
  host: string | undefined = undefined;
  connection: string | undefined = undefined;
  "content-type": string | undefined = undefined;
  "content-length": string | undefined = undefined;
  authorization: string | undefined = undefined;
  "user-agent": string | undefined = undefined;
  accept: string | undefined = undefined;
  "accept-encoding": string | undefined = undefined;
  "accept-language": string | undefined = undefined;
  "content-encoding": string | undefined = undefined;
  "connect-protocol-version": string | undefined = undefined;
  "connect-timeout-ms": string | undefined = undefined;
  "grpc-encoding": string | undefined = undefined;
  "grpc-timeout": string | undefined = undefined;
  traceparent: string | undefined = undefined;
  "sec-fetch-mode": string | undefined = undefined;
}

// A header may have any name: none is one that objects have.
Object.setPrototypeOf(UsualHeaders.prototype, null);
Reflect.deleteProperty(UsualHeaders.prototype, "constructor");

/** As most clients write them: in lower case, or each word with a capital. */
const names: ReadonlyMap<string, UsualName> = new Map(
  (Object.keys(new UsualHeaders()) as UsualName[]).flatMap((name) => [
    [name, name],
    [name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase()), name],
  ]),
);

/** The header that is written so, if it is a usual one. */
export function usualName(written: string): UsualName | undefined {
  return names.get(written) ?? names.get(written.toLowerCase());
}
