import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { Open, Tell } from "./connections.js";
import { SEND_WINDOW, splitIntoParts } from "./connections.js";

interface HttpRequest {
	readonly host: string;
	readonly port: number;
	readonly secure: boolean;
	readonly method: string;
	readonly path: string;
	/** Bytes of the body that the firmware will write. */
	readonly bodyBytes: number;
}

/** Makes an HTTP request for the firmware, on its own connection. */
export const openHttpRequest: Open = ([options, headers], tell) => {
	const { host, port, secure, method, path, bodyBytes } = options as HttpRequest;
	const make = secure ? requestHttps : requestHttp;
	const sent = make({
		host,
		port,
		method,
		path,
		headers: Object.fromEntries(headers as [string, string][]),
		agent: false,
	});
	let remaining = bodyBytes;
	let response: IncomingMessage | undefined;
	sent.on("error", (error: NodeJS.ErrnoException) => tell("error", [error.message || error.code]));
	sent.on("response", (received) => {
		response = received;
		receive(received, tell);
	});
	sent.on("socket", (socket) => {
		socket.setNoDelay(true);
		socket.once(secure ? "secureConnect" : "connect", () => tell("writable", [SEND_WINDOW]));
	});
	if (bodyBytes === 0) {
		sent.end();
	}
	return {
		write(_args, bytes) {
			remaining -= bytes.byteLength;
			sent.write(bytes, () => tell("writable", [bytes.byteLength]));
			if (remaining === 0) {
				sent.end();
			}
		},
		pause: () => response?.pause(),
		resume: () => response?.resume(),
		close: () => sent.destroy(),
		destroy: () => sent.destroy(),
	};
};

function receive(response: IncomingMessage, tell: Tell): void {
	const headers = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
	tell("headers", [response.statusCode, headers]);
	response.on("data", (data: Buffer) => {
		for (const [part] of splitIntoParts(data)) {
			tell("data", [null], part);
		}
	});
	response.on("end", () => tell("closed"));
	response.on("error", (error) => tell("error", [error.message]));
}
