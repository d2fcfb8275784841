import type { TimerHandle, TimerModule } from "../hardware/timer.js";
import type { HttpConnection, ServedRequest, ServedResponse } from "../net/http-server.js";
import { decodeText } from "../text/message-assembler.js";
import { utf8Length } from "../text/utf8.js";

/** A part of a response body. Its length is computed once, the page's at link time: computing it makes much garbage. */
export interface AnswerPart {
	readonly text: string;
	/** Length of the text in UTF-8. */
	readonly bytes: number;
}

export const answerPart = (text: string): AnswerPart => ({ text, bytes: utf8Length(text) });

/** The answer to a request. */
export interface Answer {
	readonly status: number;
	readonly headers?: readonly (readonly [name: string, value: string])[];
	/** The body. Each part is turned into bytes only when it is sent. */
	readonly parts?: readonly AnswerPart[];
}

interface SetupConnectionOptions {
	/** Answers a request whose body is a text. */
	readonly answer: (request: ServedRequest, body: string) => Answer | Promise<Answer>;
	readonly timer: TimerModule;
	readonly onEnd: () => void;
}

/** Bytes that the body of a request may have. A longer one is dropped as it arrives. */
const MAX_BYTES = 4_096;

/** Milliseconds for the whole request, and for its answer: a scan takes some seconds. */
const REQUEST_TIME = 10_000;
const ANSWER_TIME = 30_000;

/** One connection of a browser, for one request. */
export class SetupConnection {
	private readonly connection: HttpConnection;
	private readonly options: SetupConnectionOptions;
	private timer: TimerHandle | undefined;
	private request: ServedRequest | undefined;
	private body: Uint8Array | undefined;
	private received = 0;
	/** Parts of the answer that wait, and the one being sent. */
	private parts: readonly AnswerPart[] = [];
	private next = 0;
	private part = new Uint8Array(0);
	private isEnded = false;

	constructor(connection: HttpConnection, options: SetupConnectionOptions) {
		this.connection = connection;
		this.options = options;
		this.limit(REQUEST_TIME);
		connection.accept({
			onRequest: (request) => this.begin(request),
			onReadable: (count) => this.take(connection.read(count)),
			onResponse: (response) => void this.answer(response),
			onWritable: (count) => this.write(count),
			onDone: () => this.release(),
			onError: () => this.release(),
		});
	}

	close(): void {
		if (!this.isEnded) {
			this.release();
			this.connection.close();
		}
	}

	private limit(time: number): void {
		this.options.timer.clear(this.timer);
		this.timer = this.options.timer.set(() => {
			this.timer = undefined;
			this.close();
		}, time);
	}

	private begin(request: ServedRequest): void {
		this.request = request;
		const length = Number(request.headers.get("content-length") ?? 0);
		if (length <= MAX_BYTES && !request.headers.has("transfer-encoding")) {
			this.body = new Uint8Array(length);
		}
	}

	private take(piece: ArrayBuffer | undefined): void {
		if (piece !== undefined && this.body !== undefined) {
			this.body.set(new Uint8Array(piece), this.received);
			this.received += piece.byteLength;
		}
	}

	private async answer(response: ServedResponse): Promise<void> {
		if (this.request === undefined || this.isEnded) {
			return;
		}
		this.limit(ANSWER_TIME);
		const answer = await this.ask(this.request, this.body);
		if (this.isEnded) {
			return;
		}
		this.parts = answer.parts ?? [];
		response.status = answer.status;
		for (const [name, value] of answer.headers ?? []) {
			response.headers.set(name, value);
		}
		response.headers.set("connection", "close");
		response.headers.set("content-length", String(this.parts.reduce((sum, { bytes }) => sum + bytes, 0)));
		try {
			this.connection.respond(response);
		} catch {
			this.close();
		}
	}

	private ask(request: ServedRequest, body: Uint8Array | undefined): Answer | Promise<Answer> {
		this.body = undefined;
		if (body === undefined) {
			return { status: 413 };
		}
		try {
			return this.options.answer(request, decodeText(body.buffer as ArrayBuffer));
		} catch {
			return { status: 400 };
		}
	}

	private write(count: number): void {
		let room = count;
		while (room > 0 && !this.isEnded) {
			if (this.part.length === 0) {
				const part = this.parts[this.next];
				if (part === undefined) {
					return;
				}
				this.next += 1;
				this.part = new Uint8Array(ArrayBuffer.fromString(part.text));
			}
			const piece = this.part.subarray(0, room);
			this.part = this.part.subarray(piece.length);
			room = this.connection.write(piece);
		}
	}

	private release(): void {
		if (!this.isEnded) {
			this.isEnded = true;
			this.options.timer.clear(this.timer);
			this.options.onEnd();
		}
	}
}
