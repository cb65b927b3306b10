import type { Fault, World } from "./world.ts";

/** The signer takes this many blocks longer. What else happens does so in the same slots as without. */
export const slowSigner = (blocks: number): Fault => ({
  cause: "submitted_late",
  delay: blocks,
  apply: (world) => ({ ...world, left: world.left - blocks, submitted: world.submitted + blocks }),
});

/** The blockhash is this many blocks older at the build. */
export const oldBlockhash = (blocks: number): Fault => ({
  cause: "blockhash_old",
  apply: (world) => ({ ...world, left: world.left - blocks, leftAtBuild: world.leftAtBuild - blocks }),
});

/** The senders accept nothing before the slot. */
export const sendersDown = (until: number): Fault => ({
  cause: until === Number.POSITIVE_INFINITY ? "senders_refused" : "senders_late",
  apply: (world) => ({ ...world, accepts: (slot) => slot >= until && world.accepts(slot) }),
});

/** The senders accept, and pass nothing on before the slot. */
export const sendersSwallow = (until: number): Fault => ({
  cause: "unknown",
  apply: (world) => ({ ...world, passesOn: (slot) => slot >= until && world.passesOn(slot) }),
});

/** From one slot to before another nothing lands below the price: on the trade's accounts, or on the whole chain. */
export const highPrice = (from: number, to: number, price: bigint, everywhere: boolean): Fault => {
  const raised = (known: bigint, slot: number) => (slot >= from && slot < to && price > known ? price : known);
  return {
    cause: everywhere ? "priority_low" : "contention",
    apply: (world) => ({
      ...world,
      accountPrice: (slot) => raised(world.accountPrice(slot), slot),
      chainPrice: (slot) => (everywhere ? raised(world.chainPrice(slot), slot) : world.chainPrice(slot)),
    }),
  };
};

/** From one slot to before another only one slot of `every` has a block. */
export const absentLeaders = (from: number, to: number, every: number): Fault => ({
  cause: "slots_skipped",
  apply: (world) => ({
    ...world,
    hasBlock: (slot) => (slot < from || slot >= to || slot % every === 0) && world.hasBlock(slot),
  }),
});

/** The wallet holds no more than this from the slot on. */
export const emptyWallet = (from: number, lamports: bigint): Fault => ({
  cause: "insufficient_sol",
  apply: (world) => ({ ...world, holds: (slot) => (slot >= from ? lamports : world.holds(slot)) }),
});

/** The first block with the trade is dropped, and it can land again only some slots later. */
export const droppedBlock = (gap: number): Fault => ({
  cause: "dropped_block",
  apply: (world: World) => ({ ...world, droppedFor: gap }),
});
