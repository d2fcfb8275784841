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

/** A `sleep` under way. */
interface Sleeper {
	timer: object | undefined;
	readonly reject: (reason: Error) => void;
}

/** Most calls never sleep. */
const NO_SLEEPERS: readonly Sleeper[] = deepFreeze([]);

/** One request under way, as the tool, resource or prompt sees it. */
export class ToolCall {
	readonly id: RequestId;
	/** The client that calls. */
	readonly client: Client;
	/** The session that the request came in. */
	readonly session: McpSession<unknown>;
	/** Called once if the client cancels the call or goes away: a tool that takes long sets it to stop early. */
	onCancel: (() => void) | undefined = undefined;
	#state: "running" | "ended" | "cancelled" = "running";
	readonly #progressToken: RequestId | undefined;
	readonly #timer: CallTimer | undefined;
	#sleepers: readonly Sleeper[] = NO_SLEEPERS;

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
		this.#progressToken = progressToken;
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
		for (const sleeper of this.#wake()) {
			sleeper.reject(new CallCancelled("the call was cancelled"));
		}
		this.onCancel?.();
	}

	/** Marks the call as answered: nothing more is reported of it. */
	end(): void {
		if (this.#state === "running") {
			this.#state = "ended";
		}
		this.#wake();
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
		if (this.#state !== "running") {
			throw new CallCancelled("the call has ended");
		}
		await new Promise<void>((resolve, reject) => {
			const sleeper: Sleeper = { timer: undefined, reject };
			sleeper.timer = timer.set(() => {
				this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
				resolve();
			}, delay);
			this.#sleepers = [...this.#sleepers, sleeper];
		});
	}

	/** Stops every timer, and tells whose they were. */
	#wake(): readonly Sleeper[] {
		const sleepers = this.#sleepers;
		this.#sleepers = NO_SLEEPERS;
		for (const { timer } of sleepers) {
			if (timer !== undefined) {
				this.#timer?.clear(timer);
			}
		}
		return sleepers;
	}

	/**
	 * Tells the client how far the call has come, if it asked to be told:
	 * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress
	 *
	 * @param progress must grow with every report
	 * @param total where progress will end, when that is known
	 */
	progress(progress: number, total?: number, message?: string): void {
		if (this.#state !== "running" || this.#progressToken === undefined) {
			return;
		}
		const params = { progressToken: this.#progressToken, progress, total, message };
		this.session.notify(notificationMessage("notifications/progress", JSON.stringify(params)));
	}
}
