import { parentPort, workerData } from "node:worker_threads";
import { Address } from "../primitives/address.ts";
import { Chain } from "./chain/chain.ts";
import type { GenesisAccount } from "./chain/genesis.ts";
import { HeldAnswers } from "./held-answers.ts";
import { listenRpc } from "./rpc/rpc-server.ts";
import type { PlainAccount, SandboxCommand, SandboxReply, SandboxWorkerData } from "./sandbox-protocol.ts";
import { type SlotTimer, startSlotTimer } from "./slot-timer.ts";

/** The thread the embedded chain lives in: chain, timer and servers, steered by messages. */
const port = parentPort!;
/** Answers wait for the end of slots that are no longer than this: callers give up sooner than slow slots end. Milliseconds. */
const LONGEST_HELD_MS = 1_000;
const settings = workerData as SandboxWorkerData;

const chain = new Chain({
  ...settings.chain,
  now: Date.now,
  genesis: {
    programs: settings.programs.map(({ id, bytes }) => ({ id: Address.from(id), bytes })),
    accounts: settings.accounts.map(readAccount),
  },
});
let slotMs = settings.slotMs;
let timer: SlotTimer | undefined;
const held = new HeldAnswers(() => {
  if (timer === undefined || slotMs > LONGEST_HELD_MS) sealHeld();
});
const node = {
  chain,
  identity: chain.faucetAddress,
  drops: false,
  held,
  get slotMs() {
    return timer === undefined ? undefined : slotMs;
  },
};
const server = await listenRpc(node, settings);
/** Slots that are to stay without a block, and those of them that have passed since the last block. */
let absent = 0;
let skipped = 0;
resume();
send({ id: 0, result: { port: server.port } });

port.on("message", (command: SandboxCommand) => {
  Promise.resolve()
    .then(() => perform(command))
    .then(
      (result) => send({ id: command.id, result }),
      (error: unknown) => send({ id: command.id, error: String(error) }),
    )
    // With its port closed and its servers down, nothing keeps the thread alive.
    .finally(() => command.kind === "close" && port.close());
});

async function perform(command: SandboxCommand): Promise<unknown> {
  switch (command.kind) {
    case "pause":
      return pause();
    case "resume":
      return resume();
    case "advanceSlots":
      for (let i = 0; i < command.count; i++) passSlot();
      return chain.ledger.tip.slot;
    case "skipSlots":
      absent += command.count;
      return;
    case "setDrops":
      node.drops = command.drops;
      return;
    case "setLogLimit":
      return chain.bank.setLogLimit(command.bytes);
    case "fork":
      return chain.fork(command.depth);
    case "setDelays":
      return chain.ledger.setDelays(command);
    case "setSlotMs":
      slotMs = command.slotMs;
      return timer?.setSlotMs(slotMs);
    case "setRent":
      return chain.bank.setRent(command.lamportsPerByte);
    case "warpClock":
      return chain.warpClock(command.seconds);
    case "setAccounts":
      return chain.setAccounts(command.accounts.map(readAccount));
    case "setProgram":
      return chain.setProgram(Address.from(command.program), command.code);
    case "close":
      pause();
      return server.close();
  }
}

function pause(): void {
  timer?.stop();
  timer = undefined;
  sealHeld();
}

/** Seals at once what an answer waits for: while time stands still, or slots are long. */
function sealHeld(): void {
  if (held.isEmpty) return;
  chain.advanceSlot();
  held.release();
}

function resume(): void {
  timer ??= startSlotTimer(passSlot, slotMs);
}

/** A slot's time is over: the next one opens, unless its leader is absent. */
function passSlot(): void {
  if (absent > skipped) {
    skipped += 1;
    return;
  }
  chain.advanceSlot(skipped);
  absent -= skipped;
  skipped = 0;
  held.release();
}

function readAccount({ address, owner, lamports, data }: PlainAccount): GenesisAccount {
  return { address: Address.from(address), owner: Address.from(owner), lamports, data };
}

function send(reply: SandboxReply): void {
  port.postMessage(reply);
}
