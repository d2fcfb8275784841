import {
	createServer,
	type IncomingMessage,
	request as requestHttp,
	type Server,
	type ServerResponse,
} from "node:http";
import { request as requestHttps } from "node:https";
import type { Socket } from "node:net";
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

interface Connection {
	readonly socket: Socket;
	/** The firmware's number for it, once it has accepted it. */
	id?: number;
	request?: IncomingMessage;
	response?: ServerResponse;
}

/** Serves HTTP for the firmware: a connection takes one request. */
export function openHttpListeners(deliver: Deliver, { events }: Environment): Service {
	const servers = new Map<number, Server>();
	/** Connections by socket number, until the firmware accepts them. */
	const waiting = new Map<number, Connection>();
	const accepted = new Map<number, Connection>();
	let lastSocket = 0;

	const tell = (id: number, kind: string, args: readonly unknown[], bytes?: Uint8Array): void => {
		if (accepted.has(id)) {
			deliver({ header: [`httpd.${kind}`, id, ...args], ...(bytes && { bytes }) });
		}
	};

	/** Forwards the request, once it is complete and the firmware has accepted its connection. */
	const forward = ({ id, request }: Connection): void => {
		if (id === undefined || request === undefined) {
			return;
		}
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
		// The socket's end reports it, too.
		request.on("error", () => {});
	};

	const listen = (id: number, port: number, address: string): void => {
		const connections = new Map<Socket, Connection>();
		// The firmware sets the time-outs of requests.
		const server = createServer({ keepAlive: false, requestTimeout: 0, headersTimeout: 0 });
		servers.set(id, server);
		server.on("error", (error) => {
			deliver({ header: ["httpd.failed", id, error.message] });
			events.emit("listenFailed", error.message);
		});
		server.on("connection", (socket) => {
			lastSocket += 1;
			const number = lastSocket;
			const connection: Connection = { socket };
			connections.set(socket, connection);
			waiting.set(number, connection);
			socket.setNoDelay(true);
			socket.on("close", () => {
				connections.delete(socket);
				waiting.delete(number);
				if (connection.id !== undefined) {
					tell(connection.id, "error", ["the client has closed the connection"]);
					accepted.delete(connection.id);
				}
			});
			deliver({ header: ["httpd.connection", id, number] });
		});
		server.on("request", (request, response) => {
			if (request.rawHeaders.length / 2 > MAX_HEADERS) {
				response.writeHead(431, { connection: "close" }).end();
				return;
			}
			const connection = connections.get(request.socket);
			if (connection !== undefined && connection.request === undefined) {
				Object.assign(connection, { request, response });
				forward(connection);
			}
		});
		server.listen(port, address, () => deliver({ header: ["httpd.listening", id] }));
	};

	const handlers = {
		listen: (args: [id: number, port: number, address: string]) => listen(...args),
		stop([id]: [number]) {
			servers.get(id)?.close();
			servers.delete(id);
		},
		accept([id, number]: [number, number]) {
			const connection = waiting.get(number);
			if (connection === undefined) {
				deliver({ header: ["httpd.error", id, "the client has closed the connection"] });
				return;
			}
			waiting.delete(number);
			connection.id = id;
			accepted.set(id, connection);
			forward(connection);
		},
		respond([id, status, headers]: [number, number, readonly [string, string][]]) {
			const connection = accepted.get(id);
			if (connection?.response === undefined) {
				// Node does not respond before it has read a head.
				connection?.socket.destroy();
				return;
			}
			connection.response.writeHead(status, Object.fromEntries(headers)).flushHeaders();
			tell(id, "writable", [SEND_WINDOW]);
		},
		write([id]: [number], bytes: Uint8Array) {
			accepted.get(id)?.response?.write(bytes, () => tell(id, "writable", [bytes.byteLength]));
		},
		pause: ([id]: [number]) => accepted.get(id)?.request?.pause(),
		resume: ([id]: [number]) => accepted.get(id)?.request?.resume(),
		/** Written data is still sent. */
		close([id]: [number]) {
			const connection = accepted.get(id);
			accepted.delete(id);
			if (connection?.response?.headersSent) {
				connection.response.end();
			} else {
				connection?.socket.destroy();
			}
		},
	};
	return makeService("httpd", handlers, () => {
		for (const server of servers.values()) {
			server.close();
		}
		for (const { socket } of [...waiting.values(), ...accepted.values()]) {
			socket.destroy();
		}
		servers.clear();
		waiting.clear();
		accepted.clear();
	});
}
