import { connect, type Socket } from "node:net";

/**
 * Requests per second one server answers on keep-alive connections, each asking again as soon as it is answered. What a busy
 * server refuses does not count.
 */
export async function measureLoad(options: {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly connections: number;
  readonly durationMs: number;
}): Promise<{ readonly perSecond: number; readonly bytes: number }> {
  const head = Object.entries({
    host: "bench",
    "content-length": String(Buffer.byteLength(options.body)),
    ...options.headers,
  })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");
  const request = Buffer.from(`POST ${options.path} HTTP/1.1\r\n${head}\r\n${options.body}`);
  let answers = 0;
  let bytes = 0;
  let running = true;
  const sockets: Socket[] = [];
  const failure = Promise.withResolvers<never>();
  for (let index = 0; index < options.connections; index++) {
    const socket = connect(options.port, "127.0.0.1", () => socket.write(request));
    sockets.push(socket);
    let pending = Buffer.alloc(0);
    socket.on("error", failure.reject);
    socket.on("data", (chunk) => {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      const end = pending.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(pending.toString("latin1", 0, end))?.[1]);
      if (pending.length < end + 4 + length) return;
      const status = pending.toString("latin1", 0, 15);
      if (status.includes(" 200 ")) {
        bytes = length;
        answers++;
      } else if (!status.includes(" 503 ")) failure.reject(new Error(pending.toString()));
      pending = Buffer.alloc(0);
      if (running) socket.write(request);
    });
  }
  // A generator that sleeps between answers has to be woken by the server's writes, which the server would pay for. It spins.
  const spin = (): void => {
    if (running) setImmediate(spin);
  };
  spin();
  const measured = (async () => {
    await sleep(options.durationMs / 4);
    answers = 0;
    const start = performance.now();
    await sleep(options.durationMs);
    running = false;
    return { perSecond: (answers * 1000) / (performance.now() - start), bytes };
  })();
  try {
    return await Promise.race([measured, failure.promise]);
  } finally {
    running = false;
    for (const socket of sockets) socket.destroy();
  }
}

const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
