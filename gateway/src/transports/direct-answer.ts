import type { ServerResponse } from "node:http";
import type { Transport } from "@modelcontextprotocol/server";
import { ClientServer, type ClientServerOptions } from "../mcp/client-server.js";
import { textOf } from "./message-text.js";

/** The MCP server for one request of 2026-07-28. */
export class RequestServer extends ClientServer {
	readonly #response: ServerResponse;

	constructor(options: ClientServerOptions, response: ServerResponse) {
		super(options);
		this.#response = response;
	}

	override async connect(transport: Transport): Promise<void> {
		answerDirectly(transport, this.#response);
		await super.connect(transport);
	}
}

/**
 * Has the SDK's transport for one request write a result to Node's response if nothing precedes it. The SDK would make a web
 * Response of it, with a stream that is read again: a fifth of the CPU of a call. Its own Response is never made then.
 */
function answerDirectly(transport: Transport, response: ServerResponse): void {
	const send = transport.send.bind(transport);
	let isStream = false;
	let isAnswered = false;
	transport.send = async (message, options) => {
		if (isAnswered) {
			return;
		}
		if (isStream || !("result" in message)) {
			isStream = true;
			await send(message, options);
			return;
		}
		isAnswered = true;
		if (!response.destroyed) {
			const text = textOf(message);
			response.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) });
			response.end(text);
		}
		queueMicrotask(() => transport.onclose?.());
	};
}
