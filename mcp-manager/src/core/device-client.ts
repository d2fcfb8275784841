import {
	type ClientCapabilities,
	type Implementation,
	isSpecType,
	type JSONRPCMessage,
	type JSONRPCResponse,
	LATEST_PROTOCOL_VERSION,
	type Progress,
	ProtocolError,
	ProtocolErrorCode,
	type RequestId,
	type RequestOptions,
	type ServerCapabilities,
} from "@modelcontextprotocol/client";
import * as z from "zod";
import { isObject } from "../firmware.js";
import { ServerError } from "./errors.js";
import { readResult } from "./results.js";
import type { ServerTransport } from "./server-transport.js";

/** A request or a notification. */
export interface McpRequest {
	readonly method: string;
	readonly params?: Record<string, unknown> | undefined;
}

/** The members of the SDK's client that a session uses in every revision. */
export interface McpClient {
	onerror?: ((error: Error) => void) | undefined;
	/** Is called with each notification besides progress and cancellation. */
	fallbackNotificationHandler?: ((notification: McpRequest) => Promise<void>) | undefined;
	/** Sends `initialize`, unless the transport has a session. */
	connect(transport: ServerTransport, options?: RequestOptions): Promise<void>;
	request<Result>(request: McpRequest, schema: z.ZodType<Result>, options?: RequestOptions): Promise<Result>;
	ping(options?: RequestOptions): Promise<unknown>;
	getServerVersion(): Implementation | undefined;
	getServerCapabilities(): ServerCapabilities | undefined;
	getNegotiatedProtocolVersion(): string | undefined;
}

/** A request without an answer. */
interface Pending {
	readonly answered: (message: JSONRPCResponse) => void;
	/** Undefined: its caller wants no progress. */
	readonly progressed: ((progress: Progress) => void) | undefined;
	readonly fail: (error: Error) => void;
}

const INITIALIZE_RESULT = z.custom<InitializeResult>(isSpecType.InitializeResult, "not a valid answer to initialize");

interface InitializeResult {
	readonly protocolVersion: string;
	readonly capabilities: ServerCapabilities;
	readonly serverInfo: Implementation;
}

/**
 * MCP's client for devices, in the revisions with `initialize`: requests, their progress and cancellation, notifications, and
 * answers to ping. Its transport delivers only valid JSON-RPC.
 *
 * Not the SDK's client: that takes three times the memory for each device, and more CPU for each call.
 */
export class DeviceClient implements McpClient {
	onerror: McpClient["onerror"];
	fallbackNotificationHandler: McpClient["fallbackNotificationHandler"];
	readonly #info: Implementation;
	readonly #capabilities: ClientCapabilities;
	readonly #pending = new Map<RequestId, Pending>();
	#transport: ServerTransport | undefined;
	/** Why every further message fails. */
	#closed: ServerError | undefined;
	#lastId = -1;
	#initialized: InitializeResult | undefined;

	constructor(info: Implementation, capabilities: ClientCapabilities) {
		this.#info = info;
		this.#capabilities = capabilities;
	}

	async connect(transport: ServerTransport, options?: RequestOptions): Promise<void> {
		this.#transport = transport;
		const { onmessage, onclose } = transport;
		transport.onmessage = (message) => {
			onmessage?.(message);
			this.#receive(message);
		};
		transport.onclose = () => {
			onclose?.();
			const error = new ServerError("server-disconnected", `${transport.identity.id}: ${transport.closeReason}`);
			this.#closed = error;
			for (const { fail } of this.#pending.values()) {
				fail(error);
			}
		};
		transport.onerror = (error) => this.onerror?.(error);
		await transport.start();
		if (transport.sessionId !== undefined) {
			return;
		}
		try {
			const params = {
				protocolVersion: LATEST_PROTOCOL_VERSION,
				capabilities: this.#capabilities,
				clientInfo: this.#info,
			};
			this.#initialized = await this.request({ method: "initialize", params }, INITIALIZE_RESULT, options);
			await this.#send({ jsonrpc: "2.0", method: "notifications/initialized" });
		} catch (error) {
			void transport.close();
			throw error;
		}
	}

	getServerVersion(): Implementation | undefined {
		return this.#initialized?.serverInfo;
	}

	getServerCapabilities(): ServerCapabilities | undefined {
		return this.#initialized?.capabilities;
	}

	getNegotiatedProtocolVersion(): string | undefined {
		return this.#initialized?.protocolVersion;
	}

