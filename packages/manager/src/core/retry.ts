import { setTimeout as delay } from "node:timers/promises";
import * as z from "zod";
import { managerCodeOf, ServerError } from "./errors.js";
import type { ServerTool } from "./offers.js";

/** How often, and after how long, a call or a connection is tried again. Delays in milliseconds. */
export const RETRY_POLICY = z.strictObject({
	maxRetries: z.int().min(0).max(100).default(3).describe("How often it is tried again"),
	initialDelay: z.int().min(0).max(300_000).default(1_000).describe("Milliseconds before the first retry"),
	maxDelay: z.int().min(0).max(300_000).default(10_000).describe("The longest delay in milliseconds"),
	backoffMultiplier: z
		.number()
		.min(1)
		.max(10)
		.default(2)
		.describe("By how much each delay is longer than the one before"),
	retryableErrors: z
		.array(z.string())
		.optional()
		.describe("Error codes for which a call is made again, such as CONNECTION_FAILED. Default: all that are safe"),
});

export type RetryPolicy = z.output<typeof RETRY_POLICY>;

/**
 * Milliseconds to wait before the next attempt: three quarters to the whole of the step, at random, so that clients of a restarted
 * server do not all reconnect at once. `retries` is 0 before the first one.
 */
export function backoff(
	policy: Pick<RetryPolicy, "initialDelay" | "maxDelay"> & Partial<RetryPolicy>,
	retries: number,
) {
	const { initialDelay, maxDelay, backoffMultiplier = 2 } = policy;
	return Math.min(initialDelay * backoffMultiplier ** retries, maxDelay) * (0.75 + Math.random() / 4);
}

/**
 * Waits until a call may be made again: only if nothing was sent, or the tool is read-only or idempotent. Rejects with the call's
 * error if it is not retried, and with ServerError "retries-exceeded" after the last retry.
 */
export async function waitForRetry(
	error: unknown,
	tool: ServerTool | undefined,
	policy: RetryPolicy | undefined,
	retries: number,
	signal: AbortSignal | undefined,
): Promise<void> {
	const isWanted = policy?.retryableErrors?.includes(managerCodeOf(error)) !== false;
	if (!policy?.maxRetries || !isWanted || !isSafeToRetry(error, tool)) {
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
	const effect = error instanceof ServerError ? error.effect : "final";
	return effect === "none" || (effect === "unknown" && (readOnlyHint || idempotentHint));
}
