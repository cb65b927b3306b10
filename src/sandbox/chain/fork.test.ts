import bs58 from "bs58";
import { describe, expect, it } from "vitest";
import { signTransfer } from "../../../test/support/transfer.ts";
import { createTestWallet } from "../../../test/support/wallet.ts";
import { decodeTransaction } from "../transaction/wire-transaction.ts";
import { Chain } from "./chain.ts";
import type { SlotAdvance } from "./listener.ts";

const SOL = 1_000_000_000n;

function chainWithWallet() {
  const chain = new Chain({ now: () => 1_795_000_000_000, confirmedAfterSlots: 5 });
  const wallet = createTestWallet();
  chain.airdrop({ to: wallet.address, lamports: 10n * SOL });
  for (let i = 0; i < 40; i++) chain.advanceSlot();
  const to = createTestWallet().address;
  const transfer = (lamports: bigint) =>
    signTransfer({
      from: wallet,
      to,
      lamports,
      blockhash: bs58.decode(chain.ledger.latestBlockhash("confirmed").blockhash),
    });
  return { chain, wallet, to, transfer };
}

describe("a fork of the embedded chain", () => {
  it("takes back what the dropped blocks did, and lets it land again", () => {
    const { chain, wallet, to, transfer } = chainWithWallet();
    const before = chain.account(wallet.address, "processed")!.lamports;
    const fees = chain.totalLamports;
    const { transaction, signature } = transfer(SOL);
    const landed = chain.send(decodeTransaction(transaction)).landed!;
    chain.advanceSlot();
    expect(chain.account(to, "processed")?.lamports).toBe(SOL);

    const shown = chain.ledger.slot("processed");
    expect(chain.fork(2)).toBe(2);
    expect(chain.ledger.slot("processed")).toBeGreaterThan(shown);
    expect(chain.account(to, "processed")).toBeNull();
    expect(chain.account(wallet.address, "processed")!.lamports).toBe(before);
    expect(chain.ledger.transaction(signature)).toBeUndefined();
    expect(chain.totalLamports).toBe(fees);

    const again = chain.send(decodeTransaction(transaction)).landed!;
    expect(again.slot).toBeGreaterThan(landed.slot);
    chain.advanceSlot();
    expect(chain.account(to, "processed")?.lamports).toBe(SOL);
    for (let i = 0; i < 5; i++) chain.advanceSlot();
    expect(chain.account(to, "confirmed")?.lamports).toBe(SOL);
  });

  it("skips the slots it dropped and never a confirmed block", () => {
    const { chain } = chainWithWallet();
    const { tip } = chain.ledger;
    const confirmed = chain.ledger.slot("confirmed");
    const advances: SlotAdvance[] = [];
    chain.listen({ advanced: (advance) => void advances.push(advance) });
    expect(chain.fork(1_000)).toBe(5);
    const first = chain.ledger.block("processed");
    expect(first).toMatchObject({ slot: tip.slot + 1, parentSlot: confirmed });
    expect(first.height).toBe(chain.ledger.block("confirmed").height + 1);
    expect(chain.ledger.tip).toMatchObject({ slot: tip.slot + 2, parentSlot: tip.slot + 1 });
    expect(chain.ledger.slot("confirmed")).toBe(confirmed);
    expect(advances[0]!.sealed).toBeUndefined();
    expect(advances[0]!.dropped.map(({ slot }) => slot)).toEqual([0, 1, 2, 3, 4].map((back) => tip.slot - back));
    for (let i = 0; i < 200; i++) chain.advanceSlot();
    expect(chain.ledger.slot("confirmed")).toBe(chain.ledger.tip.slot - 5);
  });

  it("does not know the blockhash of a dropped block any more", () => {
    const { chain } = chainWithWallet();
    chain.advanceSlot();
    const { blockhash } = chain.ledger.latestBlockhash("processed");
    expect(chain.ledger.isBlockhashValid(blockhash, "processed")).toBe(true);
    chain.fork(3);
    expect(chain.ledger.isBlockhashValid(blockhash, "processed")).toBe(false);
  });

  it("keeps confirmed blocks when confirmation becomes slower", () => {
    const { chain } = chainWithWallet();
    const confirmed = chain.ledger.slot("confirmed");
    chain.ledger.setDelays({ confirmedAfterSlots: 30, finalizedAfterSlots: 60 });
    for (let i = 0; i < 10; i++) chain.advanceSlot();
    expect(chain.ledger.slot("confirmed")).toBe(confirmed);
    for (let i = 0; i < 30; i++) chain.advanceSlot();
    expect(chain.ledger.slot("confirmed")).toBe(chain.ledger.tip.slot - 30);
    expect(chain.ledger.slot("finalized")).toBeLessThanOrEqual(chain.ledger.tip.slot - 60 + 40);
  });
});
