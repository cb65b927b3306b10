/** Calls `ping` after `idleMs` without activity, so that the connection is warm for the next trade. */
export interface KeepAlive {
  /** Restarts the idle timer. */
  touch(): void;
  close(): void;
}

/** A keep-alive that starts with the first touch. Failed pings are ignored; the timer never keeps a process running. */
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
