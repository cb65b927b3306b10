import { meteoraSwap2 } from "../meteora-swap2.ts";
import { DAMM_V2_AUTHORITY, DAMM_V2_EVENT_AUTHORITY, DAMM_V2_PROGRAM, type DammV2Market } from "./layout.ts";

/**
 * The swap instruction. A pool with a rate limiter requires the instructions sysvar for buys.
 *
 * @see @meteora-ag/cp-amm-sdk 1.5.0 IDL, instruction swap2
 */
export const dammV2Swap = meteoraSwap2<DammV2Market>({
  program: DAMM_V2_PROGRAM,
  eventAuthority: DAMM_V2_EVENT_AUTHORITY,
  start: ({ address }) => [DAMM_V2_AUTHORITY, address],
  startRights: "r w",
});
