/** Loaded before a service: its wall clock is off by CLOCK_SKEW_MS. */
const skewMs = Number(process.env.CLOCK_SKEW_MS);
const trueNow = Date.now;
Date.now = () => trueNow() + skewMs;
