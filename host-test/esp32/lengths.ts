// How long the tests of the emulated chip run: npm test -- --esp32 does a little of everything, with XS_MCP_SOAK=1 the whole.
const isSoak = process.env.XS_MCP_SOAK !== undefined;

/** Calls of a tool in a row. */
export const CALLS = isSoak ? 3_000 : 300;

/** Messages that are meant to exhaust the chip. */
export const HOSTILE_MESSAGES = isSoak ? 5_000 : 500;

/** Power cuts during an update. */
export const POWER_CUTS = isSoak ? 20 : 3;

/** Restarts by `self.reboot`. */
export const RESTARTS = isSoak ? 50 : 5;

/** Seconds of two calls each. */
export const SOAK_TIME = Number(process.env.XS_MCP_SOAK_SECONDS ?? (isSoak ? 3_600 : 20));

/** Connections that are reset. */
export const RESETS = isSoak ? 6_000 : 600;
