import { type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { SEND_WINDOW, splitIntoParts } from "./parts.js";
import type { Deliver, Service } from "./service.js";

interface OpenOptions {
	readonly host: string;
	readonly port: number;
	readonly secure: boolean;
	readonly method: string;
	readonly path: string;
	/** Bytes of the body that the firmware will write. */
	readonly bodyBytes: number;
}

interface Request {
	readonly sent: ClientRequest;
	response: IncomingMessage | undefined;
	/** Bytes of the body still to come. */
	remaining: number;
}

/** Makes HTTP requests for the firmware, each on its own connection. */
export class HttpRequests implements Service {
	readonly prefix = "http";
	readonly #deliver: Deliver;
	readonly #requests = new Map<number, Request>();

	constructor(deliver: Deliver) {
		this.#deliver = deliver;
	}

	take(kind: string, args: readonly unknown[], bytes: Uint8Array = new Uint8Array(0)): void {
		const id = args[0] as number;
		const request = this.#requests.get(id);
		switch (kind) {
			case "open":
				try {
					this.#open(id, args[1] as OpenOptions, args[2] as [string, string][]);
				} catch (error) {
					// Node does not send every path and header that a chip sends.
					this.#deliver({ header: ["http.error", id, (error as Error).message] });
				}
				break;
			case "write":
				if (request !== undefined) {
					this.#write(id, request, bytes);
				}
				break;
			case "pause":
				request?.response?.pause();
				break;
			case "resume":
				request?.response?.resume();
				break;
			case "close":
				this.#requests.delete(id);
				request?.sent.destroy();
				break;
		}
	}

	close(): void {
		for (const { sent } of this.#requests.values()) {
			sent.destroy();
		}
		this.#requests.clear();
	}

	#open(id: number, options: OpenOptions, headers: readonly (readonly [string, string])[]): void {
		const { host, port, secure, method, path, bodyBytes } = options;
		const make = secure ? requestHttps : requestHttp;
		const sent = make({ host, port, method, path, headers: Object.fromEntries(headers), agent: false });
		const request: Request = { sent, response: undefined, remaining: bodyBytes };
		this.#requests.set(id, request);
		sent.on("error", (error: NodeJS.ErrnoException) => this.#end(id, request, "error", error.message || error.code));
		sent.on("response", (response) => this.#receive(id, request, response));
		sent.on("socket", (socket) => {
			socket.setNoDelay(true);
			socket.once(secure ? "secureConnect" : "connect", () => this.#tell(id, request, ["writable", SEND_WINDOW]));
		});
		if (bodyBytes === 0) {
			sent.end();
		}
	}

	#write(id: number, request: Request, bytes: Uint8Array): void {
		request.remaining -= bytes.byteLength;
		request.sent.write(bytes, () => this.#tell(id, request, ["writable", bytes.byteLength]));
		if (request.remaining === 0) {
			request.sent.end();
		}
	}

	#receive(id: number, request: Request, response: IncomingMessage): void {
		request.response = response;
		const headers = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
		this.#tell(id, request, ["headers", response.statusCode, headers]);
		response.on("data", (data: Buffer) => {
			for (const [part] of splitIntoParts(data)) {
				this.#tell(id, request, ["data", null], part);
			}
		});
		response.on("end", () => this.#end(id, request, "closed"));
		response.on("error", (error) => this.#end(id, request, "error", error.message));
	}

	#tell(id: number, request: Request, [kind, ...args]: readonly unknown[], bytes?: Uint8Array): void {
		if (this.#requests.get(id) === request) {
			this.#deliver({ header: [`http.${kind}`, id, ...args], ...(bytes && { bytes }) });
		}
	}

	#end(id: number, request: Request, kind: "closed" | "error", message?: string): void {
		this.#tell(id, request, [kind, message]);
		this.#requests.delete(id);
	}
}
