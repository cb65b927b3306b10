import { hash } from "node:crypto";
import { vi } from "vitest";
import type { Submissions } from "../../src/accounts/port.ts";
import type { Landing, LandingOrder, LandingOutcome, TransactionRecord } from "../../src/chain/port.ts";
import { TradewireError } from "../../src/errors/tradewire-error.ts";
import { createRandom, type Random } from "../../src/primitives/random.ts";
import { createSubmitter, type Submitter } from "../../src/trade/submit/submit-trade.ts";
import type { SubmittedTrade } from "../../src/trade/trade.ts";
import { createMemorySubmissions } from "./memory-submissions.ts";
import { principal, recordOf, resigned, sealerOf, signedTrade, twinOf } from "./submit-world.ts";

/** How long a message lives, and how much later that is final. Milliseconds. */
const LIFE_MS = 8_000;
const FINAL_MS = 3_000;
/** For how long things happen, and how long everything has to end once all is well again. Milliseconds. */
const TROUBLE_MS = 12_000;
const PEACE_MS = 45_000;
const ANSWER_MS = 5_000;
/** A little more than an answer may take: the database may delay it by two writes. Milliseconds. */
const ANSWERED_MS = 12_000;
const LOOK_MS = 200;
const LEASE_MS = 5_000;
const HISTORY_MS = 86_400_000;
/** How long after that nodes have every status of a message in memory, and for how long a process is told nothing before it is cut off. Milliseconds. */
const REMEMBERED_MS = 6_000;
const WITNESS_MS = 3_000;
/** What statements of the database take. Milliseconds. */
const DELAYS_MS = [0, 0, 1, 1, 5, 20] as const;
const SLOW_DELAYS_MS = [...DELAYS_MS, 70, 300, 1_500] as const;
/** How far the wall clock is set, at a time. Milliseconds. */
const JUMPS_MS = [30_000, -30_000, 1_200_000, -1_200_000, 30 * 3_600_000, -30 * 3_600_000, 9 * 86_400_000] as const;

/** What becomes of what processes send: it lands, is lost, or another form lands that was sent elsewhere. */
const FATES = ["lands", "lands", "lost", "elsewhere", "elsewhere"] as const;
const HISTORIES = ["whole", "short", "unserved", "unserved"] as const;

type Form = ReturnType<typeof signedTrade>;

/** A message, in the forms that callers submit. */
interface DrawnTrade {
  readonly messageHash: string;
  readonly forms: readonly Form[];
  readonly twin: Form | undefined;
  /** True if each form is submitted to a process of its own. */
  readonly isApart: boolean;
  readonly fate: (typeof FATES)[number];
  /** When its blockhash has expired, by the clock that nobody sets. */
  readonly overMs: number;
}

/** What a caller was answered. */
interface DrawnAnswer {
  readonly trade: DrawnTrade;
  readonly form: Form;
  readonly owner: string;
  readonly atMs: number;
  /** True if the trade was looked up, not submitted. */
  readonly isLookUp: boolean;
  value?: SubmittedTrade;
  error?: unknown;
}

interface Landed {
  readonly signature: string;
  readonly slot: bigint;
  readonly atMs: number;
}

/** One process: its ports answer late, fail, and cease when it is killed. */
interface DrawnProcess {
  readonly owner: string;
  readonly submitter: Submitter;
  isDead: boolean;
  /** True while the database is away from it alone, takes no writes from it, or while its nodes answer nothing, since when (monotonic milliseconds). */
  isCutOff: boolean;
  isReadOnly: boolean;
  aloneSinceMs: number | undefined;
  /** Calls of ports left until it is killed, before or after the last is done. */
  callsLeft: number;
}

