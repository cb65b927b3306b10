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
  host: string | undefined;
  connection: string | undefined;
  "content-type": string | undefined;
  "content-length": string | undefined;
  authorization: string | undefined;
  "user-agent": string | undefined;
  accept: string | undefined;
  "accept-encoding": string | undefined;
  "accept-language": string | undefined;
  "content-encoding": string | undefined;
  "connect-protocol-version": string | undefined;
  "connect-timeout-ms": string | undefined;
  "grpc-encoding": string | undefined;
  "grpc-timeout": string | undefined;
  traceparent: string | undefined;
  "sec-fetch-mode": string | undefined;

  /** @param like headers to begin with */
  constructor(like?: UsualHeaders) {
    this.host = like?.host;
    this.connection = like?.connection;
    this["content-type"] = like?.["content-type"];
    this["content-length"] = like?.["content-length"];
    this.authorization = like?.authorization;
    this["user-agent"] = like?.["user-agent"];
    this.accept = like?.accept;
    this["accept-encoding"] = like?.["accept-encoding"];
    this["accept-language"] = like?.["accept-language"];
    this["content-encoding"] = like?.["content-encoding"];
    this["connect-protocol-version"] = like?.["connect-protocol-version"];
    this["connect-timeout-ms"] = like?.["connect-timeout-ms"];
    this["grpc-encoding"] = like?.["grpc-encoding"];
    this["grpc-timeout"] = like?.["grpc-timeout"];
    this.traceparent = like?.traceparent;
    this["sec-fetch-mode"] = like?.["sec-fetch-mode"];
  }
}

// A header may have any name: none is one that objects have.
Object.setPrototypeOf(UsualHeaders.prototype, null);
Reflect.deleteProperty(UsualHeaders.prototype, "constructor");

const names = Object.keys(new UsualHeaders()) as UsualName[];
/** As most clients write them, by length: in lower case, or each word with a capital. */
const spellings = Array.from({ length: Math.max(...names.map(({ length }) => length)) + 1 }, (_, length) =>
  names
    .filter((name) => name.length === length)
    .flatMap((name) => [
      { written: name, name },
      { written: name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase()), name },
    ]),
);

/** The usual header whose name is written between two places of a head; undefined of any other. Mostly it makes no text of it. */
export function usualNameAt(head: string, from: number, to: number): UsualName | undefined {
  const ofLength = spellings[to - from];
  if (ofLength === undefined) return undefined;
  for (let at = 0; at < ofLength.length; at++) {
    const { written, name } = ofLength[at]!;
    if (head.startsWith(written, from)) return name;
  }
  const lower = head.slice(from, to).toLowerCase();
  return ofLength.find(({ name }) => name === lower)?.name;
}
