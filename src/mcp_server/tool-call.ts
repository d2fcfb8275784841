import { deepFreeze } from "../text/deep-freeze.js";
import type { Client } from "./client.js";
import { notificationMessage, type RequestId } from "./json-rpc.js";
import type { Revision } from "./revision.js";

/** What a call needs to wait: Moddable's `timer` module has it. Milliseconds. */
export interface CallTimer {
	set(callback: () => void, delay: number): object;
	clear(timer: object): void;
}

/** What a call needs of its server. */
export interface CallServer {
	readonly timer: CallTimer | undefined;
	readonly log: (message: string) => void;
}

/** What a call needs of its session. */
export interface CallSession {
	readonly revision: Revision;
	readonly client: Client;
	readonly server: CallServer;
	/** Bytes that a message may have that holds a page of a list, without the wrapper. */
	readonly pageBytes: number;
	/** Sends a message that is no answer. */
	notify(message: string): void;
}

/** What `sleep` rejects with when nobody waits for the call's result any more. */
export class CallCancelled extends Error {
	/** A field: assigned, it would meet the one of `Error`, which is read-only in flash. */
	override readonly name = "CallCancelled";
}

/**
 * Ends what a call waits for: a `sleep`, or an answer of the client.
 *
 * @param reason why it will not come, if the call is cancelled; undefined if the call ends without having waited for it
 */
export type StopWaiting = (reason?: Error) => void;

/** Most calls never wait. */
const NOTHING: readonly StopWaiting[] = deepFreeze([]);

/** One request in progress, as the tool, resource or prompt sees it. */
export class ToolCall {
	/** Of the request that is to be answered: changes if the client has to ask again before the call is done. */
	id: RequestId;
	/** Likewise: names the request in reports of progress. */
	progressToken: RequestId | undefined;
	/** The client that calls. */
	readonly client: Client;
	/** The session that the request came in. */
	readonly session: CallSession;
	/** Called once if the client cancels the call or goes away: a tool that takes long sets it to stop early. */
	onCancel: (() => void) | undefined = undefined;
	#running = true;
	#cancelled = false;
	#waiting: readonly StopWaiting[] = NOTHING;

	constructor(id: RequestId, session: CallSession, progressToken: RequestId | undefined) {
		this.id = id;
		this.client = session.client;
		this.session = session;
		this.progressToken = progressToken;
	}

	/** Whether nobody waits for the result any more. */
	get cancelled(): boolean {
		return this.#cancelled;
	}

	/**
	 * Marks the call as cancelled: its result will not be sent.
	 * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation
	 */
	cancel(): void {
		if (this.#finish(new CallCancelled("the call was cancelled"))) {
			this.onCancel?.();
		}
	}

	/** Marks the call as answered: nothing more is reported of it. */
	end(): void {
		this.#finish();
	}

	/**
	 * @param reason if the call is cancelled
	 * @returns whether the call was running
	 */
	#finish(reason?: Error): boolean {
		if (!this.#running) {
			return false;
		}
		this.#running = false;
		this.#cancelled = reason !== undefined;
		for (const stop of this.#waiting) {
			stop(reason);
		}
		this.#waiting = NOTHING;
		return true;
	}

	/**
	 * Waits without holding up anything else.
	 *
	 * @example
	 * lamp.on = true;
	 * await call.sleep(500);
	 * lamp.on = false;
	 *
	 * @param delay milliseconds, 0 or more
	 * @throws CallCancelled as soon as the call is cancelled; left uncaught, it ends the tool
	 * @throws RangeError for a delay that is not a number from 0
	 */
	async sleep(delay: number): Promise<void> {
		const { timer } = this.session.server;
		if (timer === undefined) {
			throw new Error("sleep: needs the server option `timer`");
		}
		if (!(Number.isFinite(delay) && delay >= 0)) {
			throw new RangeError(`sleep: expected milliseconds, 0 or more, got ${String(delay)}`);
		}
		await new Promise<void>((resolve, reject) => {
			const stop: StopWaiting = (reason) => {
				timer.clear(sleep);
				if (reason !== undefined) {
					reject(reason);
				}
			};
			this.startWaiting(stop);
			const sleep = timer.set(() => {
				this.endWaiting(stop);
				resolve();
			}, delay);
		});
	}

	/**
	 * Begins to wait for something.
	 *
	 * @param stop called once when the call ends, unless {@link endWaiting} was called
	 * @throws CallCancelled if the call has ended
	 */
	startWaiting(stop: StopWaiting): void {
		if (!this.#running) {
			throw new CallCancelled("the call has ended");
		}
		this.#waiting = [...this.#waiting, stop];
	}

	/** Forgets what {@link startWaiting} began to wait for. */
	endWaiting(stop: StopWaiting): void {
		this.#waiting = this.#waiting.filter((other) => other !== stop);
	}

	/**
	 * Tells the client how far the call has come, if it asked to be told:
	 * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress
	 *
	 * @param progress must grow with every report
	 * @param total where progress will end, when that is known
	 */
	progress(progress: number, total?: number, message?: string): void {
		const { progressToken } = this;
		if (!this.#running || progressToken === undefined) {
			return;
		}
		this.session.notify(notificationMessage("notifications/progress", { progressToken, progress, total, message }));
	}
}
