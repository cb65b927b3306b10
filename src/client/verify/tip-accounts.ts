import { Address } from "../../primitives/address.ts";

/** The eight accounts of the Jito tip program, which receive tips for block producers. @see https://docs.jito.wtf */
const TIP_ACCOUNTS: ReadonlySet<Address> = new Set(
  [
    "96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5",
    "HFqU5x63VTqvQss8hp11i4wVV8bD44PvwucfZ2bU7gRe",
    "Cw8CFyM9FkoMi7K7Crf6HNQqf4uEMzpKw6QNghXLvLkY",
    "ADaUMid9yfUytqMBgopwjb2DTLSokTSzL1zt6iGPaS49",
    "DfXygSm4jCyNCybVYYK6DwvWqjKee8pbDmJGcLWNDXjh",
    "ADuUkR4vqLUMWXxW9gh6D6L8pMSawimctcNZ5pGwDcEt",
    "DttWaMuVvTiduZRnguLF7jNxTgiMBZ1hyAumKUiL2KRL",
    "3AVi9Tg9Uo68tJfuvoKvqKNWKkC5wPdSSdeBnizKZ6jT",
  ].map((text) => Address.of(text)),
);

/** True if the account receives tips for block producers. */
export function isTipAccount(address: Address): boolean {
  return TIP_ACCOUNTS.has(address);
}
