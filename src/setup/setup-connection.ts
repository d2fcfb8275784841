import type { TimerModule } from "../hardware/timer.js";
import type { HttpConnection, ServedRequest, ServedResponse } from "../net/http-server.js";
import { ServedExchange } from "../net/served-exchange.js";
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

/** Bytes that the body of a request may have. A longer one is dropped as it arrives. */
const MAX_BYTES = 4_096;

/** Milliseconds for the whole request, and for its answer: a scan takes some seconds. */
const REQUEST_TIME = 10_000;
const ANSWER_TIME = 30_000;

/** Answers a request whose body is a text. */
type Responder = (request: ServedRequest, body: string) => Answer | Promise<Answer>;

/** One connection of a browser, for one request. */
export class SetupConnection extends ServedExchange {
	private readonly respond: Responder;
	private readonly connections: Set<SetupConnection>;
	private request: ServedRequest | undefined;
	/** Parts of the answer, and the first one that waits. */
	private parts: readonly AnswerPart[] = [];
	private next = 0;

	/** @param connections the open connections, of which this one is a member until it ends */
	constructor(connection: HttpConnection, timer: TimerModule, connections: Set<SetupConnection>, respond: Responder) {
		super(connection, timer);
		this.respond = respond;
		this.connections = connections;
		connections.add(this);
		this.limit(REQUEST_TIME);
		this.accept();
	}

	protected override onRequest(request: ServedRequest): void {
		this.request = request;
		const length = Number(request.headers.get("content-length") ?? 0);
		if (length <= MAX_BYTES && !request.headers.has("transfer-encoding")) {
			this.keepBody(length);
		}
	}

	protected override onResponse(response: ServedResponse, body: ArrayBuffer | undefined): void {
		if (this.request !== undefined && !this.isEnded) {
			this.limit(ANSWER_TIME);
			void this.answer(this.request, response, body);
		}
	}

	private async answer(request: ServedRequest, response: ServedResponse, body: ArrayBuffer | undefined): Promise<void> {
		const answer = await this.ask(request, body);
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

	private ask(request: ServedRequest, body: ArrayBuffer | undefined): Answer | Promise<Answer> {
		if (body === undefined) {
			return { status: 413 };
		}
		try {
			return this.respond(request, decodeText(body));
		} catch {
			return { status: 400 };
		}
	}

	protected override onWritable(count: number): void {
		this.setRoom(count);
		while (this.queuedBytes === 0 && !this.isEnded && this.next < this.parts.length) {
			this.next += 1;
			this.push((this.parts[this.next - 1] as AnswerPart).text);
		}
	}

	protected override onEnd(): void {
		this.connections.delete(this);
	}
}
