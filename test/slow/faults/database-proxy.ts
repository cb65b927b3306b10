import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/**
 * What becomes of a statement. Cut: the connection ends before the server receives it. Lose: the server has done it, and the
 * connection ends before its answer. Refuse: the server's error of that SQLSTATE. Otherwise it is forwarded.
 */
export type Fate = "forward" | "cut" | "lose" | { readonly refuse: string };

/** PostgreSQL behind connections that fail at a chosen statement. */
export interface DatabaseProxy {
  /** A URL through the proxy, for the database that `failOver` named last. */
  readonly url: string;
  /** Decides on every statement, by its text, before it is forwarded. */
  onStatement: ((text: string) => Fate | Promise<Fate>) | undefined;
  /** Has new connections use this database, and cuts the open ones. */
  failOver(database: string): void;
  /** Cuts every connection, and new ones at once. */
  down(): void;
  up(): void;
  close(): Promise<void>;
}

export async function startDatabaseProxy(target: string): Promise<DatabaseProxy> {
  const server = new URL(target);
  const links = new Set<Link>();
  let isDown = false;
  const cut = () => {
    for (const link of links) link.end();
  };
  const listening = createServer((inside) => {
    // It goes on listening: while nobody does, another program may take the port.
    if (isDown) return void inside.destroy();
    const link = new Link(inside, connect(Number(server.port), server.hostname), proxy);
    links.add(link);
    inside.on("close", () => links.delete(link));
  });
  await new Promise<void>((resolve, reject) => {
    listening.once("error", reject).listen(0, "127.0.0.1", resolve);
  });
  const url = new URL(target);
  url.port = `${(listening.address() as AddressInfo).port}`;
  const proxy: DatabaseProxy & LinkOptions & { database: string } = {
    url: url.href,
    database: server.pathname.slice(1),
    onStatement: undefined,
    failOver(database) {
      proxy.database = database;
      cut();
    },
    up() {
      isDown = false;
    },
    down() {
      isDown = true;
      cut();
    },
    async close() {
      cut();
      await new Promise((resolve) => listening.close(resolve));
    },
  };
  return proxy;
}

interface LinkOptions extends Pick<DatabaseProxy, "onStatement"> {
  readonly database: string;
}

/** One connection: its client's messages are gathered to statements, its server's are forwarded one by one. */
class Link {
  readonly #inside: Socket;
  readonly #outside: Socket;
  readonly #proxy: LinkOptions;
  #isStarted = false;
  #isLosing = false;
  #unread = Buffer.alloc(0);
  #unforwarded = Buffer.alloc(0);
  /** Messages of the statement that is being received. */
  #unit: Buffer[] = [];
  #turn: Promise<unknown> = Promise.resolve();

  constructor(inside: Socket, outside: Socket, proxy: LinkOptions) {
    this.#inside = inside;
    this.#outside = outside;
    this.#proxy = proxy;
    inside.on("data", (chunk) => this.#receive(chunk));
    outside.on("data", (chunk) => this.#answer(chunk));
    for (const socket of [inside, outside]) {
      socket.on("error", () => {});
      socket.on("close", () => this.end());
    }
  }

  end(): void {
    this.#inside.destroy();
    this.#outside.destroy();
  }

  #receive(chunk: Buffer): void {
    this.#unread = Buffer.concat([this.#unread, chunk]);
    if (!this.#isStarted) {
      if (this.#unread.length < 4 || this.#unread.length < this.#unread.readUInt32BE(0)) return;
      const length = this.#unread.readUInt32BE(0);
      this.#isStarted = true;
      this.#outside.write(startUpFor(this.#unread.subarray(0, length), this.#proxy.database));
      this.#unread = this.#unread.subarray(length);
    }
    for (let message = first(this.#unread); message !== undefined; message = first(this.#unread)) {
      this.#unread = this.#unread.subarray(message.length);
      this.#unit.push(message);
      if (!"QSXp".includes(typeOf(message))) continue;
      const unit = this.#unit;
      this.#unit = [];
      this.#turn = this.#turn.then(() => this.#decide(unit));
    }
  }

  async #decide(unit: readonly Buffer[]): Promise<void> {
    const text = unit.map(statementOf).find((one) => one !== undefined);
    const fate = text === undefined ? "forward" : ((await this.#proxy.onStatement?.(text)) ?? "forward");
    if (fate === "cut") return this.end();
    if (typeof fate === "object") return void this.#inside.write(refusal(fate.refuse));
    this.#isLosing = fate === "lose";
    this.#outside.write(Buffer.concat(unit));
  }

  #answer(chunk: Buffer): void {
    this.#unforwarded = Buffer.concat([this.#unforwarded, chunk]);
    for (let message = first(this.#unforwarded); message !== undefined; message = first(this.#unforwarded)) {
      this.#unforwarded = this.#unforwarded.subarray(message.length);
      if (!this.#isLosing) this.#inside.write(message);
      else if (typeOf(message) === "Z") this.end();
    }
  }
}

const typeOf = (message: Buffer): string => String.fromCharCode(message[0]!);

/** The first whole message of these bytes. */
function first(bytes: Buffer): Buffer | undefined {
  if (bytes.length < 5) return undefined;
  const length = 1 + bytes.readUInt32BE(1);
  return bytes.length < length ? undefined : bytes.subarray(0, length);
}

/** The SQL of a simple query or of a statement to be parsed; undefined in other messages. */
function statementOf(message: Buffer): string | undefined {
  const texts = message.subarray(5).toString("utf8").split("\0");
  if (typeOf(message) === "Q") return texts[0];
  return typeOf(message) === "P" ? texts[1] : undefined;
}

/** The start-up message with another database. */
function startUpFor(message: Buffer, database: string): Buffer {
  const pairs = message.subarray(8).toString("utf8").split("\0");
  const at = pairs.indexOf("database");
  if (at !== -1) pairs[at + 1] = database;
  const body = Buffer.from(pairs.join("\0"), "utf8");
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + body.length, 0);
  message.copy(head, 4, 4, 8);
  return Buffer.concat([head, body]);
}

/** An error about the statement, after which the connection is ready for another. */
function refusal(code: string): Buffer {
  const fields = Buffer.from(`SERROR\0VERROR\0C${code}\0Mrefused by the test\0\0`, "utf8");
  return Buffer.concat([framed("E", fields), framed("Z", Buffer.from("I"))]);
}

function framed(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, 0, "latin1");
  head.writeUInt32BE(4 + body.length, 1);
  return Buffer.concat([head, body]);
}
