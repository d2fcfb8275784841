// How much the tests that wear the gateway out do: `npm test` a taste of it, `npm run soak` all.
const isSoak = process.env.XS_MCP_SOAK !== undefined;

/** Times that each kind of host and device comes and goes. */
export const ROUNDS = isSoak ? 1_000 : 10;

/** Times that a host starts a process of its own and ends it. */
export const PROCESS_ROUNDS = isSoak ? 50 : 2;

/** Milliseconds for which each kind of attack is repeated; it is carried out once at least. */
export const ATTACK_TIME = isSoak ? 15_000 : 0;

/** Milliseconds without network. */
export const OUTAGE = isSoak ? 60_000 : 500;

/** Milliseconds for a device to come back: after a minute without network it tries only once a minute. */
export const RETURN_LIMIT = isSoak ? 90_000 : 15_000;
