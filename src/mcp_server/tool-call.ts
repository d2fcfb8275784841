import type { RequestId } from "./json-rpc.js";
import { notificationMessage } from "./json-rpc.js";

/** Where a camera uploads its pictures: the vendor capability `vision` of xiaozhi backends. */
export interface Vision {
	/** http or https. */
	readonly url: string;
	/** Bearer token; empty when there is none. */
	readonly token: string;
}

/** What the client said of itself in `initialize`. */
export interface Client {
	readonly name?: string;
	readonly version?: string;
	readonly capabilities: Readonly<Record<string, unknown>>;
	readonly vision?: Vision;
}

/** One `tools/call` under way, as the tool sees it. */
export class ToolCall {
	readonly id: RequestId;
	/** The client that calls. */
	readonly client: Client;
	/** Called once if the client cancels the call or goes away: a tool that takes long sets it to stop early. */
	onCancel: (() => void) | undefined = undefined;
	#cancelled = false;
	#ended = false;
	readonly #send: (message: string) => void;
	readonly #progressToken: RequestId | undefined;

	constructor(id: RequestId, client: Client, progressToken: RequestId | undefined, send: (message: string) => void) {
		this.id = id;
		this.client = client;
		this.#progressToken = progressToken;
		this.#send = send;
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
		if (this.#ended) {
			return;
		}
		this.#ended = true;
		this.#cancelled = true;
		this.onCancel?.();
	}

	/** Marks the call as answered: nothing more is reported of it. */
	end(): void {
		this.#ended = true;
	}

	/**
	 * Tells the client how far the call has come, if it asked to be told:
	 * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress
	 *
	 * @param progress must grow with every report
	 * @param total where progress will end, when that is known
	 */
	progress(progress: number, total?: number, message?: string): void {
		if (this.#ended || this.#progressToken === undefined) {
			return;
		}
		const params = { progressToken: this.#progressToken, progress, total, message };
		this.#send(notificationMessage("notifications/progress", JSON.stringify(params)));
	}
}
