import { isRequestId, RpcError } from "../../../src/mcp_server/json-rpc.js";
import { isObject } from "../../../src/text/is-object.js";
import { DeviceError } from "./errors.js";

export interface RequestOptions {
	/** Milliseconds until the request has failed. */
	readonly timeout: number;
	readonly signal?: AbortSignal | undefined;
}

export interface JsonRpcClientOptions {
	/** Sends one JSON-RPC message. */
	readonly send: (message: object) => void;
	readonly onNotification: (method: string, params: Record<string, unknown>) => void;
	/** What the other side sent that makes no sense. It is dropped. */
	readonly onStray: (description: string) => void;
}

interface Pending {
	resolve(result: unknown): void;
	reject(error: Error): void;
}

/** The client's side of JSON-RPC 2.0: requests and their answers, notifications from the other side. */
export class JsonRpcClient {
	readonly #options: JsonRpcClientOptions;
	readonly #pending = new Map<number, Pending>();
	#lastId = 0;

	constructor(options: JsonRpcClientOptions) {
		this.#options = options;
	}

	/** Requests under way. */
	get pending(): number {
		return this.#pending.size;
	}

	/**
	 * Sends a request; the promise settles with its result.
	 *
	 * Rejects with `RpcError` when the device answers with an error, with `DeviceError` when it does not answer. A
	 * request that is given up is cancelled on the device too (MCP "Cancellation").
	 */
	request(method: string, params: object, { timeout, signal }: RequestOptions): Promise<unknown> {
		this.#lastId += 1;
		const id = this.#lastId;
		return new Promise((resolve, reject) => {
			if (signal?.aborted) {
				reject(new DeviceError("cancelled", `${method} was cancelled`));
				return;
			}
			const giveUp = (error: DeviceError): void => {
				this.#pending.get(id)?.reject(error);
				this.notify("notifications/cancelled", { requestId: id, reason: error.message });
			};
			const onAbort = (): void => giveUp(new DeviceError("cancelled", `${method} was cancelled`));
			const timer = setTimeout(
				() => giveUp(new DeviceError("timeout", `no answer to ${method} within ${timeout} ms`)),
				timeout,
			);
			signal?.addEventListener("abort", onAbort, { once: true });
			const settle = (): void => {
				clearTimeout(timer);
				signal?.removeEventListener("abort", onAbort);
				this.#pending.delete(id);
			};
			this.#pending.set(id, {
				resolve(result) {
					settle();
					resolve(result);
				},
				reject(error) {
					settle();
					reject(error);
				},
			});
			this.#options.send({ jsonrpc: "2.0", id, method, params });
		});
	}

	notify(method: string, params: object): void {
		this.#options.send({ jsonrpc: "2.0", method, params });
	}

	/** Takes one message from the other side. */
	receive(message: unknown): void {
		if (!isObject(message)) {
			this.#options.onStray("a message that is no object");
		} else if (typeof message.method === "string") {
			this.#receiveCall(message.method, message);
		} else {
			this.#settle(message);
		}
	}

	/** Fails every request under way. */
	close(reason: string): void {
		for (const pending of [...this.#pending.values()]) {
			pending.reject(new DeviceError("device-gone", reason));
		}
	}

	#receiveCall(method: string, { id, params }: Record<string, unknown>): void {
		if (id === undefined) {
			this.#options.onNotification(method, isObject(params) ? params : {});
		} else if (isRequestId(id)) {
			const error = { code: -32601, message: `Method not found: ${method}` };
			this.#options.send({ jsonrpc: "2.0", id, error });
		} else {
			this.#options.onStray(`a request ${method} whose id is no id`);
		}
	}

	#settle({ id, result, error }: Record<string, unknown>): void {
		const pending = typeof id === "number" ? this.#pending.get(id) : undefined;
		if (pending === undefined) {
			this.#options.onStray(`an answer to nothing that was asked, id ${JSON.stringify(id)}`);
		} else if (isObject(error) && typeof error.code === "number" && typeof error.message === "string") {
			pending.reject(new RpcError(error.code, error.message, error.data));
		} else if (result !== undefined && error === undefined) {
			pending.resolve(result);
		} else {
			pending.reject(new DeviceError("bad-answer", "the answer holds neither a result nor an error"));
		}
	}
}
