import { type RequestOptions, SdkError, SdkErrorCode } from "@modelcontextprotocol/client";

/** The longest time of a request in milliseconds, even with progress and questions. */
export const MAX_REQUEST_TIME = 3_600_000;

/** The time-out of a request: restarts with each progress notification, and pauses while its server asks. */
export class PausableTimeout {
	readonly #controller = new AbortController();
	readonly #timeout: number;
	readonly #options: RequestOptions;
	#timer: NodeJS.Timeout | undefined;
	/** Unanswered questions. */
	#questions = 0;

	constructor(options: RequestOptions & { readonly timeout: number }) {
		this.#options = options;
		this.#timeout = options.timeout;
		this.#restart();
	}

	/** The options for the request, which fails with the SDK's "request timeout". */
	get options(): RequestOptions {
		const { signal, onprogress } = this.#options;
		return {
			...this.#options,
			timeout: MAX_REQUEST_TIME,
			signal: AbortSignal.any([this.#controller.signal, ...(signal ? [signal] : [])]),
			...(onprogress && {
				onprogress: (progress) => {
					this.#restart();
					onprogress(progress);
				},
			}),
		};
	}

	/** The server asks something. */
	pause(): void {
		this.#questions += 1;
		clearTimeout(this.#timer);
	}

	/** The question was answered. */
	resume(): void {
		this.#questions -= 1;
		this.#restart();
	}

	end(): void {
		clearTimeout(this.#timer);
	}

	#restart(): void {
		clearTimeout(this.#timer);
		if (this.#questions === 0) {
			const expired = (): void =>
				this.#controller.abort(
					new SdkError(SdkErrorCode.RequestTimeout, "Request timed out", { timeout: this.#timeout }),
				);
			this.#timer = setTimeout(expired, this.#timeout);
		}
	}
}
