import { setTimeout as delay } from "node:timers/promises";
import { backoff } from "../core/backoff.js";
import { managerCodeOf, ServerError } from "../core/errors.js";
import type { ServerTool } from "../core/offers.js";
import type { RetryPolicy } from "./server-config.js";

/**
 * Makes a call, and retries it by the policy, but only if that is safe: nothing was sent, or the tool is read-only or
 * idempotent.
 *
 * Rejects with the call's error if it is not retried, and with ServerError "retries-exceeded" after the last retry.
 */
export async function withRetry<T>(
	call: () => Promise<T>,
	tool: ServerTool,
	policy: RetryPolicy | undefined,
	signal?: AbortSignal,
): Promise<T> {
	for (let retries = 0; ; retries += 1) {
		try {
			return await call();
		} catch (error) {
			const isWanted = policy?.retryableErrors?.includes(managerCodeOf(error)) !== false;
			if (policy === undefined || policy.maxRetries === 0 || !isWanted || !isSafeToRetry(error, tool)) {
				throw error;
			}
			if (retries === policy.maxRetries) {
				const message = `Failed after ${retries} retries: ${(error as Error).message}`;
				throw new ServerError("retries-exceeded", message, { cause: error });
			}
			await delay(backoff(policy, retries), undefined, signal ? { signal } : {}).catch(() => {
				throw new ServerError("cancelled", "the call was cancelled");
			});
		}
	}
}

/** Whether a call that failed with this error may be made again without doing its work twice. */
export function isSafeToRetry(error: unknown, tool?: ServerTool): boolean {
	const { readOnlyHint = false, idempotentHint = false } = tool?.annotations ?? {};
	return error instanceof ServerError && error.isSafeToRetry(readOnlyHint || idempotentHint);
}
