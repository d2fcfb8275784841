// How long the endurance tests run: `npm test` runs a short form, `npm run soak` the whole.
const isSoak = process.env.XS_MCP_SOAK !== undefined;

export const ROUNDS = isSoak ? 1_000 : 10;

/** How often a client starts a process of its own and ends it. */
export const PROCESS_ROUNDS = isSoak ? 50 : 2;

/** Milliseconds for which each kind of attack is repeated; it is carried out once at least. */
export const ATTACK_TIME = isSoak ? 15_000 : 0;

/** Milliseconds for which a gateway is killed again and again. */
export const RESTARTS_TIME = 1_000 * Number(process.env.XS_MCP_SOAK_SECONDS ?? (isSoak ? 1_800 : 20));

/** Milliseconds from the start of that gateway to its end. */
export const KILL_INTERVAL = isSoak ? 60_000 : 20_000;

export const RESTARTS_DEVICES = isSoak ? 500 : 50;

export const RESTARTS_CLIENTS = isSoak ? 50 : 10;
