import { ceilDiv } from "../../primitives/integer.ts";

/** Output of the curve x · y = k for `input`, rounded down. Base units; `reserveIn + input` must not be 0. */
export function constantProductOut(input: bigint, reserveIn: bigint, reserveOut: bigint): bigint {
  return (input * reserveOut) / (reserveIn + input);
}

/**
 * Input of the curve x · y = k for `output`, rounded up. Base units.
 *
 * @returns undefined if the reserve cannot give that much: the curve never gives its last unit
 */
export function constantProductIn(output: bigint, reserveIn: bigint, reserveOut: bigint): bigint | undefined {
  return output >= reserveOut ? undefined : ceilDiv(reserveIn * output, reserveOut - output);
}
