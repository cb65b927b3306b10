import { Address } from "../../src/primitives/address.ts";
import { ShadowEngine } from "../../src/shadow/engine/shadow-engine.ts";
import type { CheckOrder, ShadowAnswer } from "../../src/shadow/protocol.ts";
import type { Account } from "../../src/solana/account.ts";
import { UPGRADEABLE_LOADER } from "../../src/solana/programs.ts";
import type { MintPair, Venue } from "../../src/venues/venue.ts";
import type { Svm } from "./svm.ts";

/** A market on a chain of a test, and the venue whose quotes are checked. */
interface CheckedOnSvm {
  readonly svm: Svm;
  readonly venue: Venue;
  readonly market: Address;
  readonly pair: MintPair;
  /** Varies the amounts. */
  readonly turn: number;
}

const MAX_ROUNDS = 12;
const engines = new WeakMap<Svm, Map<Venue, ShadowEngine>>();

/** Checks a market as the shadow process does: on the accounts and programs of the test's chain, in a runtime of its own. */
export function checkOnSvm({ svm, venue, market, pair, turn }: CheckedOnSvm): ShadowAnswer {
  const ofSvm = engines.get(svm) ?? new Map<Venue, ShadowEngine>();
  engines.set(svm, ofSvm);
  const engine =
    ofSvm.get(venue) ?? new ShadowEngine({ venues: [venue], cpuMs: () => 0, nowMs: () => 0, cpuPercent: 0 });
  ofSvm.set(venue, engine);
  const known = new Map<Address, Account | null>([[market, svm.get(market)]]);
  const programs = new Map<Address, bigint>();
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const answer = engine.perform(orderOf(svm, { venue, market, pair, turn }, known, programs));
    if (answer.kind !== "lacks") return answer;
    for (const address of answer.accounts.map((bytes) => Address.from(bytes))) known.set(address, svm.get(address));
    for (const bytes of answer.programs) {
      const id = Address.from(bytes);
      if (programs.has(id)) engine.perform({ kind: "program", id: bytes, slot: 1n, ...codeOf(svm, id) });
      programs.set(id, 1n);
    }
  }
  throw new Error("the check asks for more without end");
}

function orderOf(
  svm: Svm,
  { venue, market, pair, turn }: Pick<CheckedOnSvm, "venue" | "market" | "pair" | "turn">,
  known: ReadonlyMap<Address, Account | null>,
  programs: ReadonlyMap<Address, bigint>,
): CheckOrder {
  return {
    kind: "check",
    venue: venue.id,
    market: market.bytes,
    pair: [pair.a.bytes, pair.b.bytes],
    accounts: [...known.values()]
      .filter((account) => account !== null)
      .map((account) => ({ ...account, address: account.address.bytes, owner: account.owner.bytes })),
    missing: [...known].filter(([, account]) => account === null).map(([{ bytes }]) => bytes),
    programs: [...programs].map(([{ bytes }, slot]) => ({ id: bytes, slot })),
    clock: svm.clock(),
    rentLamportsPerByte: svm.rent(0) / 128n,
    turn,
    isRoutine: false,
  };
}

/** The code of a program of the test's chain. */
export function codeOf(svm: Svm, id: Address): { readonly isUpgradeable: boolean; readonly code: Uint8Array } {
  const { owner, data } = svm.get(id)!;
  if (owner !== UPGRADEABLE_LOADER) return { isUpgradeable: false, code: data };
  return { isUpgradeable: true, code: svm.get(Address.from(data, 4))!.data.subarray(45) };
}
