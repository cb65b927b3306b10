import bs58 from "bs58";
import { publicKeyOf, signMessage } from "../../src/client/signature/ed25519.ts";

const SEED = new Uint8Array(32).fill(1);
const PUBLIC_KEY = publicKeyOf(SEED);
const ZEROS_FIRST = Uint8Array.of(0, 0, ...new Uint8Array(30).fill(3));
const bytesOf = (length: number, value: number): Uint8Array => new Uint8Array(length).fill(value);

/** The secret key of the wallet that the transactions below are for. */
export const SECRET: string = bs58.encode(SEED);

/** What a wallet is made of, and its address; undefined if it has to be refused. */
const SECRETS: Readonly<Record<string, { readonly secret: string; readonly address: string | undefined }>> = {
  "a seed": { secret: SECRET, address: bs58.encode(PUBLIC_KEY) },
  "a seed and its public key": { secret: bs58.encode([...SEED, ...PUBLIC_KEY]), address: bs58.encode(PUBLIC_KEY) },
  "a seed that begins with zeros": { secret: bs58.encode(ZEROS_FIRST), address: bs58.encode(publicKeyOf(ZEROS_FIRST)) },
  "a seed of zeros": { secret: "1".repeat(32), address: bs58.encode(publicKeyOf(bytesOf(32, 0))) },
  "a seed and the public key of another": {
    secret: bs58.encode([...SEED, ...publicKeyOf(bytesOf(32, 2))]),
    address: undefined,
  },
  ...Object.fromEntries(
    [0, 1, 31, 33, 63, 65, 128].map((length) => [
      `${length} bytes`,
      { secret: bs58.encode(bytesOf(length, 1)), address: undefined },
    ]),
  ),
  "a zero too many": { secret: "1".repeat(33), address: undefined },
  "a letter outside base58": { secret: `${SECRET.slice(0, -1)}0`, address: undefined },
  "a letter outside ASCII": { secret: `${SECRET.slice(0, -1)}é`, address: undefined },
};

/** A message with one instruction of a program to the first account. */
const messageOf = ({
  version = [0x80],
  header = [1, 0, 1],
  keys = [PUBLIC_KEY, bytesOf(32, 4)],
}: {
  readonly version?: readonly number[];
  readonly header?: readonly number[];
  readonly keys?: readonly Uint8Array[];
} = {}): number[] => {
  const lookups = version.length === 0 ? [] : [0];
  const instruction = [keys.length - 1, 1, 0, 1, 7];
  return [
    ...version,
    ...header,
    keys.length,
    ...keys.flatMap((key) => [...key]),
    ...bytesOf(32, 3),
    1,
    ...instruction,
    ...lookups,
  ];
};
const EMPTY = bytesOf(64, 0);
const wireOf = (message: readonly number[], signatures: readonly Uint8Array[] = [EMPTY]): string =>
  Buffer.from([signatures.length, ...signatures.flatMap((one) => [...one]), ...message]).toString("base64");
/** Its own, with another count before the one slot. */
const wireCounted = (count: number): string => Buffer.from([count, ...EMPTY, ...messageOf()]).toString("base64");
const OTHER = bytesOf(32, 9);
const [BEFORE, AFTER] = [EMPTY.with(0, 1), EMPTY.with(63, 1)];
const WHOLE = Buffer.from(wireOf(messageOf()), "base64");

/** Unsigned transactions in base64, by what is asked of the wallet, and whether their form is one that it signs. */
const FORMS: Readonly<Record<string, { readonly wire: string; readonly isSigned: boolean }>> = {
  "its own, version 0": { wire: wireOf(messageOf()), isSigned: true },
  "its own, legacy": { wire: wireOf(messageOf({ version: [] })), isSigned: true },
  "a signature that begins with something": { wire: wireOf(messageOf(), [BEFORE]), isSigned: false },
  "a signature that ends with something": { wire: wireOf(messageOf(), [AFTER]), isSigned: false },
  "no slot for a signature": { wire: wireOf(messageOf(), []), isSigned: false },
  "two slots": { wire: wireOf(messageOf(), [EMPTY, EMPTY]), isSigned: false },
  "no slot by its count": { wire: wireCounted(0), isSigned: false },
  "two slots by their count": { wire: wireCounted(2), isSigned: false },
  "two signers": { wire: wireOf(messageOf({ header: [2, 0, 0] })), isSigned: false },
  "two signers, one of them read-only": { wire: wireOf(messageOf({ header: [2, 1, 0] })), isSigned: false },
  "two signers, two slots": { wire: wireOf(messageOf({ header: [2, 0, 0] }), [EMPTY, EMPTY]), isSigned: false },
  "no signer": { wire: wireOf(messageOf({ header: [0, 0, 1] })), isSigned: false },
  "a payer that is read-only": { wire: wireOf(messageOf({ header: [1, 1, 1] })), isSigned: false },
  "another payer": { wire: wireOf(messageOf({ keys: [OTHER, PUBLIC_KEY, bytesOf(32, 4)] })), isSigned: false },
  "another payer, legacy": {
    wire: wireOf(messageOf({ version: [], keys: [OTHER, PUBLIC_KEY, bytesOf(32, 4)] })),
    isSigned: false,
  },
  "a payer that ends otherwise": {
    wire: wireOf(messageOf({ keys: [PUBLIC_KEY.with(31, 0), bytesOf(32, 4)] })),
    isSigned: false,
  },
  "a payer that begins otherwise": {
    wire: wireOf(messageOf({ keys: [PUBLIC_KEY.with(0, 0), bytesOf(32, 4)] })),
    isSigned: false,
  },
  "a message of version 1 behind its signature": { wire: wireOf(messageOf({ version: [0x81] })), isSigned: false },
  "a message of version 127": { wire: wireOf(messageOf({ version: [0xff] })), isSigned: false },
  "a message that ends within its payer": { wire: WHOLE.subarray(0, 100).toString("base64"), isSigned: false },
  "no message": { wire: WHOLE.subarray(0, 65).toString("base64"), isSigned: false },
  "half a signature": { wire: WHOLE.subarray(0, 40).toString("base64"), isSigned: false },
  nothing: { wire: "", isSigned: false },
  "no base64": { wire: `${wireOf(messageOf())}!`, isSigned: false },
};

