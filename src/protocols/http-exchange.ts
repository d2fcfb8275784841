import { splitUrl, type UrlParts } from "../core/text/url.js";
import type { HttpRequest, HttpResponse, TimerHandle, TimerModule } from "../hardware/hardware.js";
import type { ByteSource } from "../hardware/pictures.js";
import type { HttpClient, HttpClientRequest, HttpClients, HttpRecord } from "./http-client.js";

export interface ExchangeOptions {
	readonly network: HttpClients;
	readonly timer: TimerModule;
	/** The largest response body in bytes, unless the request sets a limit. */
	readonly maxBytes: number;
}

const TIMEOUT = 30_000;

/** Number of polls for progress within the timeout. */
const CHECKS = 3;

/** Maximum duration of a request, in timeouts, and of one whose body is read in pieces. */
const MAX_TIMEOUTS = 4;
const MAX_TIMEOUTS_IN_PIECES = 60;

/**
 * Bytes that may arrive before the body, and between two pieces of it. Limited because the SDK's client buffers an
 * endless header. Over TLS a record arrives whole, with up to 16 KB.
 */
const HEAD_BYTES = 8_192;
const SECURE_HEAD_BYTES = 24_576;

const CUT_OFF = "connection closed before the end of the response";

/** One HTTP request and its response, on a separate connection. */
export class Exchange {
	readonly response: Promise<HttpResponse>;
	private readonly request: HttpRequest;
	private readonly body: readonly (ArrayBuffer | ByteSource)[];
	private readonly maxBytes: number;
	private readonly headBytes: number;
	/** Read by the platform's socket: see `GuardedTCP`. */
	private readonly allowance: { bytes: number };
	private readonly clearTimer: () => void;
	private settle!: { resolve: (response: HttpResponse) => void; reject: (error: Error) => void };
	private client: HttpClient | undefined;
	private isDone = false;
	private status = 0;
	private location: string | undefined;
	/** Whether the server announces the body's length; otherwise the body ends with the connection. */
	private knowsLength = false;
	/** Bytes of the body, if announced. */
	private length: number | undefined;
	private sent: HttpClientRequest | undefined;
	/** Bytes of the body that may be sent now, and the callback that waits for them. */
	private room = 0;
	private onRoom: (() => void) | undefined;
	/** The response's body so far, unless it is read in pieces. */
	private received = new ArrayBuffer(0);
	private checks = 0;
	private checksWithoutProgress = 0;
	/** Whether reading pauses, because the consumer is busy with a piece. */
	private isHeld = false;
	/** Bytes received during the pause, and how the response ended during it: null for success. */
	private unread = 0;
	private heldEnd: Error | null | undefined;

	/** @throws Error if the URL or a header is not valid */
	constructor(request: HttpRequest, { network, timer, maxBytes }: ExchangeOptions) {
		const target = splitUrl(request.url);
		const isSecure = target?.scheme === "https";
		const record = isSecure ? network.https : target?.scheme === "http" ? network.http : undefined;
		if (target === undefined || record === undefined) {
			throw new Error(`${JSON.stringify(request.url)} is not an HTTP URL that this device supports`);
		}
		this.request = request;
		this.body = request.body ?? [];
		this.maxBytes = request.maxBytes ?? maxBytes;
		this.headBytes = isSecure ? SECURE_HEAD_BYTES : HEAD_BYTES;
		this.allowance = { bytes: this.headBytes };
		const headers = this.headers();
		this.response = new Promise((resolve, reject) => {
			this.settle = { resolve, reject };
		});
		const watch: TimerHandle = timer.repeat(() => this.checkProgress(), (request.timeout ?? TIMEOUT) / CHECKS);
		this.clearTimer = () => timer.clear(watch);
		try {
			this.open(record, target, target.port ?? (isSecure ? 443 : 80), headers);
		} catch (error) {
			this.fail((error as Error).message);
		}
		request.onOpen?.(() => this.fail("cancelled"));
	}

	private open(record: HttpRecord, target: UrlParts, port: number, headers: ReadonlyMap<string, string>): void {
		const { host, path } = target;
		const client = new record.io({
			...record,
			host,
			port,
			...(record.socket && { socket: { ...record.socket, allowance: this.allowance } }),
			onError: (error) => this.end(error ?? new Error()),
		});
		this.client = client;
		if (this.isDone) {
			client.close();
			return;
		}
		this.sent = client.request({
			method: this.request.method,
			path,
			headers,
			headersMask: ["content-length", "transfer-encoding", "location"],
			onHeaders: (status, received) => this.begin(status, received),
			onReadable: (count) => this.read(count),
			onWritable: (room) => {
				this.room = room;
				this.onRoom?.();
			},
			onDone: (error) => this.end(error),
		});
		void this.send();
	}

	/** A value may come from the backend; a line break in it would inject a header. */
	private headers(): Map<string, string> {
		const { method, url, headers = new Map<string, string>() } = this.request;
		for (const [name, value] of headers) {
			if (/[\r\n]/.test(name + value)) {
				throw new Error(`${url}: the header ${JSON.stringify(name)} must not contain a line break`);
			}
		}
		const sent = new Map(headers);
		if (method === "POST") {
			sent.set("Content-Length", String(this.body.reduce((bytes, part) => bytes + part.byteLength, 0)));
		}
		return sent;
	}

