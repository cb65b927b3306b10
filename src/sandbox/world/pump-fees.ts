import { Address } from "../../primitives/address.ts";
import { concatBytes, hex, textBytes, writeU32, writeU64 } from "../../primitives/bytes.ts";
import { derive, findPda } from "../../solana/pda.ts";
import { putWallet, type WorldLedger } from "./genesis-ledger.ts";

/** Pump's program of fee schedules: only its accounts are in the world, nothing calls it. */
export const FEE_PROGRAM = Address.of("pfeeUxB6jkeY1Hxd7CsFCAjcbHA9rWtchMGdZ6VojVZ");

/** Liquidity, protocol and creator rates in hundredths of a percent. */
type Rates = readonly [bigint, bigint, bigint];

/** Market caps in quote base units, and the creator's rate from there on; @see the pools' schedule on mainnet, September 2026. */
const SOL_THRESHOLDS: readonly bigint[] = [
  420n,
  1_470n,
  2_460n,
  3_440n,
  4_420n,
  9_820n,
  14_740n,
  19_650n,
  24_560n,
  29_470n,
  34_380n,
  39_300n,
  44_210n,
  49_120n,
  54_030n,
  58_940n,
  63_860n,
  68_770n,
  73_681n,
  78_590n,
  83_500n,
  88_400n,
  93_330n,
  98_240n,
].map((sol) => sol * 1_000_000_000n);
const USDC_THRESHOLDS: readonly bigint[] = [
  59n,
  300n,
  500n,
  700n,
  900n,
  2_000n,
  3_000n,
  4_000n,
  5_000n,
  6_000n,
  7_000n,
  8_000n,
  9_000n,
  10_000n,
  11_000n,
  12_000n,
  13_000n,
  14_000n,
  15_000n,
  16_000n,
  17_000n,
  18_000n,
  19_000n,
  20_000n,
].map((thousands) => thousands * 1_000_000_000n);
const CREATOR_RATES: readonly bigint[] = [
  95n,
  90n,
  85n,
  80n,
  75n,
  70n,
  65n,
  60n,
  55n,
  50n,
  45n,
  40n,
  35n,
  30n,
  28n,
  25n,
  23n,
  20n,
  18n,
  15n,
  13n,
  10n,
  8n,
  5n,
];
const FLAT: Rates = [25n, 5n, 0n];
const EXOTIC: Rates = [20n, 80n, 50n];

/** Who may receive the fees of ordinary coins, of mayhem coins, and what buys back. @see pump-public-docs `docs/FEE_RECIPIENTS.md` */
export const FEE_RECIPIENTS = addresses(
  "62qc2CNXwrYqQScmEdiZFFAnJR262PxWEuNQtxfafNgV 7VtfL8fvgNfhz17qKRMjzQEXgbdpnHHHQRh54R9jP2RJ",
  "7hTckgnGnLQR6sdH7YkqFTAA7VwTfYFaZ6EhEsU3saCX 9rPYyANsfQZw3DnDmKE3YCQF5E8oD89UXoHn9JFEhJUz",
  "AVmoTthdrX6tKt4nDjco2D775W2YK3sDhxPcMmzUAmTY CebN5WGQ4jvEPvsVU4EoHEpgzq1VV7AbicfhtW4xC9iM",
  "FWsW1xNtWscwNmKv6wVsU1iTzRN6wmmk3MjxRP5tT7hz G5UZAVbAf46s7cKWoyKu8kYTip9DGTpbLZ2qa9Aq69dP",
);
export const MAYHEM_FEE_RECIPIENTS = addresses(
  "GesfTA3X2arioaHp8bbKdjG9vJtskViWACZoYvxp4twS 4budycTjhs9fD6xw62VBducVTNgMgJJ5BgtKq7mAZwn6",
  "8SBKzEQU4nLSzcwF4a74F2iaUDQyTfjGndn6qUWBnrpR 4UQeTP1T39KZ9Sfxzo3WR5skgsaP6NZa87BAkuazLEKH",
  "8sNeir4QsLsJdYpc9RZacohhK1Y5FLU3nC5LXgYB4aa6 Fh9HmeLNUMVCvejxCtCL2DbYaRyBFVJ5xrWkLnMH6fdk",
  "463MEnMeGyJekNZFQSTUABBEbLnvMTALbT6ZmsxAbAdq 6AUH3WEHucYZyC61hqpqYUWVto5qA5hjHuNQ32GNnNxA",
);
export const BUYBACK_FEE_RECIPIENTS = addresses(
  "5YxQFdt3Tr9zJLvkFccqXVUwhdTWJQc1fFg2YPbxvxeD 9M4giFFMxmFGXtc3feFzRai56WbBqehoSeRE5GK7gf7",
  "GXPFM2caqTtQYC2cJ5yJRi9VDkpsYZXzYdwYpGnLmtDL 3BpXnfJaUTiwXnJNe7Ej1rcbzqTTQUvLShZaWazebsVR",
  "5cjcW9wExnJJiqgLjq7DEG75Pm6JBgE1hNv4B2vHXUW6 EHAAiTxcdDwQ3U4bU6YcMsQGaekdzLS3B5SmYo46kJtL",
  "5eHhjP8JaYkz83CWwvGU2uMUXefd3AazWGx4gpcuEEYD A7hAgCzFw14fejgCp387JUJRMNyz4j89JKnhtKU8piqW",
);

