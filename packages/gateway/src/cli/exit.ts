/** The command line is wrong: exit code 2. Any other error: 1. */
export class UsageError extends Error {}

/** Exit codes, as POSIX shells have them. */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const;
