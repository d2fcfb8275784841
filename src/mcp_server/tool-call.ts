import type { Client } from "./client.js";
import { notificationMessage, type RequestId } from "./json-rpc.js";
import type { McpSession } from "./mcp-session.js";

/** Timers for calls that wait: part of Moddable's `timer` module. Milliseconds. */
export interface CallTimer {
	/** Calls back once, after a delay in milliseconds. */
	set(callback: () => void, delay: number): object;
	/** Drops a timer that `set` has returned. Does nothing for undefined. */
	clear(timer: object | undefined): void;
}

/** The longest name of an event, in characters. */
const MAX_EVENT_NAME = 64;

/** The rejection of `sleep` when the call was cancelled. */
export class CallCancelled extends Error {
	/** Declared as a field: an assignment would hit the read-only property of `Error` in flash. */
	override readonly name = "CallCancelled";
}

/**
 * Ends a wait of the call: a `sleep`, or a question to the client.
 *
 * @param reason why, if the call was cancelled; undefined if the call ended without awaiting it
 */
export type StopWaiting = (reason?: Error) => void;

/**
 * One request in progress, as the tool, resource or prompt sees it.
 *
 * Its fields are only declared: defining each takes XS a further function, 3 % of a short call. Most calls neither
 * wait nor end before they are answered, and never have the last three.
 */
export class ToolCall {
	/** The id of the request to answer: changes if the client repeats the request. */
	declare id: RequestId;
	/** The token for progress notifications. It changes with the id. */
	declare progressToken: RequestId | undefined;
	/** The session of the request. */
	declare readonly session: McpSession<unknown>;
	/** Called once if the client cancels the call or disconnects: set by long-running tools to stop early. */
	declare onCancel: (() => void) | undefined;
	/** How it has ended; undefined while it runs. */
	declare private ended: "answered" | "cancelled" | undefined;
	/** Functions that end its waits. */
	declare private waits: readonly StopWaiting[] | undefined;

	constructor(id: RequestId, session: McpSession<unknown>, progressToken: RequestId | undefined) {
		this.id = id;
		this.session = session;
		this.progressToken = progressToken;
	}

	/** The client that calls. */
	get client(): Client {
		return this.session.client;
	}

	/** Whether the call was cancelled. */
	get cancelled(): boolean {
		return this.ended === "cancelled";
	}

	/** Marks the call as cancelled: its result will not be sent (MCP 2025-11-25, basic/utilities/cancellation). */
	cancel(): void {
		if (this.finish(new CallCancelled("the call was cancelled"))) {
			this.onCancel?.();
		}
	}

	/** Marks the call as answered: its progress is no longer reported. */
	end(): void {
		this.finish();
	}

	/**
	 * @param reason if the call is cancelled
	 * @returns whether the call was running
	 */
	private finish(reason?: Error): boolean {
		if (this.ended !== undefined) {
			return false;
		}
		this.ended = reason === undefined ? "answered" : "cancelled";
		for (const stop of this.waits ?? []) {
			stop(reason);
		}
		this.waits = undefined;
		return true;
	}

	/**
	 * Waits without blocking.
	 *
	 * @example
	 * lamp.on = true;
	 * await call.sleep(500);
	 * lamp.on = false;
	 *
	 * @param delay milliseconds, at least 0
	 * @throws CallCancelled as soon as the call is cancelled; uncaught, it ends the tool
	 * @throws RangeError for a negative delay, or one that is not a number
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
	 * Starts to wait for something.
	 *
	 * @param stop called once when the call ends, unless {@link endWaiting} was called
	 * @throws CallCancelled if the call has ended
	 */
	startWaiting(stop: StopWaiting): void {
		if (this.ended !== undefined) {
			throw new CallCancelled("the call has ended");
		}
		this.waits = [...(this.waits ?? []), stop];
	}

	/** Ends a wait that {@link startWaiting} started. */
	endWaiting(stop: StopWaiting): void {
		this.waits = this.waits?.filter((other) => other !== stop);
	}

	/**
	 * Reports the call's progress, if the client asked for it:
	 * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress
	 *
	 * @param progress must increase with every report
	 * @param total the final value, if known
	 */
	progress(progress: number, total?: number, message?: string): void {
		const { progressToken } = this;
		if (this.ended !== undefined || progressToken === undefined) {
			return;
		}
		this.session.notify(notificationMessage("notifications/progress", { progressToken, progress, total, message }));
	}

	/**
	 * Reports an event. Also works after the call's answer, as long as its session lasts. Clients of the gateway
	 * get the event `device.event`: docs/gateway/events.md.
	 *
	 * @example
	 * call.emit("tank.empty", { litres: 0 });
	 *
	 * @param name 1 to 64 characters
	 * @param data JSON; the gateway accepts 1,024 characters including the name
	 * @throws RangeError for a name of another length
	 */
	emit(name: string, data?: object): void {
		if (name.length < 1 || name.length > MAX_EVENT_NAME) {
			throw new RangeError(`emit: expected a name of 1 to ${MAX_EVENT_NAME} characters, got ${name.length}`);
		}
		this.session.notify(notificationMessage("notifications/event", { name, data }));
	}
}

/** Cancels calls. A tool that fails to stop must not end the session. */
export const cancelCalls = (calls: readonly ToolCall[], log: (message: string) => void): void => {
	for (const call of calls) {
		try {
			call.cancel();
		} catch (error) {
			log(`call ${JSON.stringify(call.id)}: failed to cancel: ${String(error)}`);
		}
	}
};
