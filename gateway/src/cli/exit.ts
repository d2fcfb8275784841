/** The command line makes no sense: exit code 2. Any other error is 1. */
export class UsageError extends Error {}

/** Exit codes, as most programs have them. */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const;
