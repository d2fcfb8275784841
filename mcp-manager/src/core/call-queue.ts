import { ServerError } from "./errors.js";
import type { Session } from "./session.js";

interface CallQueueOptions {
	/** Concurrent calls. */
	readonly concurrency: number;
	/** Most waiting calls. Further ones are rejected. */
	readonly capacity: number;
	/** Milliseconds that a call waits for its turn while the server is online. */
	readonly turnWait: number;
	/** Milliseconds that a call waits for a server that is offline. */
	readonly offlineWait: number;
	/** The error message of a call that waited for that long. */
	readonly offlineMessage: () => string;
}

interface WaitingCall {
	start(session: Session): void;
	reject(error: ServerError): void;
	timer: NodeJS.Timeout | undefined;
}

/**
 * The calls to one server: they start in order of arrival, a few at a time, while the server is online.
 *
 * Not p-queue: a waiting call has another time limit while the server is offline, and a cancelled one frees its place at once.
 */
export class CallQueue {
	readonly #options: CallQueueOptions;
	readonly #waiting: WaitingCall[] = [];
	#running = 0;
	#session: Session | undefined;

	constructor(options: CallQueueOptions, session: Session | undefined) {
		this.#options = options;
		this.#session = session;
	}

	/** Whether calls run. */
	get busy(): boolean {
		return this.#running > 0;
	}

	/** Whether no call runs or waits. */
	get idle(): boolean {
		return this.#running === 0 && this.#waiting.length === 0;
	}

	/**
	 * Resolves with the server's session when it is the call's turn; {@link leave} ends the turn.
	 *
	 * Rejects with ServerError "queue-full", "server-offline", or "cancelled" if the signal is aborted before its turn.
	 */
	enter(signal?: AbortSignal): Promise<Session> {
		return new Promise((resolve, reject) => {
			if (signal?.aborted) {
				reject(new ServerError("cancelled", "the call was cancelled"));
				return;
			}
			const cancel = (): void => this.#reject(waiting, new ServerError("cancelled", "the call was cancelled"));
			const waiting: WaitingCall = {
				start: (session) => {
					signal?.removeEventListener("abort", cancel);
					this.#running += 1;
					resolve(session);
				},
				reject: (error) => {
					signal?.removeEventListener("abort", cancel);
					reject(error);
				},
				timer: undefined,
			};
			signal?.addEventListener("abort", cancel, { once: true });
			this.#enqueue(waiting);
		});
	}

	/** The turn of a call has ended. */
	leave(): void {
		this.#running -= 1;
		this.#startNext();
	}

	/** The server is online: its calls may start. */
	online(session: Session): void {
		this.#session = session;
		this.#startNext();
		for (const waiting of this.#waiting) {
			this.#limitWait(waiting);
		}
	}

	/** The server is offline: its calls wait from now on. */
	offline(): void {
		this.#session = undefined;
		for (const waiting of this.#waiting) {
			this.#limitWait(waiting);
		}
	}

	/** Rejects the waiting calls. Running ones settle by themselves. */
	close(error: ServerError): void {
		for (const waiting of [...this.#waiting]) {
			this.#reject(waiting, error);
		}
	}

	#enqueue(waiting: WaitingCall): void {
		const { capacity } = this.#options;
		this.#waiting.push(waiting);
		this.#startNext();
		if (this.#waiting.length > capacity) {
			this.#reject(waiting, new ServerError("queue-full", `too many calls are waiting (limit ${capacity})`));
		} else if (this.#waiting.includes(waiting)) {
			this.#limitWait(waiting);
		}
	}

	/** Gives a call that waits its time from now on, for its turn or for the server. */
	#limitWait(waiting: WaitingCall): void {
		const { turnWait, offlineWait, offlineMessage } = this.#options;
		const isOffline = this.#session === undefined;
		const expire = (): void => {
			const busy = `the server is still busy with earlier ones (${this.#running}). Nothing was sent to it.`;
			const error = isOffline
				? new ServerError("server-offline", offlineMessage())
				: new ServerError("queue-full", `the call had no turn within ${turnWait / 1_000} s: ${busy}`);
			this.#reject(waiting, error);
		};
		clearTimeout(waiting.timer);
		waiting.timer = setTimeout(expire, isOffline ? offlineWait : turnWait);
	}

	#reject(waiting: WaitingCall, error: ServerError): void {
		const index = this.#waiting.indexOf(waiting);
		if (index >= 0) {
			this.#waiting.splice(index, 1);
			clearTimeout(waiting.timer);
			waiting.reject(error);
		}
	}

	#startNext(): void {
		while (this.#session?.connected && this.#running < this.#options.concurrency) {
			const next = this.#waiting.shift();
			if (next === undefined) {
				return;
			}
			clearTimeout(next.timer);
			next.start(this.#session);
		}
	}
}
