import { describe, expect, test } from "vitest";
import { TradewireError } from "../../src/errors/tradewire-error.ts";
import { Address } from "../../src/primitives/address.ts";
import { writeU64 } from "../../src/primitives/bytes.ts";
import type { Account, AccountView } from "../../src/solana/account.ts";
import { SOL_MINT, TOKEN_2022_PROGRAM } from "../../src/solana/programs.ts";
import { isMint } from "../../src/solana/token/mint.ts";
import { isTokenAccount } from "../../src/solana/token/token-account.ts";
import { venues } from "../../src/venues/registry.ts";
import type { Market, Venue } from "../../src/venues/venue.ts";
import { nothingFound, tryCorrupted } from "../slow/venues/support/corruption.ts";
import { readSampleMarkets, type SampleMarket } from "../support/sample-markets.ts";

const { markets, mint, clock } = readSampleMarkets();
const pair = { a: mint, b: SOL_MINT };
const ATTACKER = Address.from(new Uint8Array(32).fill(66));
const AMOUNT = 1_000_000n;
/** Of each market; thousands are tried by `test/slow/venues/corrupted-accounts.test.ts`. */
const CORRUPTIONS = 40;
const TOKEN = { mint: 0, amount: 64, state: 108, frozen: 2 } as const;
/** Where a curve's pool has its square-root price, and its configuration the first one. */
const DBC_PRICE = { pool: 280, start: 392 } as const;
/** Written where a Token-2022 mint has its account type and its extensions. */
const MINT_EXTENSIONS = 165;

/** Selling the token, then buying it, for an exact input; the same for an exact output. */
const ASKS = (["exactIn", "exactOut"] as const).flatMap((mode) =>
  [mint, SOL_MINT].map((inMint) => ({ mode, inMint, outMint: inMint === mint ? SOL_MINT : mint })),
);
const QUOTED = ASKS.map(() => "quoted");

/** Venues whose programs make the mint and hold no vault in a token account that a trade's price depends on. */
const WITHOUT_VAULTS = ["pump_fun"];

