import {
	isJSONRPCRequest,
	type JSONRPCMessage,
	SdkHttpError,
	type SSEClientTransport,
	type StreamableHTTPClientTransport,
	type Transport,
} from "@modelcontextprotocol/client";

type SendOptions = Parameters<StreamableHTTPClientTransport["send"]>[1];

/** With these a server that has only SSE rejects `initialize` (MCP 2025-11-25, Transports, "Backwards Compatibility"). */
const NOT_STREAMABLE: ReadonlySet<number> = new Set([400, 404, 405]);

/** Streamable HTTP, or SSE if the server has nothing else, which its URL does not show. */
export class HttpOrSseTransport implements Transport {
	onmessage?: Transport["onmessage"];
	onclose?: () => void;
	onerror?: (error: Error) => void;
	readonly #http: StreamableHTTPClientTransport;
	readonly #openSse: () => SSEClientTransport;
	/** Also while it is being opened. */
	#sse: SSEClientTransport | undefined;
	#isSse = false;

	constructor(http: StreamableHTTPClientTransport, openSse: () => SSEClientTransport) {
		this.#http = http;
		this.#openSse = openSse;
	}

	/** Whether it has fallen back to SSE. */
	get isSse(): boolean {
		return this.#isSse;
	}

	/** Of Streamable HTTP: the SDK cancels a request of 2026-07-28 by it. */
	get hasPerRequestStream(): boolean {
		return !this.#isSse && this.#http.hasPerRequestStream;
	}

	async start(): Promise<void> {
		this.#follow(this.#http);
		await this.#http.start();
	}

	async send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
		if (this.#isSse) {
			await this.#sse?.send(message);
			return;
		}
		try {
			await this.#http.send(message, options);
		} catch (error) {
			const isRejected = error instanceof SdkHttpError && NOT_STREAMABLE.has(error.status);
			if (!isJSONRPCRequest(message) || message.method !== "initialize" || !isRejected) {
				throw error;
			}
			await this.#fallBack(error);
			await this.#sse?.send(message);
		}
	}

	setProtocolVersion(version: string): void {
		(this.#isSse ? this.#sse : this.#http)?.setProtocolVersion(version);
	}

	/** Tells a server over Streamable HTTP that the session is over. */
	async terminateSession(): Promise<void> {
		await (this.#isSse || this.#http.terminateSession());
	}

	async close(): Promise<void> {
		await Promise.all([this.#sse?.close(), this.#isSse || this.#http.close()]);
	}

	/** Rejects with the error of Streamable HTTP if SSE is not what the server has, either. */
	async #fallBack(error: unknown): Promise<void> {
		const sse = this.#openSse();
		this.#sse = sse;
		try {
			await sse.start();
		} catch {
			throw error;
		}
		this.#http.onclose = () => {};
		void this.#http.close();
		this.#isSse = true;
		this.#follow(sse);
	}

	#follow(transport: Transport): void {
		transport.onmessage = (message, extra) => this.onmessage?.(message, extra);
		transport.onclose = () => this.onclose?.();
		transport.onerror = (error) => this.onerror?.(error);
	}
}
