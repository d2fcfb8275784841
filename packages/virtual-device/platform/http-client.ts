import type { HttpClientOptions, HttpClientRequestOptions } from "../../../src/protocols/http-client.js";
import { receive } from "./bridge.js";
import { clientOf, NetworkClient, type Secure, serve } from "./network-client.js";

/** Stands in for ECMA-419's HTTP client (`embedded:network/http/client`), for one request: Node makes it. */
export class HTTPClient {
	readonly #options: HttpClientOptions & Secure;
	#request: HttpRequest | undefined;

	constructor(options: HttpClientOptions & Secure) {
		this.#options = options;
	}

	request(options: HttpClientRequestOptions): HttpRequest {
		if (this.#request !== undefined) {
			throw new Error("this HTTP client makes only one request");
		}
		this.#request = new HttpRequest(this.#options, options);
		return this.#request;
	}

	close(): void {
		this.#request?.close();
	}
}

class HttpRequest extends NetworkClient<null> {
	readonly #options: HttpClientRequestOptions;
	/** Bytes of the body still to write. */
	#remaining: number;

	constructor({ host, port, secure = false, onError }: HttpClientOptions & Secure, options: HttpClientRequestOptions) {
		super("http", {
			onReadable: (count) => options.onReadable(count),
			onWritable: (count) => {
				if (this.#remaining > 0) {
					options.onWritable(Math.min(count, this.#remaining));
				}
			},
			onClose: () => options.onDone(null),
			onError: (error) => {
				options.onDone(error);
				onError(error);
			},
		});
		this.#options = options;
		const { method, path, headers } = options;
		const [, length] = [...headers].find(([name]) => name.toLowerCase() === "content-length") ?? [];
		this.#remaining = Number(length ?? 0);
		this.tell("open", { host, port, secure, method, path, bodyBytes: this.#remaining }, [...headers]);
	}

	/** Returns 0 once the body is complete, as the SDK does. */
	write(data: Uint8Array): number {
		this.expectRoom(data.byteLength);
		if (data.byteLength > this.#remaining) {
			throw new Error(`${data.byteLength} bytes written where ${this.#remaining} of the body are left`);
		}
		this.#remaining -= data.byteLength;
		return Math.min(this.writeBytes(data), this.#remaining);
	}

	/** @internal As in the SDK: the end is reported when everything was read. */
	override end(error: string | undefined): void {
		this.whenRead(() => super.end(error));
	}

	/** @internal The response begins. */
	begin(status: number, headers: readonly (readonly [string, string])[]): void {
		const { headersMask, onHeaders } = this.#options;
		onHeaders(status, new Map(headers.filter(([name]) => headersMask.includes(name))));
	}
}

serve("http");
receive("http.headers", ([id, status, headers]) => {
	clientOf<HttpRequest>(id)?.begin(status as number, headers as [string, string][]);
});