const SIGNATURE = bytesOf(64, 0).map((_, index) => 255 - index);
const ID = bs58.encode(SIGNATURE);
const signed = (signature: Uint8Array) => wireOf(messageOf(), [signature]);
/** In the alphabet of URLs, with one of the two signs that are its own: 62 for 0xf8, 63 for 0xfc. */
const urlSafe = (byte: number) => {
  const signature = bytesOf(64, 0).with(2, byte);
  return {
    wire: Buffer.from(wireOf([7], [signature]), "base64").toString("base64url"),
    signature: bs58.encode(signature),
  };
};
const VERSION_1 = Buffer.from([0x81, ...messageOf({ version: [] }), ...SIGNATURE]);

/** Signed transactions in base64, and the signatures that are their ids; undefined for what is none. */
const SIGNATURES: Readonly<Record<string, { readonly wire: string; readonly signature: string | undefined }>> = {
  "version 0": { wire: signed(SIGNATURE), signature: ID },
  "the alphabet of URLs": { wire: Buffer.from(signed(SIGNATURE), "base64").toString("base64url"), signature: ID },
  "its one sign, a hyphen": urlSafe(0xf8),
  "its other sign, an underscore": urlSafe(0xfc),
  "no padding": { wire: signed(SIGNATURE).replace(/=+$/, ""), signature: ID },
  "a signature that begins with zeros": {
    wire: signed(SIGNATURE.with(0, 0).with(1, 0)),
    signature: bs58.encode(SIGNATURE.with(0, 0).with(1, 0)),
  },
  "version 1, whose signature is at its end": { wire: VERSION_1.toString("base64"), signature: ID },
  "two signatures": { wire: wireOf(messageOf(), [SIGNATURE, EMPTY]), signature: undefined },
  "no signature": { wire: wireOf(messageOf(), []), signature: undefined },
  "a signature of nothing": { wire: wireOf([], [SIGNATURE]), signature: undefined },
  "version 1 without a message": { wire: Buffer.from([0x81, ...SIGNATURE]).toString("base64"), signature: undefined },
  "a later version": { wire: Buffer.from([0x82, ...VERSION_1.subarray(1)]).toString("base64"), signature: undefined },
  nothing: { wire: "", signature: undefined },
  "no base64": { wire: `${signed(SIGNATURE)}!`, signature: undefined },
};

/** What a wallet or a client in another language is asked, and the one line that it answers with: of what it refuses, "refused". */
export const SIGNING: readonly {
  readonly kind: "key" | "sign" | "signature";
  readonly name: string;
  readonly text: string;
  readonly answer: string;
}[] = [
  ...Object.entries(SECRETS).map(([name, { secret, address }]) => ({
    kind: "key" as const,
    name,
    text: secret,
    answer: address,
  })),
  ...Object.entries(FORMS).map(([name, { wire, isSigned }]) => ({
    kind: "sign" as const,
    name,
    text: wire,
    answer: isSigned ? signedBy(SEED, wire) : undefined,
  })),
  ...Object.entries(SIGNATURES).map(([name, { wire, signature }]) => ({
    kind: "signature" as const,
    name,
    text: wire,
    answer: signature,
  })),
].map((one) => ({ ...one, answer: one.answer ?? "refused" }));

function signedBy(seed: Uint8Array, wire: string): string {
  const bytes = Buffer.from(wire, "base64");
  bytes.set(signMessage(Uint8Array.from(bytes.subarray(65)), seed), 1);
  return bytes.toString("base64");
}

/** The answers by name: of a client's lines, or as they must be. */
export function answersBy(lines?: string): Readonly<Record<string, string>> {
  const said = lines?.trimEnd().split("\n");
  return Object.fromEntries(
    SIGNING.map(({ kind, name, answer }, index) => [
      `${kind}: ${name}`,
      said === undefined ? answer : (said[index] ?? ""),
    ]),
  );
}
