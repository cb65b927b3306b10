import { Address } from "../../primitives/address.ts";
import { textBytes } from "../../primitives/bytes.ts";
import { derivedAddress } from "./derived-address.ts";

const TIP_PROGRAM = Address.of("T1pyyaTNZsKv2WcRAB8oVnk93mLJw2XzjtVYqCsaHqt");

/** True for one of the eight accounts of the Jito tip program, which receive tips for block producers. @see https://docs.jito.wtf */
export function isTipAccount(address: Address): boolean {
  return [0, 1, 2, 3, 4, 5, 6, 7].some(
    (number) => derivedAddress(TIP_PROGRAM, [textBytes(`TIP_ACCOUNT_${number}`)]) === address,
  );
}
