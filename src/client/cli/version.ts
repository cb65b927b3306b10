/** The version of the package, which `npm run release` writes. */
export const VERSION = "0.1.0";
