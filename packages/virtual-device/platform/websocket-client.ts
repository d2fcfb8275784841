import type { WebSocketClientOptions } from "../../../src/protocols/websocket-channel.js";
import { receive } from "./bridge.js";
import { clientOf, NetworkClient, type Secure, serve } from "./network-client.js";

interface Part {
	readonly more: boolean;
	readonly binary: boolean;
}

/** Stands in for ECMA-419's WebSocket client. */
export class WebSocketClient extends NetworkClient<Part> {
	readonly #options: WebSocketClientOptions & Secure;

	constructor(options: WebSocketClientOptions & Secure) {
		super("ws", options);
		this.#options = options;
		const { host, port, path, headers, secure } = options;
		const authority = host.includes(":") ? `[${host}]` : host;
		this.tell("open", `${secure ? "wss" : "ws"}://${authority}:${port}${path}`, [...headers]);
	}

	write(
		data: ArrayBuffer | Uint8Array,
		{ opcode, binary = true, more = false }: { opcode?: number; binary?: boolean; more?: boolean } = {},
	): number {
		this.expectRoom(data.byteLength);
		return this.writeBytes(data, opcode ?? (binary ? 2 : 1), more);
	}

	/** @internal A ping, a pong or a close frame. */
	control(opcode: number, data: ArrayBuffer): void {
		this.#options.onControl(opcode, data);
	}
}

serve("ws");
receive("ws.control", ([id, opcode], bytes = new ArrayBuffer(0)) => {
	clientOf<WebSocketClient>(id)?.control(opcode as number, bytes);
});
