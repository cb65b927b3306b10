import { TradewireError } from "../../errors/tradewire-error.ts";
import { Address } from "../../primitives/address.ts";
import type { Account } from "../../solana/account.ts";
import { ASSOCIATED_TOKEN_PROGRAM, NATIVE_LOADER, SYSVAR_OWNER, UPGRADEABLE_LOADER } from "../../solana/programs.ts";
import { leanest, type Market, type Quote, type SwapLeg, type Venue } from "../../venues/venue.ts";
import type { CheckOrder, SentAccount, ShadowAnswer } from "../protocol.ts";
import { differenceBeyondEnd } from "./curve-end.ts";
import { executeSample, legOf, type SampleRun, type Subject } from "./execute-sample.ts";
import { chooseSamples, type Sample } from "./sample-sizes.ts";
import type { ShadowSvm } from "./shadow-svm.ts";
import { fundWallet, openWalletAccount, setWalletTokens } from "./synthetic-wallet.ts";

/** Differences reported of one market. */
const MAX_DIFFERENCES = 3;

/** A program that the runtime cannot load, with the reason as its message. */
export class UnloadableProgram extends Error {}

/** What a check runs on. */
export interface CheckGround {
  readonly venues: readonly Venue[];
  /** The runtime on which all these programs run, or those that it lacks. @throws UnloadableProgram */
  readonly svmWith: (programs: readonly Address[]) => ShadowSvm | readonly Address[];
}

/**
 * Checks one market: quotes trades on the accounts given, makes the instructions a build would make, executes them on the
 * deployed programs and compares amounts and lamports to the base unit. Whatever goes wrong is an answer, never an error.
 */
export function checkMarket(ground: CheckGround, order: CheckOrder): ShadowAnswer {
  try {
    return new Check(ground, order).run();
  } catch (error) {
    // Our own code fails on what the chain holds: a build would fail too.
    if (error instanceof TradewireError) return { kind: "unable", reason: error.message };
    if (error instanceof UnloadableProgram) return differing([error.message]);
    return differing([`our code fails: ${String(error)}`]);
  }
}

class Check {
  readonly #ground: CheckGround;
  readonly #order: CheckOrder;
  readonly #accounts: ReadonlyMap<Address, Account | null>;

