/** True in `npm run slow:exhaustive`: every case is tried. Otherwise a sample that has each kind of case at least once. */
export const isWhole = process.env.EXHAUSTIVE === "1";
