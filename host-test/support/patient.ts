/** Options of a request that takes a second, unless the computer is busy: the default of clients is 30 or 60 s. */
export const PATIENT = { timeout: 300_000 };
