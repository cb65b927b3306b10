import { Address } from "../primitives/address.ts";

/** Owner of the accounts that tell which features a cluster has activated. @see agave feature-set */
export const FEATURE_PROGRAM = Address.of("Feature111111111111111111111111111111111111");

/** Version 1 transactions. @see SIMD-0385 */
export const TRANSACTION_V1_FEATURE = Address.of("txv1aq4pp281K9um3tnPgkfX8UqtFT6wcVW3hNezGLL");
