import { deepFreeze } from "../deep-freeze.js";
import type { RequestId } from "./json-rpc.js";
import { notificationMessage } from "./json-rpc.js";
import type { McpSession } from "./mcp-session.js";

/** Where a camera uploads its pictures: the vendor capability `vision` of xiaozhi backends. */
export interface Vision {
	/** http or https. */
	readonly url: string;
	/** Bearer token; empty if the client sent none. */
	readonly token: string;
}

/** What the client said of itself in `initialize`. */
export interface Client {
	readonly name?: string;
	readonly version?: string;
	readonly capabilities: Readonly<Record<string, unknown>>;
	/** Since 2026-07-28: the least severe level of log messages that it wants; "none" for none. */
	readonly logLevel?: string;
	readonly vision?: Vision;
}

/** What a call needs to wait: Moddable's `timer` module has it. Milliseconds. */
export interface CallTimer {
	set(callback: () => void, delay: number): object;
	clear(timer: object): void;
}

/** What `sleep` rejects with when nobody waits for the call's result any more. */
export class CallCancelled extends Error {
	/** A field: assigned, it would meet the one of `Error`, which is read-only in flash. */
	override readonly name = "CallCancelled";
}

/** What a call waits for: a `sleep`, or an answer of the client. */
export interface Waiting {
	timer: object | undefined;
	readonly reject: (reason: Error) => void;
	/** Called if the call ends without having waited for it. */
	readonly drop?: () => void;
}

/** Most calls never wait. */
const NOTHING: readonly Waiting[] = deepFreeze([]);

/** One request under way, as the tool, resource or prompt sees it. */
export class ToolCall {
	/** Of the request that is to be answered: changes if the client has to ask again before the call is done. */
	id: RequestId;
	/** Likewise: names the request in reports of progress. */
	progressToken: RequestId | undefined;
	/** The client that calls. */
	readonly client: Client;
	/** The session that the request came in. */
	readonly session: McpSession<unknown>;
	/** Called once if the client cancels the call or goes away: a tool that takes long sets it to stop early. */
	onCancel: (() => void) | undefined = undefined;
	#state: "running" | "ended" | "cancelled" = "running";
	readonly #timer: CallTimer | undefined;
	#waiting: readonly Waiting[] = NOTHING;

	constructor(
		id: RequestId,
		client: Client,
		session: McpSession<unknown>,
		progressToken: RequestId | undefined,
		timer?: CallTimer,
	) {
		this.#timer = timer;
		this.id = id;
		this.client = client;
		this.session = session;
		this.progressToken = progressToken;
	}

	/** Whether nobody waits for the result any more. */
	get cancelled(): boolean {
		return this.#state === "cancelled";
	}

	/**
	 * Marks the call as cancelled: its result will not be sent.
	 * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation
	 */
	cancel(): void {
		if (this.#state !== "running") {
			return;
		}
		this.#state = "cancelled";
		for (const { reject } of this.#stopWaiting()) {
			reject(new CallCancelled("the call was cancelled"));
		}
		this.onCancel?.();
	}

	/** Marks the call as answered: nothing more is reported of it. */
	end(): void {
		if (this.#state === "running") {
			this.#state = "ended";
		}
		for (const { drop } of this.#stopWaiting()) {
			drop?.();
		}
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
		const timer = this.#timer;
		if (timer === undefined) {
			throw new Error("sleep: this server was given no timer");
		}
		if (!(Number.isFinite(delay) && delay >= 0)) {
			throw new RangeError(`sleep: expected milliseconds, 0 or more, got ${String(delay)}`);
		}
		await new Promise<void>((resolve, reject) => {
			const sleep: Waiting = { timer: undefined, reject };
			this.startWaiting(sleep);
			sleep.timer = timer.set(() => {
				this.endWaiting(sleep);
				resolve();
			}, delay);
		});
	}

	/**
	 * Begins to wait for something: it is rejected if the call is cancelled, and its timer is cleared as the call ends.
	 *
	 * @throws CallCancelled if the call has ended
	 */
	startWaiting(waiting: Waiting): void {
		if (this.#state !== "running") {
			throw new CallCancelled("the call has ended");
		}
		this.#waiting = [...this.#waiting, waiting];
	}

	/** Forgets what {@link startWaiting} began to wait for. */
	endWaiting(waiting: Waiting): void {
		this.#waiting = this.#waiting.filter((other) => other !== waiting);
	}

	/** Stops every timer, and tells whose they were. */
	#stopWaiting(): readonly Waiting[] {
		const stopped = this.#waiting;
		this.#waiting = NOTHING;
		for (const { timer } of stopped) {
			if (timer !== undefined) {
				this.#timer?.clear(timer);
			}
		}
		return stopped;
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
		if (this.#state !== "running" || progressToken === undefined) {
			return;
		}
		const params = { progressToken, progress, total, message };
		this.session.notify(notificationMessage("notifications/progress", JSON.stringify(params)));
	}
}
