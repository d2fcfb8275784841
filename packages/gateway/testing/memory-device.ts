import { DeviceConnection } from "../src/devices/device-connection.js";

interface MemoryDeviceOptions {
	readonly id: string;
	readonly board?: string;
	readonly tools: readonly object[];
}

/** A device with these tools, at the other end of a connection in memory: for tests with thousands. */
export class MemoryDevice extends DeviceConnection {
	readonly #results: Record<string, object>;

	constructor({ id, board = "lamp", tools }: MemoryDeviceOptions) {
		const link = { write: (text: string) => this.#answer(text), disconnect() {} };
		super({ id, clientId: id, transport: "memory" }, { maxMessageBytes: 65_536 }, link);
		this.#results = {
			initialize: { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: board, version: "1" } },
			"tools/list": { tools },
			"tools/call": { content: [{ type: "text", text: "true" }], isError: false },
		};
	}

	changeTools(tools: readonly object[]): void {
		this.#results["tools/list"] = { tools };
		this.receive({ type: "mcp", payload: { jsonrpc: "2.0", method: "notifications/tools/list_changed" } });
	}

	#answer(text: string): void {
		const { id, method } = JSON.parse(text).payload as { id?: number; method: string };
		if (id !== undefined) {
			// As of a message over a wire, every answer has objects of its own.
			const result = JSON.stringify(this.#results[method]);
			queueMicrotask(() => this.receive({ type: "mcp", payload: { jsonrpc: "2.0", id, result: JSON.parse(result) } }));
		}
	}
}
