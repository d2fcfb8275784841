import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import type { Configuration } from "../config/settings.js";
import { HttpError } from "./http-error.js";

/** Seconds in which requests are counted. */
const WINDOW = 60;

/** How much a token, or an address without one, may ask for. */
export class RequestLimits {
	readonly #requests: RateLimiterMemory | undefined;
	readonly #wrongTokens: RateLimiterMemory;

	constructor({ maxRequestsPerMinute, maxWrongTokensPerMinute }: Configuration) {
		this.#requests =
			maxRequestsPerMinute === 0
				? undefined
				: new RateLimiterMemory({ points: maxRequestsPerMinute, duration: WINDOW });
		this.#wrongTokens = new RateLimiterMemory({ points: maxWrongTokensPerMinute, duration: WINDOW });
	}

	/**
	 * Counts a request of an owner: a token, or an address without one. Rejects with HttpError (429).
	 *
	 * @returns undefined if there is no limit
	 */
	request(owner: string): Promise<unknown> | undefined {
		return this.#requests?.consume(owner).catch((error: unknown) => {
			throw error instanceof RateLimiterRes ? tooMany("too many requests", error) : error;
		});
	}

	/** Counts a request that tries a secret which may be wrong. Rejects with HttpError (429), also after too many wrong ones. */
	async attempt(address: string): Promise<void> {
		const wrong = await this.#wrongTokens.get(address);
		if (wrong !== null && wrong.consumedPoints >= this.#wrongTokens.points) {
			throw tooMany("too many wrong tokens", wrong);
		}
		await this.request(address);
	}

	/** Counts a wrong token. */
	async wrongToken(address: string): Promise<void> {
		await this.#wrongTokens.penalty(address);
	}
}

function tooMany(what: string, { msBeforeNext }: RateLimiterRes): HttpError {
	const seconds = Math.max(1, Math.ceil(msBeforeNext / 1000));
	return new HttpError(429, "rate", `${what}: try again in ${seconds} s`, { "Retry-After": String(seconds) });
}