describe.each(venues)("a market of $id that was made to rob", (venue) => {
  const sample = markets.find((one) => one.venue.id === venue.id)!;
  const read = accountsOf(sample);
  const { mints, vaults: own } = sample.hot.market as Market & { readonly vaults?: readonly Address[] };
  const held = read.filter((account) => isTokenAccount(account) && mints.some((one) => holds(account, one)));
  // A market may also ask for token accounts that are no vaults, such as its creator's.
  const named = held.filter(({ address }) => own?.includes(address));
  const vaults = named.length > 0 ? named : held;

  test("is quoted while it is honest, both ways and of both kinds", () => {
    expect(outcomes(sample, new Map())).toEqual(QUOTED);
  });

  test.skipIf(WITHOUT_VAULTS.includes(venue.id))("is refused with the reason if one of its vaults is frozen", () => {
    expect(vaults.length).toBeGreaterThanOrEqual(2);
    for (const vault of vaults) {
      const frozen = changed(vault, (data) => {
        data[TOKEN.state] = TOKEN.frozen;
      });
      for (const outcome of outcomes(sample, over(frozen))) expect(outcome).toContain("frozen");
    }
  });

  test.skipIf(WITHOUT_VAULTS.includes(venue.id))("gives nothing out of a vault that was drained", () => {
    for (const vault of vaults) {
      const drained = changed(vault, (data) => writeU64(data, TOKEN.amount, 0n));
      // Selling the token takes SOL out, buying it takes the token out.
      for (const out of leaving(vault, outcomes(sample, over(drained))))
        expect(out).toMatch(/INSUFFICIENT_LIQUIDITY|VENUE_DEGRADED/);
    }
  });

  test.skipIf(WITHOUT_VAULTS.includes(venue.id))("never gives more than its vault holds", () => {
    for (const vault of vaults) {
      const held = AMOUNT / 2n;
      const nearlyDrained = changed(vault, (data) => writeU64(data, TOKEN.amount, held));
      for (const amount of [AMOUNT, held + 1n])
        for (const quoted of leaving(vault, quotes(sample, over(nearlyDrained), amount)))
          if (quoted !== undefined) expect(quoted.outAmount).toBeLessThanOrEqual(held);
    }
  });

  test("is refused if a vault belongs to another program, holds another token, or is gone", () => {
    for (const vault of vaults) {
      const otherMint = changed(vault, (data) => data.set(ATTACKER.bytes, TOKEN.mint));
      const spoofs = [over({ ...vault, owner: ATTACKER }), over(otherMint), new Map([[vault.address, null]])];
      for (const spoof of spoofs)
        for (const outcome of outcomes(sample, spoof)) expect(outcome).toContain("VENUE_DEGRADED");
    }
  });

  test("is no market under another owner", () => {
    const own = sample.accounts.get(sample.hot.market.address)!;
    expect(venue.decode({ ...own, owner: ATTACKER }, pair)).toBeUndefined();
    for (const outcome of outcomes(sample, over({ ...own, owner: ATTACKER }))) expect(outcome).not.toBe("quoted");
  });

  test("is never priced on accounts that pose as its program's", () => {
    const honest = quotes(sample, new Map());
    for (const account of read) {
      if (isTokenAccount(account) || isMint(account)) continue;
      const spoofed = quotes(sample, over({ ...account, owner: ATTACKER }));
      const without = quotes(sample, new Map([[account.address, null]]));
      // Refused, or priced as if there were no such account.
      for (const [index, quoted] of spoofed.entries())
        if (quoted !== undefined)
          expect([account.address.toString(), quoted.outAmount, quoted.inAmount]).toEqual([
            account.address.toString(),
            without[index]?.outAmount,
            without[index]?.inAmount,
          ]);
      expect(honest.every((quoted) => quoted !== undefined)).toBe(true);
    }
  });

  test("is no market in an account of another type of its programs", () => {
    const own = sample.accounts.get(sample.hot.market.address)!;
    for (const data of otherTypes(own)) {
      expect(venue.decode({ ...own, data }, pair)).toBeUndefined();
      for (const outcome of outcomes(sample, over({ ...own, data }))) expect(outcome).not.toBe("quoted");
    }
  });

  test("is never priced on an account of another type of its programs, in place of its configuration or any other", () => {
    for (const account of read) {
      if (isTokenAccount(account) || isMint(account) || account.address === sample.hot.market.address) continue;
      const without = amounts(quotes(sample, new Map([[account.address, null]])));
      // Refused, or priced as if there were no such account.
      for (const [type, data] of otherTypes(account).entries())
        for (const [index, quoted] of amounts(quotes(sample, over({ ...account, data }))).entries())
          if (quoted !== undefined)
            expect([account.address.toString(), type, quoted]).toEqual([
              account.address.toString(),
              type,
              without[index],
            ]);
    }
  });

  test("ends in a quote that can be, or in a refusal, whatever its accounts hold", () => {
    const own = { venue, address: sample.hot.market.address, pair, clock, accounts: sample.accounts };
    const found = nothingFound();
    for (let seed = 1; seed <= CORRUPTIONS; seed++) tryCorrupted({ ...own, read }, seed, found);
    expect(found.faults).toEqual([]);
    expect(found.quoted).toBeGreaterThan(CORRUPTIONS);
  });

  const hostile = {
    "an active transfer hook": extension(14, 64, (value) => value.set(ATTACKER.bytes, 32)),
    "accounts that start frozen": extension(6, 1, (value) => value.set([2])),
    "no transfers": extension(9, 0),
    "paused transfers": extension(26, 33, (value) => value.set([1], 32)),
    "an extension of the future": extension(999, 8),
  };
  test.each(Object.entries(hostile))("is refused if its token has %s", (_, tlv) => {
    for (const outcome of outcomes(sample, over(withExtension(sample, tlv)))) {
      expect(outcome).not.toBe("quoted");
      expect(outcome).toMatch(/UNSUPPORTED_TOKEN_EXTENSION|VENUE_DEGRADED/);
    }
  });

  test.skipIf(!tradesToken2022(venue))(
    "is quoted if its token has a permanent delegate or an idle hook, as honest ones have",
    () => {
      const honest = [extension(12, 32, (value) => value.set(ATTACKER.bytes)), extension(14, 64)];
      for (const tlv of honest) expect(outcomes(sample, over(withExtension(sample, tlv)))).toEqual(QUOTED);
    },
  );
});

test("a curve of meteora_dbc without a price, in its pool or at its start, is refused with the reason", () => {
  const sample = markets.find(({ venue }) => venue.id === "meteora_dbc")!;
  const { market } = sample.hot;
  const { config } = market as Market & { readonly config: Address };
  for (const [address, at] of [
    [market.address, DBC_PRICE.pool],
    [config, DBC_PRICE.start],
  ] as const) {
    const priceless = changed(sample.accounts.get(address)!, (data) => data.fill(0, at, at + 16));
    for (const outcome of outcomes(sample, over(priceless))) expect(outcome).toMatch(/^VENUE_DEGRADED.*its curve$/);
  }
});

/** True if the venue trades mints of Token-2022, whichever program its other accounts are of. */
function tradesToken2022({ supports }: Venue): boolean {
  return supports.token2022;
}

/** The accounts that the market's state is read from. */
function accountsOf({ venue, hot, accounts }: SampleMarket): readonly Account[] {
  const seen = new Map<Address, Account>();
  const view: AccountView = {
    get(address) {
      const account = accounts.get(address);
      if (account != null) seen.set(address, account);
      return account;
    },
  };
  venue.read(hot.market, view);
  return [...seen.values()];
}

