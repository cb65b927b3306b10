import { hash, randomFillSync } from "node:crypto";
import { expect, it } from "vitest";
import type { Landing } from "../../../src/chain/port.ts";
import { TradewireError } from "../../../src/errors/tradewire-error.ts";
import { Address } from "../../../src/primitives/address.ts";
import { concatBytes } from "../../../src/primitives/bytes.ts";
import { createRandom } from "../../../src/primitives/random.ts";
import type { SealedTrade } from "../../../src/trade/build/token/sealed-trade.ts";
import { createTokenSealer, type SealingKey } from "../../../src/trade/build/token/submission-token.ts";
import { verifySignedBytes } from "../../../src/trade/submit/signed-bytes.ts";
import { createSubmitter } from "../../../src/trade/submit/submit-trade.ts";
import { createMemorySubmissions } from "../../support/memory-submissions.ts";
import { createTestWallet, type TestWallet } from "../../support/wallet.ts";
import { usedMs } from "./core-times.ts";
import { ms, percentile, report } from "./table.ts";

const random = createRandom(17);
const now = () => 1_795_000_000_000;

const outcomeOf = (work: () => unknown): string => {
  try {
    work();
    return "accepted";
  } catch (error) {
    return error instanceof TradewireError ? error.code : `crash: ${error}`;
  }
};

type Version = "legacy" | "v0" | "v1";

/** A signed transaction as its wallet would hand it in, and what was sealed of its build. */
function signedTransaction(wallet: TestWallet, version: Version, length = 155 + (random.u32() % 110)) {
  const message = random.bytes(length);
  message[0] = version === "legacy" ? 1 : version === "v0" ? 0x80 : 0x81;
  const signature = wallet.sign(message);
  const bytes = version === "v1" ? concatBytes(message, signature) : concatBytes(Uint8Array.of(1), signature, message);
  const sealed = { wallet: wallet.address, messageHash: hash("sha256", message, "buffer"), messageLength: length };
  return { sealed, bytes, message, signature };
}

function sealedTrade(): SealedTrade {
  const mint = Address.from(random.bytes(32));
  const outMint = Address.from(random.bytes(32));
  return {
    wallet: Address.from(random.bytes(32)),
    messageHash: random.bytes(32),
    messageLength: 400,
    lastValidBlockHeight: 300_000_000n,
    buildSlot: 1n,
    stateSlot: 1n,
    expiresAtMs: now() + 28_000,
    inMint: mint,
    outMint,
    inDecimals: 9,
    outDecimals: 6,
    costs: { baseFee: 5_000n, priorityFee: 1n, tip: 0n, rentPaid: 0n, rentReturned: 0n },
    route: [{ venue: "raydium_cpmm", market: mint, inMint: mint, outMint, inAmount: 1n, outAmount: 1n }],
    creates: [],
    closes: undefined,
    senders: ["rpc"],
  };
}

const ringKey = (id: string, seals = true): SealingKey => ({ id, secret: random.bytes(32), seals });

