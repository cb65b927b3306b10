import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { requestsOn } from "../flow/request-count.ts";
import { closeAfter } from "./refuse-and-close.ts";

/** What Node's HTTP parser has; internal to Node, so it may be missing. */
interface Parser {
  readonly constructor: { readonly kOnExecute?: number };
  /** Parses what a stream has read. Returns how many bytes it took. */
  execute?(read: Buffer): number | Error;
  /** A copy of what is being parsed. */
  getCurrentBuffer?(): Buffer;
  /** By its number, what is called with the bytes taken of a read that the parser made by itself. */
  [callback: number]: ((taken: number | Error) => void) | null;
}

interface Offer {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** By connection, what takes each of its offers. */
const watched = new WeakMap<Socket, (offer: Offer) => void>();
const HEAD_END = "\r\n\r\n";
const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = 0x0a;

/**
 * Lets a request that offers another protocol be served in this one, and its connection live on: some clients offer HTTP/2 with each
 * request. Node drops what follows such a request in the same read, and would take the rest for the beginning of a request. Then the
 * connection closes after the response, and nothing behind the request is served.
 *
 * Called once the head is parsed, before the request is counted.
 */
export function takeOffer(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request;
  const take = watched.get(socket);
  if (take !== undefined) {
    take({ request, response });
    return;
  }
  const { parser } = socket as { readonly parser?: Parser | null };
  const read = parser?.getCurrentBuffer?.();
  const isAlone = read !== undefined && isLastIn(read, request);
  if (parser == null || !isAlone || !watch(socket, parser, { request, response })) closeAfter(socket, response);
}

/** True if the read in which the head of a request ended holds nothing behind the request. False if that cannot be told. */
function isLastIn(read: Buffer, { headers, socket }: IncomingMessage): boolean {
  // The empty line behind the head may have begun in the read before.
  if (read[0] === CARRIAGE_RETURN || read[0] === LINE_FEED) return false;
  const behind = read.length - read.indexOf(HEAD_END) - HEAD_END.length;
  if (behind === 0) return true;
  // On later requests, the read may begin with the end of another one.
  const isFirst = requestsOn(socket) === 0;
  return isFirst && headers["transfer-encoding"] === undefined && behind <= Number(headers["content-length"] ?? 0);
}

/** Watches each read of the connection from the next one on. Returns false if the parser cannot be watched. */
function watch(socket: Socket, parser: Parser, first: Offer): boolean {
  const at = parser.constructor.kOnExecute;
  const { execute } = parser;
  if (at === undefined || execute === undefined) return false;
  let offer: Offer | undefined = first;
  const check = (taken: number | Error, length: number) => {
    if (offer?.request.complete !== true) return;
    if (typeof taken === "number" && taken < length) closeBehind(socket, offer.response);
    offer = undefined;
  };
  const own = parser[at];
  const onExecute = (taken: number | Error) => {
    const length = offer === undefined ? 0 : (parser.getCurrentBuffer?.().length ?? 0);
    own?.(taken);
    check(taken, length);
  };
  if (own != null) parser[at] = onExecute;
  parser.execute = (read) => {
    const taken = execute.call(parser, read);
    check(taken, read.length);
    return taken;
  };
  // Parsers are used again. Node has taken its callback back by then.
  socket.once("close", () => {
    offer = undefined;
    delete parser.execute;
    if (parser[at] === onExecute) parser[at] = own ?? null;
  });
  watched.set(socket, (next) => {
    offer = next;
  });
  return true;
}

/** Closes a connection after a response that may have said that it stays open. */
function closeBehind(socket: Socket, response: ServerResponse): void {
  closeAfter(socket, response);
  if (response.writableFinished) socket.destroySoon();
  else response.once("finish", () => socket.destroySoon());
}
