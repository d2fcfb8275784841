import type { HttpConnectionEvents, HttpServerOptions, ServedResponse } from "src/protocols/http-server";
import { boot, forget, register, send } from "./bridge.js";
import { NetworkClient } from "./network-client.js";

/** Stands in for a connection of ECMA-419's HTTP server (`embedded:network/http/server`): one request, one response. */
class HttpConnection extends NetworkClient<null> {
	readonly #socket: number;
	#events: HttpConnectionEvents | undefined;
	/** Bytes of the request's body still to read, once Node has them all; negative until then. */
	#unread = 0;
	#isWhole = false;
	/** Bytes of the response still to write; undefined if it ends with the connection. */
	#remaining: number | undefined;

	/** @param socket the connection's number in Node */
	constructor(socket: number) {
		super("httpd", {
			onReadable: (count) => this.#events?.onReadable(count),
			onWritable: (count) => this.#offer(count),
			onError: (error) => this.#events?.onError(error),
		});
		this.#socket = socket;
	}

	/** Accepts the request, which Node keeps until then. */
	accept(events: HttpConnectionEvents): void {
		this.#events = events;
		this.tell("accept", this.#socket);
	}

	override close(): void {
		if (this.#events === undefined && this.isOpen) {
			this.tell("accept", this.#socket);
		}
		super.close();
	}

	override read(count: number): ArrayBuffer | undefined {
		const piece = super.read(count);
		this.#unread -= piece?.byteLength ?? 0;
		this.#respondIfWhole();
		return piece;
	}

	respond({ status, headers }: ServedResponse): void {
		const length = headers.get("content-length");
		this.#remaining = length === undefined ? undefined : Number(length);
		this.tell("respond", status, [...headers]);
		this.#finishIfWhole();
	}

	write(data: Uint8Array): number {
		this.expectRoom(data.byteLength);
		if (this.#remaining !== undefined) {
			this.#remaining = this.expectRest(data.byteLength, this.#remaining);
		}
		const room = this.writeBytes(data);
		return this.#finishIfWhole() ? 0 : room;
	}

	/** @internal The head of the request. */
	request(method: string, path: string, headers: [string, string][]): void {
		this.#events?.onRequest({ method, path, headers: new Map(headers) });
	}

	/** @internal The request is complete: its body has this many bytes. */
	whole(bytes: number): void {
		this.#isWhole = true;
		this.#unread += bytes;
		this.#respondIfWhole();
	}

	#respondIfWhole(): void {
		if (this.#isWhole && this.#unread === 0 && this.isOpen) {
			this.#isWhole = false;
			this.#events?.onResponse({ status: 200, headers: new Map() });
		}
	}

	#offer(count: number): void {
		if (this.#remaining !== 0) {
			this.#events?.onWritable(Math.min(count, this.#remaining ?? count));
		}
	}

	/** Closes the connection after a complete response, as the SDK does. */
	#finishIfWhole(): boolean {
		if (this.#remaining === 0) {
			this.close();
			this.#events?.onDone();
		}
		return this.#remaining === 0;
	}
}

/** Maximum number of waiting connections, as on a chip. */
const MAX_PENDING = 8;

class HttpServer {
	readonly #id: number;
	readonly #options: HttpServerOptions;
	/** Node's numbers of the waiting connections. */
	readonly #waiting: number[] = [];

	constructor(options: HttpServerOptions, address: string) {
		this.#id = register(this);
		this.#options = options;
		send(["httpd.listen", this.#id, options.port, address]);
	}

	/** @internal */
	listening(): void {
		this.#options.onListening();
	}

	/** @internal */
	failed(message: string): void {
		this.#options.onError?.(new Error(message));
	}

	/** @internal Someone has connected. */
	connection(socket: number): void {
		if (this.#waiting.length < MAX_PENDING) {
			this.#waiting.push(socket);
			this.resume();
		} else {
			new HttpConnection(socket).close();
		}
	}

	resume(): void {
		const { mayConnect, onConnect } = this.#options;
		while (this.#waiting.length > 0 && mayConnect?.() !== false) {
			const socket = this.#waiting.shift();
			if (socket !== undefined) {
				onConnect(new HttpConnection(socket));
			}
		}
	}

	close(): void {
		forget(this.#id);
		send(["httpd.stop", this.#id]);
	}
}

/** The virtual device's HTTP server: Node's, on the loopback address, unless the setting `httpAddress` names another. */
const { httpAddress = "127.0.0.1" } = boot.config;
export const httpServer = {
	address: String(httpAddress),
	open: (options: HttpServerOptions): HttpServer => new HttpServer(options, String(httpAddress)),
};
