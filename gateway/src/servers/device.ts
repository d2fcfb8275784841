import { EventEmitter } from "node:events";
import { isObject } from "../../../src/text/is-object.js";
import { GATEWAY_INFO } from "../version.js";
import { DeviceError } from "./errors.js";
import { JsonRpcClient, type RequestOptions } from "./json-rpc-client.js";

/** How a device is told apart from others, and what it said of itself. */
export interface DeviceIdentity {
	/** The `Device-Id` header: a MAC address. */
	readonly deviceId: string;
	/** The `Client-Id` header: a UUID. */
	readonly clientId: string;
	/** "websocket" or "mqtt". */
	readonly transport: string;
}

/** The session with a device, whatever carries it. */
export interface DeviceLink {
	readonly identity: DeviceIdentity;
	readonly sessionId: string;
	/** Sends a message of the device protocol. */
	send(message: object): void;
	/** Ends the session. */
	close(reason: string): void;
}

/** A tool as a device lists it. */
export interface DeviceTool {
	readonly name: string;
	readonly description?: string;
	readonly inputSchema: Readonly<Record<string, unknown>>;
	readonly [member: string]: unknown;
}

/** What `tools/call` answers. */
export interface CallResult {
	readonly content: readonly Readonly<Record<string, unknown>>[];
	readonly isError: boolean;
	readonly structuredContent?: Readonly<Record<string, unknown>>;
}

export interface CallOptions {
	/** Milliseconds until the call has failed. Default 30,000. */
	readonly timeout?: number;
	readonly signal?: AbortSignal;
	readonly onProgress?: (progress: Readonly<Record<string, unknown>>) => void;
}

/** What a device answers to `initialize`. */
export interface InitializeResult {
	readonly protocolVersion: string;
	readonly serverInfo: { readonly name: string; readonly version: string };
	readonly [member: string]: unknown;
}

interface Events {
	/** A notification of the device's, progress apart. */
	notification: [method: string, params: Readonly<Record<string, unknown>>];
	/** Something was dropped that made no sense. */
	stray: [description: string];
	/** The session is over. */
	closed: [reason: string];
}

const CALL_TIMEOUT = 30_000;

/** The newest stateful revision. */
const REVISION = "2025-11-25";

/** More pages than any device has: a list that does not end is a fault. */
const MAX_PAGES = 1_000;

/** A device in a session: its tools can be listed and called. */
export class Device extends EventEmitter<Events> {
	readonly #link: DeviceLink;
	readonly #rpc: JsonRpcClient;
	readonly #progress = new Map<number, (progress: Readonly<Record<string, unknown>>) => void>();
	#lastProgressToken = 0;
	#closed = false;

	constructor(link: DeviceLink) {
		super();
		this.#link = link;
		this.#rpc = new JsonRpcClient({
			send: (payload) => this.send({ type: "mcp", payload }),
			onNotification: (method, params) => this.#notified(method, params),
			onStray: (description) => this.emit("stray", description),
		});
	}

	get identity(): DeviceIdentity {
		return this.#link.identity;
	}

	get sessionId(): string {
		return this.#link.sessionId;
	}

	get connected(): boolean {
		return !this.#closed;
	}

	/** Requests under way. */
	get pending(): number {
		return this.#rpc.pending;
	}

	/** MCP's handshake. `capabilities` may hold `vision`. */
	async initialize(capabilities: object = {}): Promise<InitializeResult> {
		const params = { protocolVersion: REVISION, capabilities, clientInfo: GATEWAY_INFO };
		const result = await this.#request("initialize", params);
		if (!isObject(result) || !isObject(result.serverInfo)) {
			throw new DeviceError("bad-answer", "initialize: expected serverInfo");
		}
		this.#rpc.notify("notifications/initialized", {});
		return result as unknown as InitializeResult;
	}

	/** The whole list, page by page. */
	async listTools({ withUserTools = false }: { withUserTools?: boolean } = {}): Promise<DeviceTool[]> {
		const tools: DeviceTool[] = [];
		let cursor = "";
		for (let page = 0; page < MAX_PAGES; page += 1) {
			const result = await this.#request("tools/list", { cursor, ...(withUserTools && { withUserTools }) });
			if (!isObject(result) || !Array.isArray(result.tools) || !result.tools.every(isTool)) {
				throw new DeviceError("bad-answer", "tools/list: expected an array of tools");
			}
			tools.push(...result.tools);
			if (typeof result.nextCursor !== "string" || result.nextCursor === "") {
				return tools;
			}
			cursor = result.nextCursor;
		}
		throw new DeviceError("bad-answer", `tools/list: more than ${MAX_PAGES} pages`);
	}

	/** Calls a tool. A tool that failed is a result with `isError`; what never reached the tool rejects. */
	async callTool(name: string, args: object = {}, options: CallOptions = {}): Promise<CallResult> {
		const { onProgress, timeout = CALL_TIMEOUT, signal } = options;
		this.#lastProgressToken += 1;
		const progressToken = this.#lastProgressToken;
		if (onProgress !== undefined) {
			this.#progress.set(progressToken, onProgress);
		}
		const params = { name, arguments: args, ...(onProgress && { _meta: { progressToken } }) };
		try {
			const result = await this.#request("tools/call", params, { timeout, signal });
			if (!isObject(result) || !Array.isArray(result.content) || !result.content.every(isObject)) {
				throw new DeviceError("bad-answer", "tools/call: expected content");
			}
			return { ...result, content: result.content, isError: result.isError === true };
		} finally {
			this.#progress.delete(progressToken);
		}
	}

	/** Settles when the device has answered. It answers in order, so whatever it said before has arrived by then. */
	async ping({ timeout = CALL_TIMEOUT }: { timeout?: number } = {}): Promise<void> {
		await this.#request("ping", {}, { timeout });
	}

	/** Sends a message of the device protocol: `{type: "tts", state: "start"}`. The session id is added. */
	send(message: { readonly type: string; readonly [member: string]: unknown }): void {
		if (!this.#closed) {
			this.#link.send({ session_id: this.sessionId, ...message });
		}
	}

	/** Ends the session with the device. */
	close(reason = "closed by the gateway"): void {
		if (!this.#closed) {
			this.#link.close(reason);
			this.ended(reason);
		}
	}

	/** @internal A message of the device's, its envelope checked already. */
	receive(payload: unknown): void {
		this.#rpc.receive(payload);
	}

	/** @internal The link is gone. */
	ended(reason: string): void {
		if (!this.#closed) {
			this.#closed = true;
			this.#rpc.close(`${this.identity.deviceId}: ${reason}`);
			this.emit("closed", reason);
		}
	}

	async #request(
		method: string,
		params: object,
		options: RequestOptions = { timeout: CALL_TIMEOUT },
	): Promise<unknown> {
		if (this.#closed) {
			throw new DeviceError("device-gone", `${this.identity.deviceId} is not connected`);
		}
		return await this.#rpc.request(method, params, options);
	}

	#notified(method: string, params: Record<string, unknown>): void {
		if (method === "notifications/progress") {
			this.#progress.get(params.progressToken as number)?.(params);
		} else {
			this.emit("notification", method, params);
		}
	}
}

function isTool(tool: unknown): tool is DeviceTool {
	return isObject(tool) && typeof tool.name === "string" && isObject(tool.inputSchema);
}
