const SIGNATURE_SIZE = 64;
export const VERSION_1 = 0x81;

/** Positions of the one signature and the message in a wire transaction; version 1 puts the signature last. */
export function layoutOf(wire: Uint8Array): { readonly signatureAt: number; readonly message: Uint8Array } {
  if (wire[0] === VERSION_1) {
    const signatureAt = wire.length - SIGNATURE_SIZE;
    return { signatureAt, message: wire.subarray(0, Math.max(0, signatureAt)) };
  }
  return { signatureAt: 1, message: wire.subarray(1 + SIGNATURE_SIZE) };
}

/** The wire transaction with the signature in its one slot. @throws TypeError unless it is 64 bytes */
export function withSignature(
  unsigned: Uint8Array,
  signature: Uint8Array,
  signatureAt = layoutOf(unsigned).signatureAt,
): Uint8Array {
  if (signature.length !== SIGNATURE_SIZE) throw new TypeError("a signature has 64 bytes");
  const signed = unsigned.slice();
  signed.set(signature, signatureAt);
  return signed;
}

/** The bytes of a wire transaction that a wallet signs. */
export function messageOf(wire: Uint8Array): Uint8Array {
  return layoutOf(wire).message;
}

/** The signature of a signed wire transaction: its id on the chain. */
export function signatureBytes(signed: Uint8Array): Uint8Array {
  const { signatureAt } = layoutOf(signed);
  return signed.subarray(signatureAt, signatureAt + SIGNATURE_SIZE);
}