/** Submits to several processes, drawn from a seed, with what goes wrong in between. Needs a fresh fake clock. */
export class DrawnSubmits {
  readonly random: Random;
  readonly answers: DrawnAnswer[] = [];
  readonly log: string[] = [];
  readonly #sealer = sealerOf("07");
  readonly #database = createMemorySubmissions(Date.now);
  readonly #ledger = new Map<string, Landed>();
  readonly #processes: DrawnProcess[] = [];
  readonly #trades: DrawnTrade[] = [];
  readonly #history: (typeof HISTORIES)[number];
  readonly #isLosing: boolean;
  readonly #isFailing: boolean;
  readonly #isSlow: boolean;
  /** Signatures that a process has sent: it stores each before, unless the database takes too long. */
  readonly #sent = new Set<string>();
  readonly #isJumping: boolean;
  readonly #isKilling: boolean;
  #isTrouble = true;
  #slot = 1_000n;

  constructor(seed: number) {
    this.random = createRandom(seed);
    this.#history = this.random.pick(HISTORIES);
    this.#isFailing = this.random.chance(0.4);
    this.#isSlow = this.random.chance(0.4);
    this.#isLosing = this.#isFailing && this.random.chance(0.3);
    this.#isJumping = this.random.chance(0.3);
    this.#isKilling = this.random.chance(0.6);
  }