it("17: every bit flip of a signed transaction is refused", async () => {
  const versions: Version[] = ["legacy", "v0", "v1"];
  const sealer = createTokenSealer({ keys: [ringKey("k1")], genesisHash: "genesis", now, fillRandom: randomFillSync });
  // The real submit; what comes after its checks, broadcast first of all, is noticed whatever is done with it.
  let beyond = 0;
  const watched = new Proxy(
    {},
    {
      get: () => () => {
        beyond++;
        throw new Error("went on");
      },
    },
  );
  const submitter = createSubmitter({
    sealer,
    submissions: createMemorySubmissions(now),
    landing: watched as Landing,
    venues: [],
    now,
    monotonicMs: now,
    owner: "edge",
    warn: () => {},
    settings: { answerMs: 1_000, historyMs: 1_000, leaseMs: 1_000, claimTimeoutMs: 1_000 },
  });
  const durations = new Float64Array(1_000_000);
  /** By processor time. */
  const own = new Float64Array(1_000_000);
  const codes = new Map<string, number>();
  let cases = 0;
  for (let i = 0; i < 200; i++) {
    const wallet = createTestWallet();
    const { sealed, bytes } = signedTransaction(wallet, versions[i % 3]!);
    expect(outcomeOf(() => verifySignedBytes(sealed, bytes))).toBe("accepted");
    const principal = { accountId: "acc_1", keyId: "key", wallet: wallet.address };
    const submissionToken = sealer.seal({ ...sealedTrade(), ...sealed }, principal.accountId);
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      const [startMs, startUsedMs] = [performance.now(), usedMs()];
      const outcome = await submitter.submit({ principal, submissionToken, signedTransaction: bytes }).then(
        () => "accepted",
        (error: unknown) => (error instanceof TradewireError ? error.code : `crash: ${error}`),
      );
      own[cases] = usedMs() - startUsedMs;
      durations[cases++] = performance.now() - startMs;
      codes.set(outcome, (codes.get(outcome) ?? 0) + 1);
      bytes[bit >> 3]! ^= 1 << (bit & 7);
    }
  }
  await submitter.close();
  const accepted = codes.get("accepted") ?? 0;
  const crashed = [...codes.keys()].filter((code) => code.startsWith("crash"));
  const p99 = percentile(own.subarray(0, cases), 0.99);
  const byClockMs = percentile(durations.subarray(0, cases), 0.99);
  report(
    17,
    "A bit-flipped signed transaction is never broadcast",
    "every flip of 200 transactions, ≥ 350,000 cases: 0 broadcast, p99 ≤ 2 ms of processor time",
    `${cases} submits: ${accepted} accepted, ${beyond} went beyond the checks, p99 ${ms(p99)}, ${ms(byClockMs)} with what else the machine did; ${[...codes].map(([code, n]) => `${code} ${n}`).join(", ")}`,
    cases >= 350_000 && accepted === 0 && beyond === 0 && crashed.length === 0 && p99 <= 2,
  );
});

it("19: malformed signatures are refused with the right code", () => {
  const wallet = createTestWallet();
  const other = createTestWallet();
  const { sealed, bytes, message, signature } = signedTransaction(wallet, "legacy");
  const zero = new Uint8Array(64);
  const one = Uint8Array.of(1);
  const head = (count: number[], ...rest: Uint8Array[]) => concatBytes(Uint8Array.from(count), ...rest);
  const mismatch = "MESSAGE_MISMATCH";
  const table: [string, Uint8Array, string][] = [
    ["zero signature", concatBytes(one, zero, message), "NOT_FULLY_SIGNED"],
    ["foreign signature", concatBytes(one, other.sign(message), message), "INVALID_SIGNATURE"],
    ["signature of another message", concatBytes(one, wallet.sign(random.bytes(300)), message), "INVALID_SIGNATURE"],
    ["signature of the whole wire", concatBytes(one, wallet.sign(bytes), message), "INVALID_SIGNATURE"],
    ["signature of the hash", concatBytes(one, wallet.sign(sealed.messageHash), message), "INVALID_SIGNATURE"],
    [
      "R of another signature",
      concatBytes(one, other.sign(message).subarray(0, 32), signature.subarray(32), message),
      "INVALID_SIGNATURE",
    ],
    [
      "S of another signature",
      concatBytes(one, signature.subarray(0, 32), other.sign(message).subarray(32), message),
      "INVALID_SIGNATURE",
    ],
    ["S plus the group order", concatBytes(one, withOrderAdded(signature), message), "INVALID_SIGNATURE"],
    ["R zero", concatBytes(one, zero.subarray(32), signature.subarray(32), message), "INVALID_SIGNATURE"],
    ["all bytes 255", concatBytes(one, new Uint8Array(64).fill(255), message), "INVALID_SIGNATURE"],
    ["nothing", new Uint8Array(0), mismatch],
    ["one byte", one, mismatch],
    ["signature alone", concatBytes(one, signature), mismatch],
    ["message alone", message, mismatch],
    ["message and signature swapped", concatBytes(message, signature), mismatch],
    ["signature missing", concatBytes(Uint8Array.of(0), message), mismatch],
    ["signature twice", head([2], signature, signature, message), mismatch],
    ["second signature foreign", head([2], signature, other.sign(message), message), mismatch],
    ["second signature zero", head([2], signature, zero, message), mismatch],
    ["whole wire twice", concatBytes(bytes, bytes), mismatch],
    ["aliased count 81 00", head([0x81, 0x00], signature, message), mismatch],
    ["aliased count 81 80 00", head([0x81, 0x80, 0x00], signature, message), mismatch],
    ["aliased count 80 01", head([0x80, 0x01], signature, message), mismatch],
    ["re-encoded as v0", concatBytes(one, signature, Uint8Array.of(0x80), message), mismatch],
    ["re-encoded as v1", concatBytes(Uint8Array.of(0x81), message, signature), mismatch],
    ["re-encoded as v2", concatBytes(one, signature, Uint8Array.of(0x82), message), mismatch],
    ...[0, 2, 3, 4, 12, 64, 127, 128, 129, 200, 254, 255].map((count): [string, Uint8Array, string] => [
      `count ${count}`,
      concatBytes(Uint8Array.of(count), signature, message),
      mismatch,
    ]),
    ...[1, 2, 8, 32, 63, 64, 65, 128].map((extra): [string, Uint8Array, string] => [
      `${extra} trailing bytes`,
      concatBytes(bytes, random.bytes(extra)),
      mismatch,
    ]),
    ...[1, 2, 8, 32, 63, 64, 65, 128].map((less): [string, Uint8Array, string] => [
      `${less} bytes short`,
      bytes.subarray(0, bytes.length - less),
      mismatch,
    ]),
    ...[1, 2, 64, 65].map((extra): [string, Uint8Array, string] => [
      `${extra} leading bytes`,
      concatBytes(random.bytes(extra), bytes),
      mismatch,
    ]),
    ...[1, 16, 63].map((short): [string, Uint8Array, string] => [
      `signature ${short} bytes short`,
      concatBytes(one, signature.subarray(short), message),
      mismatch,
    ]),
  ];
  const wrong = table
    .map(([name, wire, expected]) => ({ name, expected, got: outcomeOf(() => verifySignedBytes(sealed, wire)) }))
    .filter(({ expected, got }) => got !== expected);
  report(
    19,
    "Extra, missing, zero, foreign signatures, aliases, trailing bytes, other versions",
    "table of 60 cases, 100 % the right code",
    `${table.length - wrong.length} of ${table.length} right ${wrong.map(({ name, got }) => `${name}: ${got}`).join("; ")}`,
    table.length >= 60 && wrong.length === 0,
  );
});

