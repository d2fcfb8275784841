import { setTimeout as delay } from "node:timers/promises";
import { managerCodeOf, ServerError } from "./errors.js";
import type { ServerTool } from "./offers.js";

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

/** How often a failed call is made again, and after which delays. */
export interface RetryPolicy extends BackoffOptions {
	readonly maxRetries: number;
	/** The manager's codes of errors after which a call is made again. Default: all that are safe. */
	readonly retryableErrors?: readonly string[] | undefined;
}

interface Attempt {
	readonly policy: RetryPolicy | undefined;
	readonly retries: number;
	readonly signal: AbortSignal | undefined;
}

/**
 * Waits until a call may be made again: only if that is safe, because nothing was sent, or the tool is read-only or idempotent.
 *
 * Rejects with the call's error if it is not retried, and with ServerError "retries-exceeded" after the last retry.
 */
export async function waitForRetry(
	error: unknown,
	tool: ServerTool | undefined,
	{ policy, retries, signal }: Attempt,
): Promise<void> {
	const isWanted = policy?.retryableErrors?.includes(managerCodeOf(error)) !== false;
	if (policy === undefined || policy.maxRetries === 0 || !isWanted || !isSafeToRetry(error, tool)) {
		throw error;
	}
	if (retries === policy.maxRetries) {
		const message = `Failed after ${retries} retries: ${(error as Error).message}`;
		throw new ServerError("retries-exceeded", message, { cause: error });
	}
	await delay(backoff(policy, retries), undefined, { signal }).catch(() => {
		throw new ServerError("cancelled", "the call was cancelled");
	});
}

/** Whether a call that failed with this error may be made again without doing its work twice. */
export function isSafeToRetry(error: unknown, tool?: ServerTool): boolean {
	const { readOnlyHint = false, idempotentHint = false } = tool?.annotations ?? {};
	return error instanceof ServerError && error.isSafeToRetry(readOnlyHint || idempotentHint);
}