/** Where most programs write an account's type. */
const TYPE_SIZE = 8;
/** The one that a pool without a transfer hook is not priced by: configurations of Meteora's curves with one. */
const OTHER_KIND = Uint8Array.from([0x28, 0xdc, 0xc2, 0xfb, 0x29, 0xc7, 0x7b, 0xfd]);
/** Raydium's first AMM writes none: it tells its accounts apart by their sizes. */
const TOLD_BY_SIZE = "675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8";

/**
 * What other accounts of the owner could hold: the same bytes under another type, and all that the samples have of its other types,
 * as they are and at the account's own size.
 */
function otherTypes({ data, owner }: Account): readonly Uint8Array[] {
  const typeOf = (bytes: Uint8Array) => Buffer.from(bytes.subarray(0, TYPE_SIZE)).toString("hex");
  const bySize = owner.toString() === TOLD_BY_SIZE;
  const others = new Map<string, Uint8Array>();
  for (const { addresses, accounts } of markets)
    for (const address of addresses) {
      const other = accounts.get(address);
      if (other?.owner === owner && !bySize && typeOf(other.data) !== typeOf(data))
        others.set(typeOf(other.data), other.data);
    }
  const resized = (bytes: Uint8Array) => {
    const same = new Uint8Array(data.length);
    same.set(bytes.subarray(0, data.length));
    return same;
  };
  const retyped = data.map((byte, index) => (index < TYPE_SIZE ? byte ^ 0xff : byte));
  const ofOtherKind = data.slice();
  ofOtherKind.set(OTHER_KIND);
  const ofTypes = [...others.values()].flatMap((bytes) => [bytes, resized(bytes)]);
  return bySize ? [data.subarray(1), new Uint8Array(data.length + 1)] : [retyped, ofOtherKind, ...ofTypes];
}

/** What counts of quotes. */
function amounts(quoted: ReturnType<typeof quotes>) {
  return quoted.map((one) => one && [one.inAmount, one.outAmount]);
}

type Overlay = ReadonlyMap<Address, Account | null>;

const over = (account: Account): Overlay => new Map([[account.address, account]]);

const holds = ({ data }: Account, held: Address) => Address.from(data, TOKEN.mint) === held;

function changed(account: Account, change: (data: Uint8Array) => void): Account {
  const data = account.data.slice();
  change(data);
  return { ...account, data };
}

function extension(type: number, length: number, fill: (value: Uint8Array) => void = () => {}): Uint8Array {
  const tlv = new Uint8Array(4 + length);
  new DataView(tlv.buffer).setUint16(0, type, true);
  new DataView(tlv.buffer).setUint16(2, length, true);
  fill(tlv.subarray(4));
  return tlv;
}

/** The sample's token as a mint of Token-2022 with one extension. */
function withExtension({ accounts }: SampleMarket, tlv: Uint8Array): Account {
  const plain = accounts.get(mint)!;
  const data = new Uint8Array(MINT_EXTENSIONS + 1 + tlv.length);
  data.set(plain.data.subarray(0, 82));
  data[MINT_EXTENSIONS] = 1;
  data.set(tlv, MINT_EXTENSIONS + 1);
  return { ...plain, owner: TOKEN_2022_PROGRAM, data };
}

/** Of what was made of `ASKS`, where the vault's token comes out. */
function leaving<T>(vault: Account, made: readonly T[]): readonly T[] {
  return made.filter((_, index) => holds(vault, ASKS[index]!.outMint));
}

/** What each of `ASKS` gives, with some accounts replaced; undefined where refused. */
function quotes(sample: SampleMarket, overlay: Overlay, amount = AMOUNT) {
  return attempts(sample, overlay, amount).map((attempt) => (attempt instanceof Error ? undefined : attempt));
}

/** "quoted", or the refusal's code and words. */
function outcomes(sample: SampleMarket, overlay: Overlay): readonly string[] {
  return attempts(sample, overlay, AMOUNT).map((attempt) => {
    if (!(attempt instanceof Error)) return "quoted";
    expect(attempt).toBeInstanceOf(TradewireError);
    return `${(attempt as TradewireError).code}: ${attempt.message}`;
  });
}

function attempts({ venue, hot: { market }, accounts }: SampleMarket, overlay: Overlay, amount: bigint) {
  const view: AccountView = {
    get: (address) => (overlay.has(address) ? (overlay.get(address) ?? null) : accounts.get(address)),
  };
  return ASKS.map((ask) => {
    try {
      const state = venue.read(market, view);
      return venue.quote(state, { ...ask, amount, clock });
    } catch (error) {
      return error as Error;
    }
  });
}
