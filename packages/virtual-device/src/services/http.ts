import {
	createServer,
	type IncomingMessage,
	request as requestHttp,
	type Server,
	type ServerResponse,
} from "node:http";
import { request as requestHttps } from "node:https";
import { MAX_HEADERS } from "xs-mcp-firmware/protocols/http-server";
import type { Environment } from "../environment.js";
import { type Deliver, makeService, type Open, SEND_WINDOW, type Service, splitIntoParts } from "./service.js";

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
		const headers = Object.entries(received.headers).map(([name, value]) => [name, String(value)]);
		tell("headers", [received.statusCode, headers]);
		received.on("data", (data: Buffer) => {
			for (const [part] of splitIntoParts(data)) {
				tell("data", [null], part);
			}
		});
		received.on("end", () => tell("closed"));
		received.on("error", (error) => tell("error", [error.message]));
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

/** Milliseconds for the head of a request, as the firmware has for progress. */
const HEAD_TIMEOUT = 30_000;

interface Exchange {
	readonly request: IncomingMessage;
	readonly response: ServerResponse;
}

/** Serves HTTP for the firmware: a connection takes one request, and is announced once its head has come. */
export function openHttpListeners(deliver: Deliver, { events }: Environment): Service {
	const servers = new Map<number, Server>();
	/** Requests by their numbers until the firmware accepts them, then by the firmware's numbers. */
	const waiting = new Map<number, Exchange>();
	const accepted = new Map<number, Exchange>();
	let lastRequest = 0;

	const tell = (id: number, kind: string, args: readonly unknown[], bytes?: Uint8Array): void => {
		if (accepted.has(id)) {
			deliver({ header: [`httpd.${kind}`, id, ...args], ...(bytes && { bytes }) });
		}
	};

	const handlers = {
		listen([id, port, address]: [number, number, string]) {
			// The firmware sets the time-outs of bodies.
			const server = createServer({ requestTimeout: 0, headersTimeout: HEAD_TIMEOUT });
			servers.set(id, server);
			server.on("error", (error) => {
				deliver({ header: ["httpd.failed", id, error.message] });
				events.emit("listenFailed", error.message);
			});
			server.on("request", (request, response) => {
				if (request.rawHeaders.length / 2 > MAX_HEADERS) {
					response.writeHead(431, { connection: "close" }).end();
					return;
				}
				lastRequest += 1;
				const number = lastRequest;
				waiting.set(number, { request, response });
				request.socket.setNoDelay(true);
				// The response's end reports it, too.
				request.on("error", () => {});
				response.on("close", () => waiting.delete(number));
				deliver({ header: ["httpd.connection", id, number] });
			});
			server.listen(port, address, () => deliver({ header: ["httpd.listening", id] }));
		},
		stop([id]: [number]) {
			servers.get(id)?.close();
			servers.delete(id);
		},
		accept([id, number]: [number, number]) {
			const exchange = waiting.get(number);
			if (exchange === undefined) {
				deliver({ header: ["httpd.error", id, "the client has closed the connection"] });
				return;
			}
			waiting.delete(number);
			accepted.set(id, exchange);
			const { request, response } = exchange;
			response.on("close", () => {
				tell(id, "error", ["the client has closed the connection"]);
				accepted.delete(id);
			});
			const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
			tell(id, "request", [request.method, request.url, headers]);
			let total = 0;
			request.on("data", (data: Buffer) => {
				total += data.byteLength;
				for (const [part] of splitIntoParts(data)) {
					tell(id, "data", [null], part);
				}
			});
			request.on("end", () => tell(id, "whole", [total]));
		},
		respond([id, status, headers]: [number, number, readonly [string, string][]]) {
			accepted.get(id)?.response.writeHead(status, Object.fromEntries(headers)).flushHeaders();
			tell(id, "writable", [SEND_WINDOW]);
		},
		write([id]: [number], bytes: Uint8Array) {
			accepted.get(id)?.response.write(bytes, () => tell(id, "writable", [bytes.byteLength]));
		},
		pause: ([id]: [number]) => accepted.get(id)?.request.pause(),
		resume: ([id]: [number]) => accepted.get(id)?.request.resume(),
		/** Written data is still sent. */
		close([id]: [number]) {
			const { response } = accepted.get(id) ?? {};
			accepted.delete(id);
			if (response?.headersSent) {
				response.end();
			} else {
				response?.destroy();
			}
		},
	};
	return makeService("httpd", handlers, () => {
		waiting.clear();
		accepted.clear();
		for (const server of servers.values()) {
			server.close();
			server.closeAllConnections();
		}
	});
}
