/** What one turn of the event loop may do of a kind of work, shared by all that do it. Renewed at each turn. */
export class TurnBudget {
  readonly #perTurn: number;
  #left: number;
  #renewal: NodeJS.Immediate | undefined;
  readonly #waiting = new Set<() => void>();

  constructor(perTurn: number) {
    this.#perTurn = perTurn;
    this.#left = perTurn;
  }

  /** True if this turn has none left: to be asked after spending, before going on. */
  get isSpent(): boolean {
    return this.#left <= 0;
  }

  /** Takes one, or as much as one piece of work is worth. Work that has begun may take more than is left. */
  spend(worth = 1): void {
    this.#left -= worth;
    this.#renewal ??= setImmediate(() => this.#renew());
  }

  /** Calls back at a renewal to come, once: one caller at each, in the order of the calls. Only while the budget is spent. */
  whenRenewed(goOn: () => void): void {
    this.#waiting.add(goOn);
  }

  /** No longer calls back. */
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
