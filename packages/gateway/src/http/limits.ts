import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import type { Configuration } from "../config/settings.js";
import { HttpError } from "./http-error.js";

/** Seconds in which requests are counted. */
const WINDOW = 60;

/** How much a token, or an address without one, may ask for. */
export type RequestLimits = ReturnType<typeof makeLimits>;

/** Makes the limits that the settings name. */
export function makeLimits({ maxRequestsPerMinute, maxWrongTokensPerMinute }: Configuration) {
	const requests =
		maxRequestsPerMinute === 0 ? undefined : new RateLimiterMemory({ points: maxRequestsPerMinute, duration: WINDOW });
	const wrongTokens = new RateLimiterMemory({ points: maxWrongTokensPerMinute, duration: WINDOW });
	/**
	 * Counts a request of an owner: a token, or an address without one. Rejects with HttpError (429).
	 *
	 * @returns undefined if there is no limit
	 */
	const request = (owner: string): Promise<unknown> | undefined =>
		requests?.consume(owner).catch((error: unknown) => {
			throw error instanceof RateLimiterRes ? tooMany("too many requests", error) : error;
		});
	return {
		request,
		/** Counts a request that tries a secret which may be wrong. Rejects with HttpError (429), also after too many wrong ones. */
		async attempt(address: string): Promise<void> {
			const wrong = await wrongTokens.get(address);
			if (wrong !== null && wrong.consumedPoints >= wrongTokens.points) {
				throw tooMany("too many wrong tokens", wrong);
			}
			await request(address);
		},
		/** Counts a wrong token. */
		wrongToken: (address: string): Promise<unknown> => wrongTokens.penalty(address),
	};
}

function tooMany(what: string, { msBeforeNext }: RateLimiterRes): HttpError {
	const seconds = Math.max(1, Math.ceil(msBeforeNext / 1000));
	return new HttpError(429, "rate", `${what}: try again in ${seconds} s`, { "Retry-After": String(seconds) });
}
