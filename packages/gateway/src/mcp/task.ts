import { EventEmitter } from "node:events";
import {
	type CallToolResult,
	type ClientCapabilities,
	type InputRequests,
	type InputResponses,
	isInputRequiredResult,
	ProtocolError,
	ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import type { OrInput, Question } from "xs-mcp-manager/core";
import { checkQuestion } from "./asking.js";
import { ANSWER_TIME } from "./client-request.js";

/** Requests for input that one task makes in turn. */
const MAX_ROUNDS = 100;

/** Characters of a status message. */
const MAX_MESSAGE = 1_000;

/** Milliseconds after which a client may ask again. */
const POLL_INTERVAL = 1_000;

type Status = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** How a task has ended. */
type Outcome = { readonly result: CallToolResult } | { readonly error: object } | undefined;

/** The client's input, with which the call is repeated. */
export interface Input {
	readonly inputResponses: InputResponses;
	/** The state that came with the request for input, as the client would send it back. */
	readonly requestState: string | undefined;
}

/** A call of a tool, the first time or with input. */
export type TaskCall = (task: Task, input?: Input) => Promise<OrInput<CallToolResult>>;

/** A question to the client without an answer. */
interface OpenInput {
	/** The server's own key. */
	readonly key: string;
	readonly request: InputRequests[string];
}

interface Events {
	/** The status, its message or the questions have changed. */
	change: [];
}

/** One call of a tool that goes on without its client: a task of SEP-2663. */
export class Task extends EventEmitter<Events> {
	readonly id: string;
	/** Whether the client has its answer: that the call is a task. */
	isAnswered = false;
	/** Bytes of the result as JSON, once there is one. */
	bytes = 0;
	readonly #ttl: number;
	readonly #capabilities: ClientCapabilities;
	readonly #call: TaskCall;
	readonly #controller = new AbortController();
	readonly #created = new Date();
	#updated = this.#created;
	#status: Status = "working";
	#message: string | undefined;
	#outcome: Outcome;
	/** Questions by the key that the client gets, which is unique in the task. */
	readonly #open = new Map<string, OpenInput>();
	#asked = 0;
	#answers: Record<string, InputResponses[string]> = {};
	#onAnswered: () => void = () => {};

	/**
	 * @param ttl milliseconds for which the task is kept, from its creation
	 * @param capabilities whether the client can be asked
	 */
	constructor(id: string, ttl: number, capabilities: ClientCapabilities, call: TaskCall) {
		super();
		// As many as streams of the client follow it.
		this.setMaxListeners(0);
		this.id = id;
		this.#ttl = ttl;
		this.#capabilities = capabilities;
		this.#call = call;
	}

	/** Aborted when the task is cancelled. */
	get signal(): AbortSignal {
		return this.#controller.signal;
	}

	get hasEnded(): boolean {
		return this.#status !== "working" && this.#status !== "input_required";
	}

	/** The task in the answer to the call: without its result and its questions. */
	get summary() {
		return {
			taskId: this.id,
			status: this.#status,
			statusMessage: this.#message,
			createdAt: this.#created.toISOString(),
			lastUpdatedAt: this.#updated.toISOString(),
			ttlMs: this.#ttl,
			pollIntervalMs: POLL_INTERVAL,
		};
	}

	/** The whole task, as `tasks/get` and `notifications/tasks` have it. */
	get details() {
		const requests = [...this.#open].map(([key, { request }]) => [key, request] as const);
		return {
			...this.summary,
			...(this.#status === "input_required" && { inputRequests: Object.fromEntries(requests) }),
			...this.#outcome,
		};
	}

	/** Makes the call for the first time. */
	begin(): Promise<OrInput<CallToolResult>> {
		return this.#call(this);
	}

	/** Follows the call that {@link begin} has made to its end. Never rejects. */
	async follow(first: Promise<OrInput<CallToolResult>>): Promise<void> {
		try {
			let answer = await first;
			for (let rounds = 0; isInputRequiredResult(answer); rounds++) {
				const { inputRequests = {}, requestState } = answer;
				if (rounds === MAX_ROUNDS) {
					throw new ProtocolError(ProtocolErrorCode.InternalError, `more than ${MAX_ROUNDS} requests for input`);
				}
				const inputResponses = await this.#ask(inputRequests);
				answer = await this.#call(this, { inputResponses, requestState });
			}
			// SEP-2663: the result is that of the request, as 2026-07-28 has it.
			this.#end("completed", { result: { ...answer, resultType: "complete" } });
		} catch (error) {
			this.#end("failed", { error: errorOf(error) }, (error as Error).message);
		}
	}

	/** Takes the client's answers. Those to other questions than the open ones are ignored. */
	answer(responses: InputResponses): void {
		for (const [key, response] of Object.entries(responses)) {
			const open = this.#open.get(key);
			if (open !== undefined) {
				this.#open.delete(key);
				this.#answers[open.key] = response;
			}
		}
		if (this.#status === "input_required" && this.#open.size === 0) {
			this.#onAnswered();
		}
	}

	/** The tool has reported its progress. */
	progressed({ progress, total, message }: Readonly<Record<string, unknown>>): void {
		const amount = total === undefined ? `${progress}` : `${progress} of ${total}`;
		this.#set(this.#status, typeof message === "string" && message !== "" ? message : amount);
	}

	/** Ends the call, if it has not ended: it may have been carried out in part. */
	cancel(): void {
		this.#end("cancelled", undefined, "cancelled: it may have been carried out in part");
		this.#controller.abort();
		this.#onAnswered();
	}

	/** Drops the result, which is not kept. */
	dropResult(problem: string): void {
		this.#status = "failed";
		this.#message = problem;
		this.#outcome = { error: { code: ProtocolErrorCode.InternalError, message: problem } };
		this.bytes = 0;
	}

	/** The answers to questions of the server, once the client has given all of them. */
	async #ask(requests: InputRequests): Promise<InputResponses> {
		this.#answers = {};
		for (const [key, request] of Object.entries(requests)) {
			checkQuestion(this.#capabilities, request as Question);
			this.#asked += 1;
			this.#open.set(`input-${this.#asked}`, { key, request });
		}
		if (this.#open.size > 0 && !this.hasEnded) {
			this.#set("input_required", undefined);
			await this.#answered();
			this.#set("working", undefined);
		}
		return this.#answers;
	}

	/** Rejects if the client does not answer in time. */
	async #answered(): Promise<void> {
		let timer: NodeJS.Timeout | undefined;
		try {
			await new Promise<void>((resolve, reject) => {
				this.#onAnswered = resolve;
				const expired = new ProtocolError(
					ProtocolErrorCode.InternalError,
					`the client has not given the input within ${ANSWER_TIME / 1_000} s`,
				);
				timer = setTimeout(() => reject(expired), ANSWER_TIME).unref();
			});
		} finally {
			clearTimeout(timer);
			this.#open.clear();
		}
	}

	#end(status: Status, outcome: Outcome, message?: string): void {
		if (this.hasEnded) {
			return;
		}
		this.#outcome = outcome;
		this.bytes = outcome === undefined ? 0 : Buffer.byteLength(JSON.stringify(outcome));
		this.#set(status, message);
	}

	#set(status: Status, message: string | undefined): void {
		if (this.hasEnded) {
			return;
		}
		this.#status = status;
		this.#message = message?.slice(0, MAX_MESSAGE);
		this.#updated = new Date();
		this.emit("change");
	}
}

function errorOf(error: unknown): object {
	if (!ProtocolError.isInstance(error)) {
		return { code: ProtocolErrorCode.InternalError, message: (error as Error).message };
	}
	const { code, message, data } = error;
	return { code, message, data };
}
