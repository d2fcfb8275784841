import { type RequestOptions, SdkError, SdkErrorCode } from "@modelcontextprotocol/client";

/** Milliseconds that a request may take at most, however often its server reports progress or asks. */
export const MAX_REQUEST_TIME = 3_600_000;

/** How long a request is waited for: its time starts again with each progress, and stands still while its server asks. */
export class Patience {
	readonly #controller = new AbortController();
	readonly #timeout: number;
	readonly #options: RequestOptions;
	#timer: NodeJS.Timeout | undefined;
	/** Questions that have no answer. */
	#questions = 0;

	constructor(options: RequestOptions & { readonly timeout: number }) {
		this.#options = options;
		this.#timeout = options.timeout;
		this.#restart();
	}

	/** The options for the request, which has failed with the SDK's "request timeout" when its time is over. */
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

	/** The server has got its answer. */
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