	private async send(): Promise<void> {
		try {
			for (const part of this.body) {
				for (let at = 0; at < part.byteLength && !this.isDone; ) {
					const count = Math.min(this.room, part.byteLength - at);
					if (count > 0) {
						at += await this.sendPiece(part, at, count);
					} else {
						await new Promise<void>((resolve) => {
							this.onRoom = resolve;
						});
					}
				}
			}
		} catch (error) {
			this.fail((error as Error).message);
		}
	}

	/** @returns the number of bytes sent */
	private async sendPiece(part: ArrayBuffer | ByteSource, at: number, count: number): Promise<number> {
		const piece = part instanceof ArrayBuffer ? new Uint8Array(part, at, count) : await part.read(count);
		this.checksWithoutProgress = 0;
		if (piece.byteLength === 0 || piece.byteLength > count) {
			throw new Error(`${piece.byteLength} bytes of the body were read, expected 1 to ${count}`);
		}
		if (!this.isDone) {
			this.room = this.sent?.write(piece instanceof ArrayBuffer ? new Uint8Array(piece) : piece) ?? 0;
		}
		return piece.byteLength;
	}

	private begin(status: number, headers: ReadonlyMap<string, string>): void {
		this.checksWithoutProgress = 0;
		this.status = status;
		this.location = headers.get("location");
		const length = headers.get("content-length");
		this.knowsLength = length !== undefined || headers.has("transfer-encoding");
		this.length = length === undefined ? undefined : Number(length);
		this.allowance.bytes = this.headBytes;
		if (this.location !== undefined && status >= 300 && status <= 399) {
			// The body of a redirect is text for people, and is not read.
			this.succeed();
		} else if (length !== undefined && !/^[0-9]{1,15}$/.test(length)) {
			this.fail(`content-length: expected a number of bytes, got ${JSON.stringify(length.slice(0, 100))}`);
		} else if (!this.isInPieces && (this.length ?? 0) > this.maxBytes) {
			this.fail(`response of ${length} bytes (limit ${this.maxBytes})`);
		}
	}

	private read(count: number): void {
		if (this.isHeld) {
			this.unread = count;
			return;
		}
		const piece = this.sent?.read(count);
		if (piece === undefined || this.isDone) {
			return;
		}
		this.checksWithoutProgress = 0;
		this.allowance.bytes = this.headBytes;
		if (this.isInPieces) {
			this.handOn(piece);
		} else if (this.received.byteLength + piece.byteLength > this.maxBytes) {
			this.fail(`response longer than ${this.maxBytes} bytes`);
		} else {
			this.received = this.received.concat(piece);
		}
	}

	private handOn(piece: ArrayBuffer): void {
		try {
			const taken = this.request.onPiece?.(piece, this.length);
			if (taken !== undefined) {
				this.isHeld = true;
				// Data that arrives meanwhile stays in the socket, which reports its size repeatedly; nothing else limits it.
				this.allowance.bytes = Number.POSITIVE_INFINITY;
				taken.then(
					() => this.release(),
					(error: Error) => this.fail(error.message),
				);
			}
		} catch (error) {
			this.fail((error as Error).message);
		}
	}

	private release(): void {
		const unread = this.unread;
		this.isHeld = false;
		this.unread = 0;
		this.checksWithoutProgress = 0;
		this.allowance.bytes = this.headBytes;
		if (unread > 0 && !this.isDone) {
			try {
				this.read(unread);
			} catch {
				// The SDK's client throws if the connection is lost with unread bytes.
				this.fail(CUT_OFF);
			}
		}
		if (!this.isHeld && this.heldEnd !== undefined) {
			this.end(this.heldEnd);
		}
	}

	private get isInPieces(): boolean {
		return this.request.onPiece !== undefined && this.status >= 200 && this.status <= 299;
	}

	private checkProgress(): void {
		const { timeout = TIMEOUT } = this.request;
		this.checks += 1;
		this.checksWithoutProgress += this.isHeld ? 0 : 1;
		const longest = this.isInPieces ? MAX_TIMEOUTS_IN_PIECES : MAX_TIMEOUTS;
		if (this.checksWithoutProgress > CHECKS) {
			this.fail(`no progress within ${timeout} ms`);
		} else if (this.checks > CHECKS * longest) {
			this.fail(`not finished within ${longest * timeout} ms`);
		}
	}

	/** The connection is closed, or the response is complete. */
	private end(error: Error | null): void {
		if (this.isDone) {
			return;
		}
		if (this.isHeld) {
			this.heldEnd = error;
			return;
		}
		if (error === null || (this.status !== 0 && !this.knowsLength)) {
			this.succeed();
		} else {
			this.fail(error.message || (this.status === 0 ? "no answer" : CUT_OFF));
		}
	}

	private succeed(): void {
		this.close();
		const { status, location, received: body } = this;
		this.settle.resolve({ status, body, ...(location !== undefined && { location }) });
	}

	private fail(message: string): void {
		if (this.isDone) {
			return;
		}
		this.close();
		this.settle.reject(new Error(`${this.request.url}: ${message}`));
	}

	private close(): void {
		this.isDone = true;
		this.clearTimer();
		this.client?.close();
	}
}
