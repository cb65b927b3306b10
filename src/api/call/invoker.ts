import type { DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { inStep, type Work } from "../../primitives/turns/pass.ts";
import type { UnaryCall } from "./call.ts";
import type { Gate } from "./gate.ts";

/** The response of a call: a message, or its fields. */
export type Output = MessageInitShape<DescMethodUnary["output"]>;

/** Takes the outcome of a call, once; neither throws. */
export interface CallOutcome {
  answer(output: Output): void;
  /** @param error what the gate or the implementation has thrown */
  fail(error: unknown): void;
}

/** Runs one call to its outcome: at once if it neither waits nor is part of a pass. */
export type Invoker = (call: UnaryCall, outcome: CallOutcome) => void;

/** A unary method of a service. */
export type UnaryImplementation = (request: UnaryCall["message"], context: HandlerContext) => Output | Promise<Output>;

/** Runs the calls of one method through the gate to the implementation: the same two that the RPC library is given. */
export function createInvoker(implementation: UnaryImplementation, gate: Gate): Invoker {
  return (call, outcome) => new Invocation(implementation, gate, call, outcome).enter();
}

class Invocation implements Work<"serve" | "answer"> {
  readonly #implementation: UnaryImplementation;
  readonly #gate: Gate;
  readonly #call: UnaryCall;
  readonly #outcome: CallOutcome;
  #output: Output | undefined;

  constructor(implementation: UnaryImplementation, gate: Gate, call: UnaryCall, outcome: CallOutcome) {
    this.#implementation = implementation;
    this.#gate = gate;
    this.#call = call;
    this.#outcome = outcome;
    this.#output = undefined;
  }

  enter(): void {
    try {
      const entering = this.#gate.enter(this.#call);
      if (entering === undefined) inStep("serve", this);
      else this.#serveAfter(entering);
    } catch (error) {
      this.#fail(error);
    }
  }

  /**
   * A function of its own, like everything that awaits: a function with a closure allocates for it on every call, even if it never uses it.
   */
  #serveAfter(entering: Promise<void>): void {
    entering.then(
      () => inStep("serve", this),
      (error: unknown) => this.#fail(error),
    );
  }

  serve(): void {
    this.#call.state.stages.mark("wait");
    let output: Output | Promise<Output>;
    try {
      output = this.#implementation(this.#call.message, this.#call as unknown as HandlerContext);
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (output instanceof Promise) this.#answerAfter(output);
    else {
      this.#output = output;
      inStep("answer", this);
    }
  }

  #answerAfter(output: Promise<Output>): void {
    output.then(
      (waited) => this.#answer(waited),
      (error: unknown) => this.#fail(error),
    );
  }

  answer(): void {
    this.#answer(this.#output!);
  }

  #answer(output: Output): void {
    this.#gate.leave(this.#call);
    this.#outcome.answer(output);
  }

  #fail(error: unknown): void {
    this.#gate.leave(this.#call, error);
    this.#outcome.fail(error);
  }
}
