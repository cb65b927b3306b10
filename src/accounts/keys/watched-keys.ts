/** Keys that something lasting depends on, such as an open stream, and the callbacks to run when one is revoked. */
export class WatchedKeys {
  readonly #listeners = new Map<string, Set<() => void>>();
  /** Watched since the last check: a revocation seen just before is not reported again. */
  readonly #unchecked = new Set<string>();

  /** Calls `revoked` once if the key is revoked. @returns a function that ends the watch */
  watch(keyId: string, revoked: () => void): () => void {
    const listeners = this.#listeners.get(keyId) ?? new Set();
    this.#listeners.set(keyId, listeners.add(revoked));
    this.#unchecked.add(keyId);
    return () => {
      listeners.delete(revoked);
      if (listeners.size === 0 && this.#listeners.get(keyId) === listeners) this.#drop(keyId);
    };
  }

  /** Ids of all watched keys. */
  ids(): Iterable<string> {
    return this.#listeners.keys();
  }

  /** Ids of keys that no check has covered yet. */
  unchecked(): readonly string[] {
    return [...this.#unchecked];
  }

  /** Notes that a check has covered these keys. */
  checked(keyIds: Iterable<string>): void {
    for (const keyId of keyIds) this.#unchecked.delete(keyId);
  }

  /** Notifies those who watch a revoked key. */
  revoked(keyId: string): void {
    const listeners = this.#listeners.get(keyId) ?? [];
    this.#drop(keyId);
    for (const revoked of listeners) revoked();
  }

  #drop(keyId: string): void {
    this.#listeners.delete(keyId);
    this.#unchecked.delete(keyId);
  }
}
