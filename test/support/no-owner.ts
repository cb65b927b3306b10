/** Owner of a market that makes no answers of it. */
export const NO_OWNER = { invalidate() {}, followed() {}, answers: 0 };