  /** Plays the schedule. @returns what is broken, in words */
  async play(): Promise<readonly string[]> {
    const { random } = this;
    for (let i = 0; i < 2 + Number(random.below(2n)); i++) this.#start();
    for (let i = 0; i < 1 + Number(random.below(3n)); i++) this.#draw();
    const until = performance.now() + TROUBLE_MS;
    while (performance.now() < until) {
      this.#act();
      await rest(Number(random.magnitude(1_500n)));
    }
    this.#isTrouble = false;
    this.#database.isDown = false;
    this.#start();
    await rest(PEACE_MS);
    const found: DrawnAnswer[] = [];
    for (const trade of this.#trades)
      for (const form of trade.forms)
        for (const process of this.#processes) if (!process.isDead) found.push(this.#lookUp(trade, form, process));
    await rest(ANSWERED_MS);
    const last: DrawnAnswer[] = [];
    for (const trade of this.#trades)
      for (const form of trade.forms)
        for (const process of this.#processes) if (!process.isDead) last.push(this.#submit(trade, form, process));
    await rest(ANSWERED_MS + ANSWER_MS);
    // Now every process knows every form that a caller has.
    const again: DrawnAnswer[] = [];
    for (const { trade, form, owner } of last)
      again.push(this.#submit(trade, form, this.#processes.find((one) => one.owner === owner)!));
    await rest(ANSWERED_MS + ANSWER_MS);
    // A look-up follows a signature that was stored after its message had ended; the next ones show its end.
    for (const ends of [[] as DrawnAnswer[], again]) {
      for (const { trade, form, owner } of last)
        ends.push(this.#lookUp(trade, form, this.#processes.find((one) => one.owner === owner)!));
      await rest(ANSWERED_MS);
    }
    const broken = [...this.#judge(again), ...this.#judgeFound(found)];
    await this.#end();
    return broken;
  }

  /** In words, what the schedule draws. */
  get what(): string {
    const traits = {
      failing: this.#isFailing,
      slow: this.#isSlow,
      losing: this.#isLosing,
      jumping: this.#isJumping,
      killing: this.#isKilling,
    };
    const named = Object.entries(traits).flatMap(([name, is]) => (is ? [name] : []));
    return `history ${this.#history}; ${named.join(", ")}`;
  }

  #draw(): void {
    const { random } = this;
    const first = signedTrade(this.#sealer);
    const forms = random.chance(0.6) ? [first, resigned(first)] : [first];
    this.#trades.push({
      messageHash: hash("sha256", first.signedTransaction.subarray(65), "hex"),
      forms,
      twin: random.chance(0.25) ? twinOf(first) : undefined,
      isApart: random.chance(0.4),
      fate: random.pick(FATES),
      overMs: performance.now() + LIFE_MS,
    });
  }

  /** One thing that happens. */
  #act(): void {
    const { random } = this;
    const trade = random.pick(this.#trades);
    if (this.#processes.every(({ isDead }) => isDead)) this.#start();
    const living = this.#processes.filter(({ isDead }) => !isDead);
    const drawn = Number(random.below(25n));
    if (drawn < 10) {
      const form = trade.twin !== undefined && random.chance(0.3) ? trade.twin : random.pick(trade.forms);
      const to = trade.isApart ? this.#processes[trade.forms.indexOf(form)] : undefined;
      if (to?.isDead !== true) this.#submit(trade, form, to ?? random.pick(living));
    } else if (drawn < 13 && this.#isKilling && living.length > 1) {
      const one = random.pick(living);
      one.callsLeft = Number(random.below(6n));
      this.#note(`${one.owner} dies at its call ${one.callsLeft}`);
      // One that makes no more calls dies too.
      setTimeout(() => this.#kill(one), 2_000);
    } else if (drawn === 13 && living.length > 1) {
      const one = random.pick(living);
      this.#note(`${one.owner} stops`);
      void one.submitter.close().then(() => this.#kill(one));
    } else if (drawn === 14 && living.length < 4) this.#start();
    else if (drawn === 15 && this.#isFailing) {
      this.#note("no database");
      this.#database.isDown = true;
      setTimeout(
        () => {
          this.#database.isDown = false;
          this.#note("database");
        },
        Number(random.below(4_000n)),
      );
    } else if ((drawn === 22 || drawn === 23) && this.#isFailing) {
      const one = random.pick(living);
      const what = random.pick(["isCutOff", "isReadOnly"] as const);
      this.#note(`${what} ${one.owner}`);
      one[what] = true;
      setTimeout(
        () => {
          one[what] = false;
          this.#note(`${what} no more ${one.owner}`);
        },
        Number(random.below(24_000n)),
      );
    } else if (drawn === 21) {
      const one = random.pick(living);
      this.#note(`no nodes at ${one.owner}`);
      one.aloneSinceMs ??= performance.now();
      setTimeout(
        () => {
          one.aloneSinceMs = undefined;
          this.#note(`nodes at ${one.owner}`);
        },
        Number(random.below(24_000n)),
      );
    } else if (drawn === 16 && this.#isLosing) {
      const restore = this.#database.copy();
      setTimeout(
        () => {
          this.#note("failover");
          restore();
        },
        Number(random.below(1_500n)),
      );
    } else if (drawn === 17 && this.#isJumping) {
      const byMs = random.pick(JUMPS_MS);
      this.#note(`clock ${byMs}`);
      vi.setSystemTime(Date.now() + byMs);
    } else if (drawn === 20 || drawn === 24) this.#lookUp(trade, random.pick(trade.forms), random.pick(living));
    else if (drawn >= 18 && trade.fate === "elsewhere") this.#execute(trade, random.pick(trade.forms).signature);
  }

  #note(what: string): void {
    this.log.push(`${Math.round(performance.now())} ${what}`);
  }

  #submit(trade: DrawnTrade, form: Form, process: DrawnProcess): DrawnAnswer {
    return this.#ask({ trade, form, owner: process.owner, atMs: performance.now(), isLookUp: false }, process, () =>
      process.submitter.submit(form),
    );
  }

  #lookUp(trade: DrawnTrade, form: Form, process: DrawnProcess): DrawnAnswer {
    return this.#ask({ trade, form, owner: process.owner, atMs: performance.now(), isLookUp: true }, process, () =>
      process.submitter.find(principal, form.signature),
    );
  }

  #ask(answer: DrawnAnswer, process: DrawnProcess, call: () => Promise<SubmittedTrade>): DrawnAnswer {
    const { trade, form, isLookUp } = answer;
    this.answers.push(answer);
    const name = `${this.#trades.indexOf(trade)}.${form === trade.twin ? "twin" : trade.forms.indexOf(form)}`;
    this.#note(`${isLookUp ? "look-up of" : "submit"} ${name} to ${process.owner}`);
    call().then(
      (value) => {
        if (process.isDead) return;
        answer.value = value;
        this.#note(`${name} at ${process.owner}: ${value.status} ${value.slot} ${value.signature.slice(0, 5)}`);
      },
      (error) => {
        if (process.isDead) return;
        answer.error = error;
        this.#note(`${name} at ${process.owner}: ${codeOf(error)}`);
      },
    );
    return answer;
  }

  #kill(process: DrawnProcess): void {
    if (!process.isDead) this.#note(`${process.owner} is dead`);
    process.isDead = true;
  }

  /** The chain executes a message once, while it lives. */
  #execute(trade: DrawnTrade, signature: string): void {
    if (performance.now() > trade.overMs || this.#ledger.has(trade.messageHash)) return;
    this.#slot += 1n;
    this.#note(`${this.#trades.indexOf(trade)} lands in ${this.#slot} under ${signature.slice(0, 5)}`);
    this.#ledger.set(trade.messageHash, { signature, slot: this.#slot, atMs: performance.now() });
  }

  #start(): void {
    const owner = "abcdefghijklmnopqrstuvwxyz"[this.#processes.length]!;
    this.#note(`${owner} starts`);
    const self: { process?: DrawnProcess } = {};
    const port =
      <P extends readonly unknown[], R>(call: (...parameters: P) => Promise<R>, name: string) =>
      (...parameters: P): Promise<R> =>
        this.#call(self.process!, () => call(...parameters), WRITES.has(name) ? "write" : "read");
    const database = this.#database;
    const submissions = Object.fromEntries(
      Object.entries(database).map(([name, member]) => {
        if (name === "nowMs" || typeof member !== "function" || name === "copy") return [name, member];
        return [name, port(member as (...parameters: readonly unknown[]) => Promise<unknown>, name)];
      }),
    ) as unknown as Submissions;
    const submitter = createSubmitter({
      sealer: this.#sealer,
      submissions,
      landing: this.#landingOf(self),
      venues: [],
      now: Date.now,
      monotonicMs: () => performance.now(),
      owner: `${owner} ${this.random.u32()}`,
      warn: (message) => this.#note(`${owner} warns: ${message}`),
      isCutOff: () => performance.now() - (self.process!.aloneSinceMs ?? Number.POSITIVE_INFINITY) > WITNESS_MS,
      settings: { answerMs: ANSWER_MS, historyMs: HISTORY_MS, leaseMs: LEASE_MS, claimTimeoutMs: 50 },
    });
    const process: DrawnProcess = {
      owner,
      submitter,
      isDead: false,
      isCutOff: false,
      isReadOnly: false,
      aloneSinceMs: undefined,
      callsLeft: Number.POSITIVE_INFINITY,
    };
    self.process = process;
    this.#processes.push(process);
  }

  /** A call of a port: it takes its time, may fail before or after it is done, and nothing comes back to a dead process. */
  async #call<R>(process: DrawnProcess, call: () => Promise<R>, kind: "write" | "read" | "chain"): Promise<R> {
    const { random } = this;
    const never = new Promise<never>(() => {});
    if (process.isDead) return never;
    const isLast = process.callsLeft-- <= 0;
    if (isLast && random.chance(0.5)) this.#kill(process);
    if (this.#isTrouble) await pause(this.#delayMs());
    if (process.isDead) return never;
    const isAway =
      kind === "chain"
        ? process.aloneSinceMs !== undefined
        : process.isCutOff || (kind === "write" && process.isReadOnly);
    const fails = isAway || (kind !== "chain" && this.#isTrouble && this.#isFailing && random.chance(0.08));
    const isDone = !isAway && random.chance(0.5);
    if (fails && !isDone) throw new TradewireError("UPSTREAM_ERROR", "The account database does not answer.");
    const result = await call();
    if (isLast) this.#kill(process);
    if (this.#isTrouble) await pause(this.#delayMs());
    if (process.isDead) return never;
    if (fails) throw new TradewireError("UPSTREAM_ERROR", "The account database does not answer.");
    return result;
  }

  #delayMs(): number {
    return this.random.pick(this.#isSlow ? SLOW_DELAYS_MS : DELAYS_MS);
  }

  #landingOf(self: { process?: DrawnProcess }): Landing {
    const { random } = this;
    const orders = new Map<string, (outcome: LandingOutcome) => void>();
    return {
      land: (order) =>
        new Promise((resolve) => {
          const end = (outcome: LandingOutcome) => {
            clearInterval(looking);
            clearTimeout(late);
            orders.delete(order.signature);
            if (!self.process!.isDead) resolve(outcome);
          };
          orders.set(order.signature, end);
          const late = setTimeout(() => end({ kind: "pending" }), Math.max(0, order.deadlineMs - Date.now()));
          const confirmedMs = Number(random.magnitude(2_000n));
          const witnesses = 1 + Number(random.below(3n));
          const looking = setInterval(() => {
            if (self.process!.isDead) return end({ kind: "pending" });
            if (self.process!.aloneSinceMs !== undefined) return;
            const outcome = this.#outcomeOf(order, confirmedMs, witnesses);
            if (outcome !== undefined) end(outcome);
          }, LOOK_MS);
          this.#send(order, self.process!);
        }),
      drop: (signature) => orders.get(signature)?.({ kind: "pending" }),
      fetchProgress: (signature) => this.#call(self.process!, async () => this.#progressOf(signature), "chain"),
      mayBeFinal: () => true,
      searchMessage: ({ messageHash, known }) =>
        this.#call(self.process!, async () => this.#find(Buffer.from(messageHash).toString("hex"), known), "chain"),
    };
  }

  #send({ transaction, signature, senders, onEvent }: LandingOrder, process: DrawnProcess): void {
    if (senders.length === 0 || process.isDead || process.aloneSinceMs !== undefined) return;
    const messageHash = hash("sha256", transaction.subarray(65), "hex");
    const trade = this.#trades.find((one) => one.messageHash === messageHash)!;
    if (performance.now() <= trade.overMs) this.#sent.add(signature);
    onEvent?.({ kind: "sent", sender: "rpc-1" });
    if (trade.fate !== "lands") return;
    setTimeout(() => this.#execute(trade, signature), Number(this.random.magnitude(3_000n)));
  }

  #landedUnder(signature: string): Landed | undefined {
    return [...this.#ledger.values()].find((landed) => landed.signature === signature);
  }

  #outcomeOf(
    { transaction, signature, onEvent }: LandingOrder,
    confirmedMs: number,
    witnesses: number,
  ): LandingOutcome | undefined {
    const landed = this.#landedUnder(signature);
    const atMs = performance.now();
    if (landed !== undefined) {
      if (atMs - landed.atMs < confirmedMs) {
        onEvent?.({ kind: "processed", slot: landed.slot });
        return undefined;
      }
      const record: TransactionRecord = recordOf(null, landed.slot);
      return { kind: "landed", record, witnesses };
    }
    const messageHash = hash("sha256", transaction.subarray(65), "hex");
    const { overMs } = this.#trades.find((one) => one.messageHash === messageHash)!;
    return atMs > overMs + FINAL_MS ? { kind: "expired" } : undefined;
  }

  #progressOf(signature: string) {
    const landed = this.#landedUnder(signature);
    if (landed === undefined) return undefined;
    const isFinal = performance.now() - landed.atMs > FINAL_MS;
    return { slot: landed.slot, commitment: isFinal ? ("finalized" as const) : ("confirmed" as const), error: null };
  }

