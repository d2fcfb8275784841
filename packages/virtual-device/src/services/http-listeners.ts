import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { MAX_HEADERS } from "../../../../src/protocols/net/http-server.js";
import type { Environment } from "../environment.js";
import { SEND_WINDOW, splitIntoParts } from "./connections.js";
import type { Deliver, Service } from "./service.js";

interface Connection {
	readonly socket: Socket;
	/** The firmware's number for it, once it has accepted it. */
	id: number | undefined;
	request: IncomingMessage | undefined;
	response: ServerResponse | undefined;
}

/** Serves HTTP for the firmware: a connection takes one request. */
export class HttpListeners implements Service {
	readonly prefix = "httpd";
	readonly #deliver: Deliver;
	readonly #environment: Environment;
	readonly #servers = new Map<number, Server>();
	/** Connections by socket number, until the firmware accepts them. */
	readonly #waiting = new Map<number, Connection>();
	readonly #accepted = new Map<number, Connection>();
	#lastSocket = 0;

	constructor(deliver: Deliver, environment: Environment) {
		this.#deliver = deliver;
		this.#environment = environment;
	}

	take(kind: string, args: readonly unknown[], bytes: Uint8Array = new Uint8Array(0)): void {
		const id = args[0] as number;
		const connection = this.#accepted.get(id);
		switch (kind) {
			case "listen":
				this.#listen(id, args[1] as number, args[2] as string);
				break;
			case "stop":
				this.#servers.get(id)?.close();
				this.#servers.delete(id);
				break;
			case "accept":
				this.#accept(id, args[1] as number);
				break;
			case "respond":
				this.#respond(id, args[1] as number, args[2] as [string, string][]);
				break;
			case "write":
				connection?.response?.write(bytes, () => this.#tell(id, ["writable", bytes.byteLength]));
				break;
			case "pause":
				connection?.request?.pause();
				break;
			case "resume":
				connection?.request?.resume();
				break;
			case "close":
				this.#close(id);
				break;
		}
	}

	close(): void {
		for (const server of this.#servers.values()) {
			server.close();
		}
		for (const { socket } of [...this.#waiting.values(), ...this.#accepted.values()]) {
			socket.destroy();
		}
		this.#servers.clear();
		this.#waiting.clear();
		this.#accepted.clear();
	}

	#listen(id: number, port: number, address: string): void {
		const connections = new Map<Socket, Connection>();
		// The firmware sets the time-outs of requests.
		const server = createServer({ keepAlive: false, requestTimeout: 0, headersTimeout: 0 });
		this.#servers.set(id, server);
		server.on("error", (error) => {
			this.#deliver({ header: ["httpd.failed", id, error.message] });
			this.#environment.events.emit("listenFailed", error.message);
		});
		server.on("connection", (socket) => {
			const connection: Connection = { socket, id: undefined, request: undefined, response: undefined };
			connections.set(socket, connection);
			socket.setNoDelay(true);
			this.#announce(id, connection, () => connections.delete(socket));
		});
		server.on("request", (request, response) => {
			if (request.rawHeaders.length / 2 > MAX_HEADERS) {
				response.writeHead(431, { connection: "close" }).end();
				return;
			}
			const connection = connections.get(request.socket);
			if (connection !== undefined && connection.request === undefined) {
				connection.request = request;
				connection.response = response;
				this.#begin(connection);
			}
		});
		server.listen(port, address, () => this.#deliver({ header: ["httpd.listening", id] }));
	}

	#announce(server: number, connection: Connection, onClose: () => void): void {
		this.#lastSocket += 1;
		const number = this.#lastSocket;
		this.#waiting.set(number, connection);
		connection.socket.on("close", () => {
			onClose();
			this.#waiting.delete(number);
			if (connection.id !== undefined) {
				this.#tell(connection.id, ["error", "the client has closed the connection"]);
				this.#accepted.delete(connection.id);
			}
		});
		this.#deliver({ header: ["httpd.connection", server, number] });
	}

	/** The client may have closed the connection in the meantime. */
	#accept(id: number, number: number): void {
		const connection = this.#waiting.get(number);
		if (connection === undefined) {
			this.#deliver({ header: ["httpd.error", id, "the client has closed the connection"] });
			return;
		}
		this.#waiting.delete(number);
		connection.id = id;
		this.#accepted.set(id, connection);
		this.#begin(connection);
	}

	/** Forwards the request, once it is complete and the firmware has accepted its connection. */
	#begin({ id, request }: Connection): void {
		if (id === undefined || request === undefined) {
			return;
		}
		const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
		this.#tell(id, ["request", request.method, request.url, headers]);
		let total = 0;
		request.on("data", (data: Buffer) => {
			total += data.byteLength;
			for (const [part] of splitIntoParts(data)) {
				this.#tell(id, ["data", null], part);
			}
		});
		request.on("end", () => this.#tell(id, ["whole", total]));
		// The socket's end reports it, too.
		request.on("error", () => {});
	}

	#respond(id: number, status: number, headers: readonly [string, string][]): void {
		const connection = this.#accepted.get(id);
		if (connection?.response === undefined) {
			// Node does not respond before it has read a head.
			connection?.socket.destroy();
			return;
		}
		connection.response.writeHead(status, Object.fromEntries(headers)).flushHeaders();
		this.#tell(id, ["writable", SEND_WINDOW]);
	}

	/** Written data is still sent. */
	#close(id: number): void {
		const connection = this.#accepted.get(id);
		this.#accepted.delete(id);
		if (connection?.response?.headersSent) {
			connection.response.end();
		} else {
			connection?.socket.destroy();
		}
	}

	#tell(id: number, [kind, ...args]: readonly unknown[], bytes?: Uint8Array): void {
		if (this.#accepted.has(id)) {
			this.#deliver({ header: [`httpd.${kind}`, id, ...args], ...(bytes && { bytes }) });
		}
	}
}