  constructor(ground: CheckGround, order: CheckOrder) {
    this.#ground = ground;
    this.#order = order;
    this.#accounts = new Map([
      ...order.missing.map((address) => [Address.from(address), null] as const),
      ...order.accounts.map((sent) => [Address.from(sent.address), readSent(sent)] as const),
    ]);
  }

  run(): ShadowAnswer {
    const { venue: id, market: marketBytes, pair, clock, turn } = this.#order;
    const venue = this.#ground.venues.find((one) => one.id === id);
    const account = this.#accounts.get(Address.from(marketBytes));
    if (venue === undefined || account == null) return { kind: "unable", reason: "the market is not known" };
    const market = venue.decode(account, { a: Address.from(pair[0]), b: Address.from(pair[1]) });
    if (market === undefined) return { kind: "unable", reason: "the account is no longer a market" };
    const lacking = venue.needs(market, this.#accounts);
    if (lacking.length > 0) return lacks(lacking, []);
    const state = venue.read(market, this.#accounts);
    const base = this.#baseOf(market);
    if (!("put" in base)) return base;
    const svm = base;
    try {
      this.#fill(svm);
      for (const mint of market.mints) {
        const refusal = openWalletAccount(svm, mint);
        if (refusal !== undefined) return { kind: "unable", reason: refusal };
      }
      const subject: Subject = { venue, market, state, exists: (address) => svm.get(address) !== null };
      const samples = chooseSamples({ venue, market, state, clock }, turn);
      return this.#execute(svm, subject, samples);
    } finally {
      svm.clear();
    }
  }

  /** A runtime with the programs that every trade needs: for token accounts, and the venue's own. */
  #baseOf(market: Market): ShadowSvm | ShadowAnswer {
    const unread = market.mints.filter((mint) => !this.#accounts.has(mint));
    if (unread.length > 0) return lacks(unread, []);
    const tokenPrograms = market.mints.flatMap((mint) => this.#accounts.get(mint)?.owner ?? []);
    if (tokenPrograms.length < 2) return { kind: "unable", reason: "a mint of the market is gone" };
    return this.#svmOf([ASSOCIATED_TOKEN_PROGRAM, ...tokenPrograms]);
  }

  #svmOf(programs: readonly Address[]): ShadowSvm | ShadowAnswer {
    const svm = this.#ground.svmWith([...new Set(programs)]);
    return "put" in svm ? svm : lacks([], svm);
  }

  #fill(svm: ShadowSvm): void {
    const { clock, rentLamportsPerByte } = this.#order;
    svm.setClock(clock);
    svm.setRent(rentLamportsPerByte);
    fundWallet(svm);
    for (const account of this.#accounts.values()) if (account !== null && !isFixed(account)) svm.put(account);
  }

  #execute(svm: ShadowSvm, subject: Subject, samples: readonly Sample[]): ShadowAnswer {
    for (const { quote } of samples) setWalletTokens(svm, quote.inMint, quote.inAmount);
    const lean = inForm(samples, (quote) => leanest(subject.venue, subject.state, quote));
    const legs = [...samples, ...lean].map((sample) => legOf(svm, subject, sample));
    const named = namedBy(legs);
    const unknown = named.filter((address) => !this.#accounts.has(address) && !isOfRuntime(svm.get(address)));
    if (unknown.length > 0) return lacks(unknown, []);
    const programs = named.filter((address) => {
      const account = this.#accounts.get(address);
      return account?.executable === true && account.owner !== NATIVE_LOADER;
    });
    const lacking = this.#ground.svmWith(programs);
    if (!("put" in lacking)) return lacks([], lacking);
    const runs = samples.map((sample) => executeSample(svm, subject, sample));
    const ends = samples.flatMap((sample) => (sample.isLast && differenceBeyondEnd(svm, subject, sample)) || []);
    const leanRuns = lean.map((sample) => executeSample(svm, subject, sample));
    const isRefused = leanRuns.some(differs);
    const fewer = isRefused ? inForm(samples, (quote) => subject.venue.lean?.(subject.state, quote)) : [];
    const isOlderAlone = isRefused && !fewer.map((sample) => executeSample(svm, subject, sample)).some(differs);
    return answerOf(runs, ends, { runs: leanRuns, isOlderAlone }, programs);
  }
}

const differs = ({ difference }: SampleRun): boolean => difference !== undefined;

/** The first sample of each direction and mode in a leaner form, if it has it. */
function inForm(samples: readonly Sample[], leaner: (quote: Quote) => Quote | undefined): readonly Sample[] {
  const seen = new Set<string>();
  return samples.flatMap((sample) => {
    const { mode, inMint } = sample.ask;
    const quote = seen.has(`${mode} ${inMint}`) ? undefined : leaner(sample.quote);
    if (quote === undefined) return [];
    seen.add(`${mode} ${inMint}`);
    return [{ ...sample, quote }];
  });
}

function answerOf(
  runs: readonly SampleRun[],
  ends: readonly string[],
  { runs: leanRuns, isOlderAlone }: { readonly runs: readonly SampleRun[]; readonly isOlderAlone: boolean },
  programs: readonly Address[],
): ShadowAnswer {
  if (runs.length === 0) return { kind: "unable", reason: "the market makes no trade now" };
  const differences = [...runs.flatMap(({ difference }) => difference ?? []), ...ends].slice(0, MAX_DIFFERENCES);
  const done = [...runs, ...leanRuns.filter(({ difference }) => difference === undefined)];
  return {
    kind: "checked",
    samples: runs.length,
    differences,
    leanSamples: leanRuns.length,
    leanDifference: leanRuns.find(differs)?.difference,
    isOlderAlone,
    programs: programs.map(({ bytes }) => bytes),
    unitsRatio: Math.max(...done.map(({ units, bound }) => units / bound)),
    maxUnits: Math.max(...done.map(({ units }) => units)),
  };
}

function differing(differences: readonly string[]): ShadowAnswer {
  return {
    kind: "checked",
    samples: 0,
    differences,
    leanSamples: 0,
    leanDifference: undefined,
    isOlderAlone: false,
    programs: [],
    unitsRatio: 0,
    maxUnits: 0,
  };
}

function lacks(accounts: readonly Address[], programs: readonly Address[]): ShadowAnswer {
  return { kind: "lacks", accounts: accounts.map(({ bytes }) => bytes), programs: programs.map(({ bytes }) => bytes) };
}

/** Every account that the instructions name, programs included. */
function namedBy(legs: readonly SwapLeg[]): readonly Address[] {
  const instructions = legs.flatMap((leg) => leg.instructions);
  return [
    ...new Set(instructions.flatMap(({ program, accounts }) => [program, ...accounts.map(({ address }) => address)])),
  ];
}

/** Programs and their code are loaded, and the runtime keeps its own sysvars. */
function isFixed({ executable, owner }: Account): boolean {
  return executable || owner === SYSVAR_OWNER || owner === NATIVE_LOADER || owner === UPGRADEABLE_LOADER;
}

/** True of the wallet's accounts, sysvars and built-in programs; the programs that come with the runtime may be other builds. */
function isOfRuntime(account: Account | null): boolean {
  return account !== null && (!account.executable || account.owner === NATIVE_LOADER);
}

function readSent({ address, owner, lamports, data, executable, slot }: SentAccount): Account {
  return { address: Address.from(address), owner: Address.from(owner), lamports, data, executable, slot };
}
