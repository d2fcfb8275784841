import { type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { Connection, Open, Tell } from "./connections.js";
import { SEND_WINDOW, splitIntoParts } from "./parts.js";

interface OpenOptions {
	readonly host: string;
	readonly port: number;
	readonly secure: boolean;
	readonly method: string;
	readonly path: string;
	/** Bytes of the body that the firmware will write. */
	readonly bodyBytes: number;
}

/** Makes an HTTP request for the firmware, on its own connection. */
export const openHttpRequest: Open = ([options, headers], tell) =>
	new HttpRequest(options as OpenOptions, headers as [string, string][], tell);

class HttpRequest implements Connection {
	readonly #tell: Tell;
	readonly #sent: ClientRequest;
	#response: IncomingMessage | undefined;
	/** Bytes of the body still to come. */
	#remaining: number;

	constructor(options: OpenOptions, headers: readonly [string, string][], tell: Tell) {
		this.#tell = tell;
		const { host, port, secure, method, path, bodyBytes } = options;
		this.#remaining = bodyBytes;
		const make = secure ? requestHttps : requestHttp;
		this.#sent = make({ host, port, method, path, headers: Object.fromEntries(headers), agent: false });
		this.#sent.on("error", (error: NodeJS.ErrnoException) => tell("error", [error.message || error.code]));
		this.#sent.on("response", (response) => this.#receive(response));
		this.#sent.on("socket", (socket) => {
			socket.setNoDelay(true);
			socket.once(secure ? "secureConnect" : "connect", () => tell("writable", [SEND_WINDOW]));
		});
		if (bodyBytes === 0) {
			this.#sent.end();
		}
	}

	write(_args: readonly unknown[], bytes: Uint8Array): void {
		this.#remaining -= bytes.byteLength;
		this.#sent.write(bytes, () => this.#tell("writable", [bytes.byteLength]));
		if (this.#remaining === 0) {
			this.#sent.end();
		}
	}

	pause(): void {
		this.#response?.pause();
	}

	resume(): void {
		this.#response?.resume();
	}

	close(): void {
		this.#sent.destroy();
	}

	destroy(): void {
		this.#sent.destroy();
	}

	#receive(response: IncomingMessage): void {
		this.#response = response;
		const headers = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
		this.#tell("headers", [response.statusCode, headers]);
		response.on("data", (data: Buffer) => {
			for (const [part] of splitIntoParts(data)) {
				this.#tell("data", [null], part);
			}
		});
		response.on("end", () => this.#tell("closed"));
		response.on("error", (error) => this.#tell("error", [error.message]));
	}
}
