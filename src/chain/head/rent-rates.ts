import { ceilDiv } from "../../primitives/integer.ts";
import { NodeError } from "../rpc/node-error.ts";
import type { RpcEndpoint } from "../rpc/rpc-endpoint.ts";
import type { RpcPool } from "../rpc/rpc-pool.ts";
import { asInteger } from "../rpc/rpc-values.ts";
import { saidMost } from "../rpc/said-most.ts";

/** The two account sizes rent is read at; it is linear in the size. Bytes. */
const RENT_SIZES = [0, 10_000] as const;
/** More than any chain asks for the larger of them. Lamports. */
const MOST_RENT = 10_000_000_000n;

/** Rent of the two sizes. Lamports. */
interface Rents {
  readonly base: bigint;
  readonly far: bigint;
}

/**
 * Rent by account size, as most nodes report it: a trade fails if it gives an account less than its rent. The trusted node decides. If the
 * nodes are divided, or only one of several answers, the value that two agreed on stays. If none have agreed yet, the higher of divided
 * answers counts, since rent is never lost, and so does a single answer.
 */
export class RentRates {
  readonly #trusted: RpcEndpoint | undefined;
  #rents: Rents = { base: 0n, far: 0n };
  /** True if the trusted node said so, or if two nodes did and not more contradicted them; with one node, its word. */
  #isProven = false;
  /** By data bytes; only a few sizes occur. */
  readonly #byBytes = new Map<number, bigint>();

  /** @param trusted the node whose word decides a contradiction; undefined if the operator named none */
  constructor(trusted?: RpcEndpoint) {
    this.#trusted = trusted;
  }

  /** @throws TradewireError UPSTREAM_ERROR if no node answers */
  async refresh(pool: Pick<RpcPool, "endpoints" | "ask">): Promise<void> {
    const { endpoints } = pool;
    const settled = await Promise.allSettled(endpoints.map((endpoint) => readRents(pool, endpoint)));
    const said = settled.flatMap((one, i) =>
      one.status === "fulfilled" ? [{ rents: one.value, endpoint: endpoints[i]! }] : [],
    );
    if (said.length === 0) throw settled.find((one) => one.status === "rejected")?.reason;
    const first = saidMost(
      said.map(({ rents }) => rents),
      keyOf,
    );
    const byTrusted = said.find(({ endpoint }) => endpoint === this.#trusted)?.rents;
    const isAgreed = first.length === 1 && said.filter(({ rents }) => keyOf(rents) === keyOf(first[0]!)).length > 1;
    const isProven = byTrusted !== undefined || isAgreed || endpoints.length === 1;
    if (this.#isProven && !isProven) return;
    this.#rents = byTrusted ?? first.reduce((a, b) => (a.far >= b.far ? a : b));
    this.#isProven = isProven;
    this.#byBytes.clear();
  }

  /** Lamports an account of `space` data bytes must hold, rounded up. */
  exemption(space: number): bigint {
    let rent = this.#byBytes.get(space);
    if (rent === undefined) {
      const { base, far } = this.#rents;
      rent = base + ceilDiv((far - base) * BigInt(space), BigInt(RENT_SIZES[1]));
      this.#byBytes.set(space, rent);
    }
    return rent;
  }
}

const keyOf = ({ base, far }: Rents) => `${base} ${far}`;

/** The rates by one node's word. @throws NodeError */
async function readRents(pool: Pick<RpcPool, "ask">, endpoint: RpcEndpoint): Promise<Rents> {
  const [base, far] = (await Promise.all(
    RENT_SIZES.map(async (size) =>
      asInteger(await pool.ask(endpoint, "getMinimumBalanceForRentExemption", [size]), "rent"),
    ),
  )) as [bigint, bigint];
  if (far < base || far > MOST_RENT)
    throw new NodeError("malformed", `The Solana node ${endpoint.name} answered with a rent that no chain asks for.`);
  return { base, far };
}
