import type { Address } from "../../primitives/address.ts";
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../programs.ts";

/** The token programs by number. */
export const TOKEN_PROGRAMS: readonly Address[] = [TOKEN_PROGRAM, TOKEN_2022_PROGRAM];

/** The number of a token program. @throws RangeError for another program */
export function tokenProgramNumber(program: Address): 0 | 1 {
  if (program === TOKEN_PROGRAM) return 0;
  if (program === TOKEN_2022_PROGRAM) return 1;
  throw new RangeError(`not a token program: ${program}`);
}
