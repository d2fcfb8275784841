/** How delays between attempts grow. */
export interface BackoffOptions {
	/** Milliseconds before the second attempt. */
	readonly initialDelay: number;
	/** Milliseconds at most. */
	readonly maxDelay: number;
	/** Each delay is this many times as long as the one before. Default 2. */
	readonly backoffMultiplier?: number;
}

/**
 * Milliseconds to wait before the next attempt: from three quarters to the whole of the step, at random, so that
 * clients of a restarted server do not all reconnect at once. Not the firmware's Backoff: users choose the multiplier
 * here.
 *
 * @param retries retries so far: 0 before the first one
 */
export function backoff({ initialDelay, maxDelay, backoffMultiplier = 2 }: BackoffOptions, retries: number): number {
	return Math.min(initialDelay * backoffMultiplier ** retries, maxDelay) * (0.75 + Math.random() / 4);
}
