import { meteoraSwap2 } from "../meteora-swap2.ts";
import { DBC_AUTHORITY, DBC_EVENT_AUTHORITY, DBC_PROGRAM, type DbcMarket } from "./layout.ts";

/**
 * The swap instruction. The program reads the instructions sysvar for rate limiters and for first swaps.
 *
 * @see @meteora-ag/dynamic-bonding-curve-sdk 1.5.12 IDL, instruction swap2
 */
export const dbcSwap = meteoraSwap2<DbcMarket>({
  program: DBC_PROGRAM,
  eventAuthority: DBC_EVENT_AUTHORITY,
  start: ({ address, config }) => [DBC_AUTHORITY, config, address],
  startRights: "rr w",
});
