import type { DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { UnaryCall } from "./call.ts";
import type { Gate } from "./gate.ts";

/** The response of a call: a message, or its fields. */
export type Output = MessageInitShape<DescMethodUnary["output"]>;

/** Runs one call. Returns a promise only if the call has to wait. @throws what the gate or the implementation throws */
export type Invoker = (call: UnaryCall) => Output | Promise<Output>;

/** A unary method of a service. */
export type UnaryImplementation = (request: UnaryCall["message"], context: HandlerContext) => Output | Promise<Output>;

/** Runs the calls of one method through the gate to the implementation: the same two that the RPC library is given. */
export function createInvoker(implementation: UnaryImplementation, gate: Gate): Invoker {
  const implement = (call: UnaryCall) => implementation(call.message, call as unknown as HandlerContext);
  const invokeWaiting = async (call: UnaryCall, waiting: Promise<void> | undefined, answering?: Promise<Output>) => {
    try {
      await waiting;
      const output = await (answering ?? implement(call));
      gate.leave(call);
      return output;
    } catch (error) {
      gate.leave(call, error);
      throw error;
    }
  };
  return (call) => {
    let output: Output | Promise<Output>;
    try {
      const entering = gate.enter(call);
      if (entering !== undefined) return invokeWaiting(call, entering);
      output = implement(call);
    } catch (error) {
      gate.leave(call, error);
      throw error;
    }
    if (output instanceof Promise) return invokeWaiting(call, undefined, output);
    gate.leave(call);
    return output;
  };
}
