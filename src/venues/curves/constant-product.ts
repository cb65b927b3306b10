import { ceilDiv } from "../../primitives/integer.ts";

/** What the curve x · y = k gives for `input`, rounded down. Base units; `reserveIn + input` must not be 0. */
export function constantProductOut(input: bigint, reserveIn: bigint, reserveOut: bigint): bigint {
  return (input * reserveOut) / (reserveIn + input);
}

/**
 * What the curve x · y = k asks for `output`, rounded up. Base units.
 *
 * @returns undefined when the reserve cannot give that much: the curve never gives its last unit
 */
export function constantProductIn(output: bigint, reserveIn: bigint, reserveOut: bigint): bigint | undefined {
  return output >= reserveOut ? undefined : ceilDiv(reserveIn * output, reserveOut - output);
}
