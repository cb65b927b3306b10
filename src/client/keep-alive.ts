/** Calls `ping` whenever nothing happened for `idleMs`, so that the connection is warm when the next trade comes. */
export interface KeepAlive {
  /** Something happened: the waiting begins anew. */
  touch(): void;
  close(): void;
}

/** A keep-alive that begins with its first touch. A ping that fails is no harm; the timer never keeps a process running. */
export function createKeepAlive(ping: () => Promise<void>, idleMs: number): KeepAlive {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let closed = false;
  const touch = () => {
    clearTimeout(timer);
    if (closed) return;
    timer = setTimeout(() => {
      ping().then(touch, touch);
    }, idleMs);
    if (typeof timer === "object" && "unref" in timer) timer.unref();
  };
  return {
    touch,
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
