/** How much of one kind of work a turn of the event loop may do, shared by all who do it. Renewed at each turn. */
export class TurnBudget {
  readonly #perTurn: number;
  #left: number;
  #renewal: NodeJS.Immediate | undefined;
  readonly #waiting = new Set<() => void>();

  constructor(perTurn: number) {
    this.#perTurn = perTurn;
    this.#left = perTurn;
  }

  /** True if this turn has none left: ask after spending, before going on. */
  get isSpent(): boolean {
    return this.#left <= 0;
  }

  /** Spends one, or what a piece of work is worth. Work that has begun may overdraw the budget. */
  spend(worth = 1): void {
    this.#left -= worth;
    this.#renewal ??= setImmediate(() => this.#renew());
  }

  /** Calls back once, at a later renewal: one caller at each, in the order of the calls. Call it only while the budget is spent. */
  whenRenewed(goOn: () => void): void {
    this.#waiting.add(goOn);
  }

  /** Cancels `whenRenewed`. */
  forget(goOn: () => void): void {
    this.#waiting.delete(goOn);
  }

  #renew(): void {
    this.#renewal = undefined;
    this.#left = this.#perTurn;
    const [first] = this.#waiting;
    if (first === undefined) return;
    this.#waiting.delete(first);
    if (this.#waiting.size > 0) this.#renewal = setImmediate(() => this.#renew());
    first();
  }
}