	async ping(options?: RequestOptions): Promise<unknown> {
		return await this.request({ method: "ping" }, z.looseObject({}), options);
	}

	/**
	 * Makes a request. Rejects with ProtocolError for an error of the device, and with ServerError "timeout", "cancelled",
	 * "server-disconnected" or "invalid-result", or with the transport's error.
	 */
	request<Result>(request: McpRequest, schema: z.ZodType<Result>, options: RequestOptions = {}): Promise<Result> {
		const { timeout = 0, maxTotalTimeout = Number.POSITIVE_INFINITY, signal, onprogress } = options;
		const { method } = request;
		this.#lastId += 1;
		const id = this.#lastId;
		const end = performance.now() + maxTotalTimeout;
		return new Promise((resolve, reject) => {
			const settle = (): void => {
				this.#pending.delete(id);
				clearTimeout(timer);
				signal?.removeEventListener("abort", abort);
			};
			const fail = (error: Error): void => {
				settle();
				reject(error);
			};
			const cancel = (error: ServerError, reason: string): void => {
				fail(error);
				// `initialize` cannot be cancelled: MCP "Cancellation".
				if (method !== "initialize") {
					this.#tell({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id, reason } });
				}
			};
			const expire = (): void =>
				cancel(new ServerError("timeout", `no answer to ${method} within ${timeout} ms`), "Request timed out");
			const abort = (): void => cancel(new ServerError("cancelled", `${method} was cancelled`), String(signal?.reason));
			let timer = setTimeout(expire, timeout);
			signal?.addEventListener("abort", abort, { once: true });
			this.#pending.set(id, {
				answered: (message) => {
					settle();
					if ("error" in message) {
						reject(ProtocolError.fromError(message.error.code, message.error.message, message.error.data));
						return;
					}
					// The member is of a later revision.
					const { resultType: _, ...result } = isObject(message.result) ? message.result : {};
					const { data, error } = schema.safeParse(readResult(method, result));
					if (error === undefined) {
						resolve(data as Result);
					} else {
						reject(new ServerError("invalid-result", `${method}: ${error.issues[0]?.message}`));
					}
				},
				progressed:
					onprogress &&
					((progress) => {
						clearTimeout(timer);
						timer = setTimeout(expire, Math.min(timeout, end - performance.now()));
						onprogress(progress);
					}),
				fail,
			});
			this.#send(messageOf(id, request, onprogress !== undefined)).catch(fail);
		});
	}

	#receive(message: JSONRPCMessage): void {
		if ("method" in message) {
			if ("id" in message) {
				const { id, method } = message;
				const error = { code: ProtocolErrorCode.MethodNotFound, message: "Method not found" };
				this.#tell({ jsonrpc: "2.0", id, ...(method === "ping" ? { result: {} } : { error }) });
			} else {
				this.#notified(message);
			}
			return;
		}
		const pending = this.#pending.get(message.id as RequestId);
		if (pending === undefined) {
			this.onerror?.(new Error(`answer to an unknown request: ${JSON.stringify(message.id)}`));
		} else {
			pending.answered(message);
		}
	}

	#tell(message: JSONRPCMessage): void {
		this.#send(message).catch((error: Error) => this.onerror?.(error));
	}

	async #send(message: JSONRPCMessage): Promise<void> {
		if (this.#closed !== undefined) {
			throw this.#closed;
		}
		await this.#transport?.send(message);
	}

	#notified(notification: McpRequest): void {
		if (notification.method === "notifications/progress") {
			const isValid = isSpecType.ProgressNotification(notification);
			const { progressToken, ...progress } = isValid ? notification.params : {};
			const { progressed } = this.#pending.get(progressToken as RequestId) ?? {};
			if (progressed === undefined) {
				this.onerror?.(new Error("progress of an unknown request"));
			} else {
				progressed(progress as Progress);
			}
		} else if (notification.method !== "notifications/cancelled") {
			void this.fallbackNotificationHandler?.(notification);
		}
	}
}

function messageOf(id: RequestId, { method, params }: McpRequest, wantsProgress: boolean): JSONRPCMessage {
	if (!wantsProgress) {
		return { jsonrpc: "2.0", id, method, ...(params && { params }) };
	}
	const _meta = { ...(params?._meta as object | undefined), progressToken: id };
	return { jsonrpc: "2.0", id, method, params: { ...params, _meta } };
}
