import { expect, test } from "vitest";
import { concatBytes } from "../../src/primitives/bytes.ts";
import { setComputeUnitLimit } from "../../src/solana/compute-budget.ts";
import { findPda } from "../../src/solana/pda.ts";
import { ASSOCIATED_TOKEN_PROGRAM, TOKEN_2022_PROGRAM } from "../../src/solana/programs.ts";
import { decodeMint } from "../../src/solana/token/mint.ts";
import { createTokenAccount } from "../../src/solana/token/token-instructions.ts";
import { createAccountUnits } from "../../src/trade/build/parts/compute-units.ts";
import { Svm } from "../support/svm.ts";

/** Token-2022 extensions of a mint by number, and their sizes. */
const FEE = [1, 108] as const;
const CLOSE_AUTHORITY = [3, 32] as const;
const CONFIDENTIAL = [4, 65] as const;
const DELEGATE = [12, 32] as const;
const HOOK = [14, 64] as const;
const CONFIDENTIAL_FEE = [16, 129] as const;
const METADATA = [
  [18, 64],
  [19, 400],
] as const;
const GROUPS = [
  [20, 64],
  [21, 72],
  [22, 64],
  [23, 72],
] as const;
const PAUSABLE = [26, 33] as const;

const MINTS = [
  { name: "no extension", extensions: [] },
  { name: "metadata", extensions: METADATA },
  { name: "a transfer fee", extensions: [FEE] },
  { name: "a transfer hook that is not set", extensions: [HOOK, ...METADATA] },
  { name: "a pause switch", extensions: [PAUSABLE] },
  {
    name: "what regulated dollars carry",
    extensions: [CLOSE_AUTHORITY, DELEGATE, FEE, CONFIDENTIAL, CONFIDENTIAL_FEE, HOOK, ...METADATA],
  },
  {
    name: "nearly everything",
    extensions: [
      ...METADATA,
      ...GROUPS,
      CLOSE_AUTHORITY,
      DELEGATE,
      FEE,
      CONFIDENTIAL,
      CONFIDENTIAL_FEE,
      HOOK,
      PAUSABLE,
    ],
  },
];

test.each(MINTS)(
  "the account of a mint with $name is as large as stated, and costs no more to open",
  ({ extensions }) => {
    const svm = new Svm();
    const entries = extensions.map(([type, length]) => {
      const entry = new Uint8Array(4 + length);
      new DataView(entry.buffer).setUint16(0, type, true);
      new DataView(entry.buffer).setUint16(2, length, true);
      return entry;
    });
    const address = svm.newMint({ decimals: 6, program: TOKEN_2022_PROGRAM });
    const plain = svm.get(address)!;
    if (entries.length > 0) {
      const data = concatBytes(plain.data.subarray(0, 82), new Uint8Array(83), Uint8Array.of(1), ...entries);
      svm.setAccount({ address, owner: plain.owner, data });
    }
    const mint = decodeMint(svm.get(address)!);
    const wallet = svm.newWallet();
    const account = findPda([wallet.bytes, TOKEN_2022_PROGRAM.bytes, address.bytes], ASSOCIATED_TOKEN_PROGRAM);
    const made = svm.send(wallet, [
      setComputeUnitLimit(200_000),
      createTokenAccount(account.address, wallet, address, TOKEN_2022_PROGRAM),
    ]);
    expect(made.error).toBe("");
    expect(svm.get(account.address)!.data.length).toBe(mint.accountSize);
    expect(made.computeUnits - 150).toBeLessThanOrEqual(createAccountUnits(mint, account.bump));
  },
);
