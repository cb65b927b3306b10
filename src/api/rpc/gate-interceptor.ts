import { Code, ConnectError, type Interceptor, type StreamRequest } from "@connectrpc/connect";
import { TradewireError } from "../../errors/tradewire-error.ts";
import { accessOf } from "../call/access.ts";
import { callStateIn, forEachHeader, responseHeaders } from "../call/call-state.ts";
import { refusalOfCall } from "../call/failure.ts";
import type { Gate, GatedCall } from "../call/gate.ts";
import type { StreamPlaces } from "../call/stream-places.ts";
import { checkRequest } from "../call/validation/validation.ts";
import { networkOf } from "../http/network-of.ts";

/**
 * Puts the gate around the calls that the RPC library serves and translates their errors. Streams that need no key (health,
 * reflection) last as long as the client likes, so they are bounded by address.
 */
export function createGateInterceptor(gate: Gate, openStreams: StreamPlaces): Interceptor {
  return (next) => async (request) => {
    const state = callStateIn(request.contextValues);
    const call: GatedCall = {
      method: request.method,
      state,
      headerOf: (name) => request.header.get(name) ?? undefined,
      message: request.stream ? undefined : request.message,
    };
    const fail = (thrown: unknown): ConnectError => {
      // A stream whose client disconnected has not failed. What is the protocol's own says itself what happened.
      const isGone = request.stream && request.signal.aborted && !(thrown instanceof ConnectError);
      const other = isGone ? new ConnectError("the client disconnected", Code.Canceled) : thrown;
      const error = lateness(request.signal) ?? other;
      gate.leave(call, error);
      return toWireError(error, call);
    };
    try {
      await gate.enter(call);
      const response = await next(
        request.stream ? { ...request, message: checked(request, () => gate.receive(call)) } : request,
      );
      if (!response.stream) gate.leave(call);
      forEachHeader(responseHeaders(state), (name, value) => response.header.set(name, value));
      if (!response.stream) return response;
      const messages = accessOf(request.method).needsKey
        ? response.message
        : counted(response.message, openStreams, networkOf(state.peer));
      return { ...response, message: watched(messages, request.signal, () => gate.leave(call), fail) };
    } catch (error) {
      throw fail(error);
    }
  };
}

/** Validates each message. @param receive counts it */
async function* checked(request: StreamRequest, receive: () => void): StreamRequest["message"] {
  for await (const message of readable(request)) {
    receive();
    checkRequest(request.method.input, message);
    yield message;
  }
}

/** How the RPC library words that it cannot read a message: in the binary form as a failure of its own, in JSON with the reason. */
const UNREADABLE = /^(?:parse binary: .*|cannot decode message \S+ from JSON(: .*))$/s;

/** The messages of a stream. @throws TradewireError VALIDATION_ERROR if one cannot be read, as for calls of one message */
async function* readable({ message, method, signal }: StreamRequest): StreamRequest["message"] {
  try {
    yield* untilAborted(message, signal);
  } catch (error) {
    // A refusal of ours, as the library hands it on, has its words already.
    if (!(error instanceof ConnectError) || error.cause instanceof TradewireError) throw error;
    const unread = UNREADABLE.exec(error.rawMessage);
    if (unread === null) throw error;
    const why = unread[1] ?? ".";
    throw new TradewireError("VALIDATION_ERROR", `The request is not a valid ${method.input.typeName} message${why}`);
  }
}

/** Ends with the signal: a client may keep its side open and send nothing more. @throws the signal's reason */
async function* untilAborted<T>(messages: AsyncIterable<T>, signal: AbortSignal): AsyncIterable<T> {
  const iterator = messages[Symbol.asyncIterator]();
  for (;;) {
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort);
    try {
      signal.throwIfAborted();
      const { done, value } = await Promise.race([iterator.next(), aborted]);
      if (done === true) return;
      yield value;
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }
}

/** Holds a place while the stream lasts. */
async function* counted<T>(messages: AsyncIterable<T>, places: StreamPlaces, name: string): AsyncIterable<T> {
  places.take(name);
  try {
    yield* messages;
  } finally {
    places.free(name);
  }
}

/** The failure of a call that the deadline of its own client ended; undefined of any other. */
function lateness({ reason }: AbortSignal): TradewireError | undefined {
  if (!(reason instanceof ConnectError) || reason.code !== Code.DeadlineExceeded) return undefined;
  return new TradewireError("REQUEST_TIMEOUT", "The deadline set by the client passed before the end of the call.");
}

/** Ends the call with its stream: after the last message, on an error, at the deadline, or when the client disconnects. */
async function* watched<T>(
  messages: AsyncIterable<T>,
  signal: AbortSignal,
  leave: () => void,
  fail: (error: unknown) => ConnectError,
): AsyncIterable<T> {
  let failure: ConnectError | undefined;
  try {
    yield* messages;
    // Streams end quietly once their signal aborts, which would tell the client that there is nothing more to come.
    const late = lateness(signal);
    if (late !== undefined) throw late;
  } catch (error) {
    failure = fail(error);
    throw failure;
  } finally {
    if (failure === undefined) leave();
  }
}

function toWireError(error: unknown, call: GatedCall): ConnectError {
  const { error: refusal, failure } = refusalOfCall(call, error, call.state.requestId);
  if (failure === undefined) return refusal;
  forEachHeader(responseHeaders(call.state, failure), (name, value) => refusal.metadata.set(name, value));
  return refusal;
}