/** The share of the protocol's fee that buys back, in hundredths of a percent. */
export const BUYBACK_RATE = 5_000n;

/** Puts every fee recipient, with token accounts for the mints fees are taken in. */
export function putFeeRecipients(ledger: WorldLedger, feeMints: readonly Address[]): void {
  for (const recipient of [...FEE_RECIPIENTS, ...MAYHEM_FEE_RECIPIENTS, ...BUYBACK_FEE_RECIPIENTS]) {
    putWallet(ledger, recipient, 1_000_000_000n);
    for (const mint of feeMints) ledger.holdAssociated(recipient, mint, 0n);
  }
}

/**
 * Puts the fee schedule of `program`. A curve has no liquidity providers: there the liquidity rate is 0 and the protocol
 * takes both.
 */
export function putFeeConfig(ledger: WorldLedger, program: Address, admin: Address, kind: "curve" | "pool"): void {
  const { address, bump } = findPda([textBytes("fee_config"), program.bytes], FEE_PROGRAM);
  const rates = ([lp, protocol, creator]: Rates): Rates =>
    kind === "pool" ? [lp, protocol, creator] : [0n, lp + protocol, creator];
  const tiers = (thresholds: readonly bigint[]): Uint8Array => {
    const rows = thresholds.map((from, index) => tier(from, rates([20n, 5n, CREATOR_RATES[index]!])));
    return concatBytes(u32(rows.length + 1), tier(0n, rates([2n, 93n, 30n])), ...rows);
  };
  const data = concatBytes(
    hex("8f3492bbdb7b4c9b"),
    Uint8Array.of(bump),
    admin.bytes,
    ratesBytes(rates(FLAT)),
    tiers(SOL_THRESHOLDS),
    tiers(USDC_THRESHOLDS),
    ratesBytes(rates(EXOTIC)),
  );
  const account = new Uint8Array(FEE_CONFIG_SIZE);
  account.set(data);
  ledger.put(address, FEE_PROGRAM, account);
}

/**
 * The program gives room for fifty tiers of each kind and does not read parts of a shorter account.
 * @see pump-sdk `sdk.ts`, FEE_CONFIG_CURRENT_SIZE
 */
const FEE_CONFIG_SIZE = 4_097;

/** The account at which a program's trading volume is counted. */
export function putVolumeAccumulator(ledger: WorldLedger, program: Address): void {
  const data = new Uint8Array(VOLUME_ACCUMULATOR_SIZE);
  data.set(hex("ca2af62b8ebe1eff"));
  ledger.put(derive(program, "global_volume_accumulator"), program, data);
}

const VOLUME_ACCUMULATOR_SIZE = 544;

function tier(threshold: bigint, rates: Rates): Uint8Array {
  const bytes = new Uint8Array(16);
  writeU64(bytes, 0, threshold);
  return concatBytes(bytes, ratesBytes(rates));
}

function ratesBytes(rates: Rates): Uint8Array {
  const bytes = new Uint8Array(24);
  rates.forEach((rate, index) => {
    writeU64(bytes, 8 * index, rate);
  });
  return bytes;
}

function u32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  writeU32(bytes, 0, value);
  return bytes;
}

function addresses(...lines: readonly string[]): readonly Address[] {
  return lines.flatMap((line) => line.split(" ").map(Address.of));
}