it("20: a transaction signed by another wallet is refused", () => {
  const wallets = Array.from({ length: 100 }, () => createTestWallet());
  let pairs = 0;
  let accepted = 0;
  for (const wallet of wallets) {
    const { sealed, message } = signedTransaction(wallet, "v0");
    for (const other of wallets) {
      if (other === wallet) continue;
      pairs++;
      const wire = concatBytes(Uint8Array.of(1), other.sign(message), message);
      if (outcomeOf(() => verifySignedBytes(sealed, wire)) !== "INVALID_SIGNATURE") accepted++;
    }
    for (let extra = 0; extra < 2; extra++) {
      pairs++;
      const wire = concatBytes(Uint8Array.of(1), createTestWallet().sign(message), message);
      if (outcomeOf(() => verifySignedBytes(sealed, wire)) !== "INVALID_SIGNATURE") accepted++;
    }
  }
  report(
    20,
    "A wrong wallet's signature is refused",
    "10,000 pairs: 0 accepted",
    `${pairs} pairs: ${accepted} accepted`,
    pairs >= 10_000 && accepted === 0,
  );
});

it("21: a token of another account is refused like garbage (by processor time)", () => {
  const sealer = createTokenSealer({ keys: [ringKey("k1")], genesisHash: "genesis", now, fillRandom: randomFillSync });
  const accounts = Array.from({ length: 101 }, (_, i) => `acc_${i}`);
  const tokens = accounts.map((accountId) => sealer.seal(sealedTrade(), accountId));
  const garbage = tokens.map((token) => {
    const body = Buffer.from(token.slice(token.lastIndexOf(".") + 1), "base64url");
    return `${token.slice(0, token.lastIndexOf(".") + 1)}${Buffer.concat([body.subarray(0, 14), random.bytes(body.length - 14)]).toString("base64url")}`;
  });
  const messageOf = (token: string, accountId: string) => {
    try {
      sealer.open(token, accountId);
      return "accepted";
    } catch (error) {
      return `${(error as TradewireError).code} ${(error as Error).message}`;
    }
  };
  const timed = (token: string, accountId: string) => {
    const startMs = usedMs();
    answers.add(messageOf(token, accountId));
    return usedMs() - startMs;
  };
  const answers = new Set<string>();
  let pairs = 0;
  let foreignMs = 0;
  let garbageMs = 0;
  for (let round = 0; round < 2; round++) {
    for (const [i, accountId] of accounts.entries()) {
      for (const [j, token] of tokens.entries()) {
        if (i === j) continue;
        // In either order by turns: what comes first finds the caches colder.
        const first = (i + j) % 2 === 0;
        const before = first ? timed(token, accountId) : 0;
        const garbled = timed(garbage[j]!, accountId);
        const foreign = first ? before : timed(token, accountId);
        // The first round warms the compiler up.
        if (round === 0) continue;
        pairs++;
        foreignMs += foreign;
        garbageMs += garbled;
      }
    }
  }
  const differenceUs = (Math.abs(foreignMs - garbageMs) / pairs) * 1_000;
  report(
    21,
    "Another account's token is refused exactly like garbage",
    "10,000 pairs: 0 accepted, one answer, mean difference of processor time ≤ 5 µs",
    `${pairs} pairs: ${answers.has("accepted") ? "some" : 0} accepted, ${answers.size} answer, ${differenceUs.toFixed(2)} µs of ${((foreignMs / pairs) * 1_000).toFixed(1)} µs`,
    pairs >= 10_000 && answers.size === 1 && !answers.has("accepted") && differenceUs <= 5,
  );
});