  #find(messageHash: string, known: readonly string[]) {
    const trade = this.#trades.find((one) => one.messageHash === messageHash)!;
    const sinceMs = performance.now() - trade.overMs;
    const age = { sinceMs, isRemembered: sinceMs < FINAL_MS + REMEMBERED_MS };
    if (this.#history === "unserved") return { kind: "unserved" as const, ...age };
    const landed = this.#ledger.get(messageHash);
    if (landed !== undefined && known.includes(landed.signature)) throw new Error("it shows a followed signature");
    const form = trade.forms.find(({ signature }) => signature === landed?.signature);
    // One that is cut short shows neither the message nor what was before it.
    if (form !== undefined && this.#history === "whole")
      return { kind: "found" as const, transaction: form.signedTransaction, ...age };
    return { kind: "absent" as const, reachesBack: this.#history === "whole", witnesses: 2, ...age };
  }

  *#judge(last: readonly DrawnAnswer[]): Generator<string> {
    for (const [i, trade] of this.#trades.entries()) {
      const landed = this.#ledger.get(trade.messageHash);
      const own = this.answers.filter((answer) => answer.trade === trade);
      const isTaken = (answer: DrawnAnswer) => codeOf(answer.error) === "CONFLICT_ERROR";
      for (const { value, error, owner, atMs, isLookUp } of own) {
        const at = `trade ${i} at ${owner}, ${Math.round(atMs)}`;
        const code = codeOf(error);
        if (value?.status === "confirmed" || value?.status === "finalized") {
          if (landed === undefined) yield `${at}: reported ${value.status}, in no block`;
          else if (value.slot !== landed.slot) yield `${at}: reported slot ${value.slot}, it is in ${landed.slot}`;
          // A look-up shows the status of a trade whose amounts are yet to be read.
          if (value.result?.outAmount !== 42n && !(isLookUp && value.result === undefined))
            yield `${at}: amounts ${value.result?.outAmount}`;
        }
        const isSafe = error instanceof TradewireError && error.facts.safeToRebuild === true;
        if (isSafe && code !== "CONFLICT_ERROR" && landed !== undefined)
          yield `${at}: ${code}, safe to rebuild, in slot ${landed.slot}`;
        const isStored = landed !== undefined && this.#sent.has(landed.signature);
        if (isStored && !this.#isFailing && !this.#isSlow && ENDS.has(code))
          yield `${at}: ${code}, in slot ${landed.slot} under a signature that was sent`;
        if (error !== undefined && !KNOWN.has(code) && !(isLookUp && code === "TRADE_NOT_FOUND"))
          yield `${at}: ${String((error as Error).stack)}`;
      }
      // A signature that comes after its message has ended is not stored.
      const isUnknown = ({ isLookUp, error, form }: DrawnAnswer) =>
        isLookUp && codeOf(error) === "TRADE_NOT_FOUND" && form.signature !== landed?.signature;
      // Nor is one that no living process has followed, because another build has the message.
      const isUnfollowed = ({ signature }: { readonly signature: string }) =>
        own.every(
          ({ form, owner, isLookUp, value, error }) =>
            form.signature !== signature ||
            isLookUp ||
            (value === undefined && !ENDS.has(codeOf(error))) ||
            (trade.twin !== undefined && this.#processes.some((one) => one.owner === owner && one.isDead)),
        );
      const ends = last.filter((answer) => answer.trade === trade && !isTaken(answer) && !isUnknown(answer));
      if (landed !== undefined && isUnfollowed(landed)) continue;
      for (const { value, error, owner } of ends) {
        const isEnded = value === undefined ? ENDS.has(codeOf(error)) : value.result !== undefined;
        if (!isEnded) yield `trade ${i} at ${owner} has no end: ${value?.status ?? codeOf(error)}`;
        else if (landed !== undefined && value === undefined)
          yield `trade ${i} at ${owner}: ${codeOf(error)}, in slot ${landed.slot}`;
      }
      const told = ({ value, error }: DrawnAnswer) =>
        value === undefined ? codeOf(error) : `${value.slot} by ${value.witnesses}`;
      const differ = (some: readonly DrawnAnswer[]) => new Set(some.map(told)).size > 1;
      const isOfMessage = ({ value, error }: DrawnAnswer) =>
        value !== undefined || (error instanceof TradewireError && error.facts.safeToRebuild === true);
      // Of two signatures in no block, one may be too old to tell although the other has been shown to have expired.
      const groups = ends.some(isOfMessage) ? [ends] : Map.groupBy(ends, ({ form }) => form.signature).values();
      for (const group of groups) if (differ(group)) yield `trade ${i}: ${[...new Set(group.map(told))].join(" and ")}`;
      // Without a database, two processes cannot know of each other's builds.
      if (this.#isFailing) continue;
      // An end that was told stays, of each signature; only a landing takes the place of another.
      for (const form of trade.forms) {
        const ended = own.filter(
          (answer) => answer.form.signature === form.signature && ENDS.has(codeOf(answer.error)),
        );
        if (differ(ended)) yield `trade ${i}: ${[...new Set(ended.map(told))].join(" and ")} of one signature`;
        const isSafe = ended.some(({ error }) => error instanceof TradewireError && error.facts.safeToRebuild === true);
        if (isSafe && ended.some(({ error }) => (error as TradewireError).facts.safeToRebuild !== true))
          yield `trade ${i}: ${form.signature.slice(0, 5)} is safe to rebuild, and is not`;
      }
      const has = (form: Form, answers = own) =>
        answers.some(
          ({ form: { submissionToken }, isLookUp, value }) =>
            // A look-up finds whichever build has the message.
            submissionToken === form.submissionToken && !isLookUp && value?.result !== undefined,
        );
      const refused = own.filter(isTaken).map(({ form }) => form.submissionToken);
      for (const form of [...trade.forms, ...(trade.twin === undefined ? [] : [trade.twin])])
        if (has(form) && refused.includes(form.submissionToken)) yield `trade ${i}: a build was refused, and had it`;
      if (trade.twin !== undefined && has(trade.twin) && has(trade.forms[0]!)) yield `trade ${i}: two builds had it`;
    }
    const claimed = [...this.#database.rows.values()].filter(({ outcome }) => outcome === undefined);
    for (const { messageHash } of claimed)
      yield `trade ${this.#trades.findIndex((one) => one.messageHash === messageHash)} has no end on record`;
  }

  /** Once a living process has told that a trade landed, look-ups by any of its signatures say no other end. */
  *#judgeFound(found: readonly DrawnAnswer[]): Generator<string> {
    const living = new Set(this.#processes.flatMap(({ owner, isDead }) => (isDead ? [] : [owner])));
    for (const { trade, error, owner } of found) {
      const isTold = this.answers.some((answer) => {
        const { value, isLookUp } = answer;
        return (
          answer.trade === trade &&
          living.has(answer.owner) &&
          !isLookUp &&
          value?.result !== undefined &&
          answer.atMs < found[0]!.atMs
        );
      });
      if (isTold && ENDS.has(codeOf(error)))
        yield `trade ${this.#trades.indexOf(trade)} found at ${owner}: ${codeOf(error)}, told as landed before`;
    }
  }

  async #end(): Promise<void> {
    const living = this.#processes.filter(({ isDead }) => !isDead);
    const closing = Promise.all(living.map(({ submitter }) => submitter.close()));
    await rest(LEASE_MS);
    await closing;
  }
}

const WRITES = new Set(["claim", "renew", "takeOver", "finish", "replaceOutcome", "finalize", "addSignature"]);
const ENDS = new Set(["TX_EXPIRED", "OUTCOME_UNKNOWN"]);
const KNOWN = new Set([...ENDS, "UPSTREAM_ERROR", "CONFLICT_ERROR"]);

const codeOf = (error: unknown): string =>
  error instanceof TradewireError ? error.code : error === undefined ? "" : `${error}`;
const rest = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const pause = (ms: number) => (ms === 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms)));
