// How long the tests of the emulated chip run: npm test -- --esp32 does a little of everything, with XS_MCP_SOAK=1 the whole.
const isSoak = process.env.XS_MCP_SOAK !== undefined;

export const CALLS = isSoak ? 3_000 : 300;

export const HOSTILE_MESSAGES = isSoak ? 5_000 : 500;

export const POWER_CUTS = isSoak ? 20 : 3;

export const RESTARTS = isSoak ? 50 : 5;

/** Seconds of two calls each. */
export const SOAK_TIME = Number(process.env.XS_MCP_SOAK_SECONDS ?? (isSoak ? 3_600 : 20));

export const RESETS = isSoak ? 6_000 : 600;
