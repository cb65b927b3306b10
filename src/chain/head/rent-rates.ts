import { ceilDiv } from "../../primitives/integer.ts";
import type { RpcPool } from "../rpc/rpc-pool.ts";
import { asInteger } from "../rpc/rpc-values.ts";

/** The two account sizes rent is read at; it is linear in the size. Bytes. */
const RENT_SIZES = [0, 10_000] as const;

/** Rent by account size. */
export class RentRates {
  #base = 0n;
  #perSpan = 0n;
  /** By data bytes; only a few sizes occur. */
  readonly #byBytes = new Map<number, bigint>();

  /** @throws TradewireError UPSTREAM_ERROR */
  async refresh(pool: RpcPool): Promise<void> {
    const [base, far] = await Promise.all(
      RENT_SIZES.map(async (size) => asInteger(await pool.read("getMinimumBalanceForRentExemption", [size]), "rent")),
    );
    this.#base = base!;
    this.#perSpan = far! - base!;
    this.#byBytes.clear();
  }

  /** Lamports an account of `space` data bytes must hold, rounded up. */
  exemption(space: number): bigint {
    let rent = this.#byBytes.get(space);
    if (rent === undefined) {
      rent = this.#base + ceilDiv(this.#perSpan * BigInt(space), BigInt(RENT_SIZES[1]));
      this.#byBytes.set(space, rent);
    }
    return rent;
  }
}
