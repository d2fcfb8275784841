import { makeHttp } from "../../src/features/http.js";
import type { HttpRequest } from "../../src/hardware/hardware.js";
import type {
	HttpClient,
	HttpClientOptions,
	HttpClientRequest,
	HttpClientRequestOptions,
} from "../../src/protocols/http-client.js";
import { outcomeOf } from "../harness.js";
import { FakeTimer } from "./fake-timer.js";

export function openHttp(maxBytes = 100) {
	const timer = new FakeTimer();
	const record = { io: FakeHttpClient, socket: { nodelay: true } };
	const http = makeHttp({ network: { http: record, https: record }, timer, maxBytes });
	const ask = (request: Partial<HttpRequest> = {}) => {
		const made = FakeHttpClient.made.length;
		const end = outcomeOf(http.request({ method: "GET", url: "http://host/path", ...request }));
		const client = FakeHttpClient.made[made] as FakeHttpClient;
		return { client, end, timer, isMade: FakeHttpClient.made.length > made };
	};
	return { timer, ask };
}

export class FakeHttpClient implements HttpClient {
	static readonly made: FakeHttpClient[] = [];
	readonly options: HttpClientOptions & { readonly socket?: { readonly allowance?: { bytes: number } } };
	sent!: HttpClientRequestOptions;
	readonly written: Uint8Array[] = [];
	closed = false;
	#room = 0;
	#unread = "";
	#isLost = false;

	constructor(options: HttpClientOptions) {
		this.options = options;
		FakeHttpClient.made.push(this);
	}

	request(options: HttpClientRequestOptions): HttpClientRequest {
		this.sent = options;
		return {
			read: (count) => {
				if (this.#isLost) {
					throw new TypeError("cannot coerce undefined to object");
				}
				const text = this.#unread.slice(0, count);
				this.#unread = this.#unread.slice(count);
				return text === "" ? undefined : ArrayBuffer.fromString(text);
			},
			write: (data) => {
				if (this.closed || data.byteLength > this.#room) {
					throw new Error(`${data.byteLength} bytes written where ${this.#room} may be`);
				}
				this.#room -= data.byteLength;
				this.written.push(data);
				return this.#room;
			},
		};
	}

	close(): void {
		this.closed = true;
	}

	grant(room: number): void {
		this.#room = room;
		this.sent.onWritable(room);
	}

	begin(status: number, headers: Readonly<Record<string, string>> = {}): void {
		this.sent.onHeaders(status, new Map(Object.entries(headers)));
	}

	/** Behaves like the SDK's client, which reports the number of unread bytes. ASCII only. */
	arrive(text: string): void {
		if (!this.closed) {
			this.#unread += text;
			this.sent.onReadable(this.#unread.length);
		}
	}

	answer(status: number, text: string): void {
		this.begin(status, { "content-length": String(text.length) });
		this.arrive(text);
		this.sent.onDone(null);
	}

	/** Behaves like the SDK's client: calls both handlers, without a reason for the request. Unread bytes are lost. */
	fail(): void {
		this.#isLost = true;
		this.sent.onDone(new Error());
		this.options.onError();
	}
}
