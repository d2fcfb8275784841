import type {
	HttpConnection,
	HttpConnectionEvents,
	HttpServer,
	HttpServerOptions,
	HttpServerPlatform,
	ServedResponse,
} from "../../src/protocols/http-server.js";

export const GOOD_HEADERS = {
	host: "192.0.2.7:80",
	"content-type": "application/json",
	accept: "application/json, text/event-stream",
};

/** A connection of a client, as ECMA-419's server hands it over. Sends nothing until a test grants it room. */
export class FakeHttpConnection implements HttpConnection {
	events: HttpConnectionEvents | undefined;
	response: ServedResponse | undefined;
	sent = "";
	closed = false;
	#bytes = 0;
	#body: ArrayBuffer | undefined;

	accept(events: HttpConnectionEvents): void {
		this.events = events;
	}

	read(count: number): ArrayBuffer | undefined {
		const piece = this.#body?.slice(0, count);
		this.#body = this.#body?.slice(count);
		return piece;
	}

	respond(response: ServedResponse): void {
		this.response = response;
		this.#finishIfWhole();
	}

	write(data: Uint8Array): number {
		this.sent += String.fromArrayBuffer(Uint8Array.from(data).buffer);
		this.#bytes += data.byteLength;
		this.#finishIfWhole();
		return this.closed ? 0 : 10_000;
	}

	close(): void {
		this.closed = true;
	}

	begin(headers: Readonly<Record<string, string>>, method = "POST", path = "/mcp"): void {
		this.events?.onRequest({ method, path, headers: new Map(Object.entries(headers)) });
	}

	arrive(text: string): void {
		this.#body = ArrayBuffer.fromString(text);
		this.events?.onReadable(this.#body.byteLength);
	}

	end(): void {
		this.events?.onResponse({ status: 200, headers: new Map() });
	}

	post(text: string, headers: Readonly<Record<string, string>> = {}): void {
		const length = String(ArrayBuffer.fromString(text).byteLength);
		this.begin({ ...GOOD_HEADERS, "content-length": length, ...headers });
		this.arrive(text);
		this.end();
	}

	grant(): this {
		if (!this.closed && this.response !== undefined) {
			this.events?.onWritable(10_000);
		}
		return this;
	}

	#finishIfWhole(): void {
		const length = this.response?.headers.get("content-length");
		if (length !== undefined && this.#bytes >= Number(length) && !this.closed) {
			this.closed = true;
			this.events?.onDone();
		}
	}
}

export class FakeHttpPlatform implements HttpServerPlatform {
	readonly address: string;
	isOpen = false;
	#options: HttpServerOptions | undefined;
	readonly #waiting: FakeHttpConnection[] = [];

	constructor(address = "127.0.0.1") {
		this.address = address;
	}

	open(options: HttpServerOptions): HttpServer {
		this.#options = options;
		this.isOpen = true;
		const close = (): void => {
			this.isOpen = false;
		};
		return { resume: () => this.#resume(), close };
	}

	listen(): void {
		this.#options?.onListening();
	}

	connect(): FakeHttpConnection {
		const connection = new FakeHttpConnection();
		this.#waiting.push(connection);
		this.#resume();
		return connection;
	}

	#resume(): void {
		while (this.#waiting.length > 0 && this.#options?.mayConnect?.() !== false) {
			const connection = this.#waiting.shift();
			if (connection !== undefined) {
				this.#options?.onConnect(connection);
			}
		}
	}
}