it("22: a token that was tampered with is refused", () => {
  const keys = [ringKey("k2"), ringKey("k1", false)];
  const sealer = createTokenSealer({ keys, genesisHash: "genesis", now, fillRandom: randomFillSync });
  const accountId = "acc_1";
  let cases = 0;
  let accepted = 0;
  const crashes = new Set<string>();
  const attempt = (token: string) => {
    cases++;
    const outcome = outcomeOf(() => sealer.open(token, accountId));
    if (outcome === "accepted") accepted++;
    else if (outcome !== "INVALID_SUBMISSION_TOKEN") crashes.add(outcome);
  };
  while (cases < 1_000_000) {
    const token = sealer.seal(sealedTrade(), accountId);
    const other = sealer.seal(sealedTrade(), accountId);
    const at = token.lastIndexOf(".") + 1;
    const bytes = Buffer.from(token.slice(at), "base64url");
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      attempt(token.slice(0, at) + bytes.toString("base64url"));
      bytes[bit >> 3]! ^= 1 << (bit & 7);
    }
    for (let cut = 0; cut < token.length; cut++) {
      attempt(token.slice(0, cut));
      attempt(token.slice(0, cut) + other.slice(cut, -1));
    }
    for (const head of ["tw2.k2.", "tw1.k1.", "tw1.k3.", "tw1..", "tw1.k2", "k2.", ""]) attempt(head + token.slice(at));
    for (let i = 0; i < 500; i++) {
      const spliced = Buffer.concat([bytes.subarray(0, random.u32() % bytes.length), random.bytes(random.u32() % 64)]);
      // One of some five million puts back what it cut off.
      if (spliced.equals(bytes)) continue;
      attempt(token.slice(0, at) + spliced.toString("base64url"));
    }
  }
  report(
    22,
    "A tampered token is refused",
    "1,000,000: 0 accepted, 0 crashes",
    `${cases}: ${accepted} accepted, ${crashes.size} crashes ${[...crashes].slice(0, 3)}`,
    accepted === 0 && crashes.size === 0,
  );
});

/** The same S plus the order of the group: equal in arithmetic, not what a strict verifier takes. */
function withOrderAdded(signature: Uint8Array): Uint8Array {
  const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;
  const s = BigInt(`0x${Buffer.from(signature.subarray(32)).reverse().toString("hex")}`) + ORDER;
  const out = signature.slice();
  out.set(Buffer.from(s.toString(16).padStart(64, "0"), "hex").reverse(), 32);
  return out;
}
