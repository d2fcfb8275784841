import { Backoff, type BackoffOptions } from "./backoff.js";
import type { ProtocolError } from "./transport.js";

/** The delays before attempts to reach the backend. They grow with failures, and with sessions that the backend ends unused. */
export class RetryDelays {
	private readonly failures: Backoff;
	/** After idle sessions that the backend ended. */
	private readonly idle: Backoff;

	constructor(options?: BackoffOptions) {
		this.failures = new Backoff(options);
		this.idle = new Backoff(options);
	}

	/** A session has lasted: the next failure starts with the shortest delay. */
	lasted(): void {
		this.failures.reset();
	}

	/** A session was used. If it was idle before, the backend does not end idle sessions. */
	used(wasIdle: boolean): void {
		if (wasIdle) {
			this.idle.reset();
		}
	}

	/**
	 * Milliseconds to the next attempt.
	 *
	 * @param isIdle whether the session was idle at its end; undefined if there was no session
	 */
	after({ code }: ProtocolError, isIdle: boolean | undefined): number {
		if (isIdle && (code === "goodbye" || code === "connection-closed")) {
			return this.idle.next();
		}
		if (isIdle !== undefined) {
			this.idle.reset();
		}
		return this.failures.next();
	}
}
