import { randomBytes, randomUUID } from "node:crypto";
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
import type { Catalog } from "../catalog/catalog.js";
import { checkQuestion } from "./asking.js";
import { ANSWER_TIME } from "./client-request.js";

/** Tasks in all, and those with one token or, together, of all clients without one. */
const MAX_TASKS = 1_000;
const MAX_TASKS_OF_CLIENT = 100;

/** Bytes of a result that is kept, and of all of them. */
const MAX_RESULT_BYTES = 8_000_000;
const MAX_KEPT_BYTES = 64_000_000;

/** A client, as tasks are bound to it: its token, and the only server if it uses the path of one. */
export type TaskClient = Pick<Catalog, "access" | "server">;

type Kept = { readonly task: Task; readonly client: TaskClient; readonly timer: NodeJS.Timeout };

/** The tasks of all clients. */
export type Tasks = ReturnType<typeof makeTasks>;

/**
 * Keeps the tasks of all clients (SEP-2663), in memory: a client finds its own, with the same token on the same path.
 *
 * @param ttl milliseconds for which a task is kept, from its creation
 * @param patience milliseconds after which a call that has no answer becomes a task
 */
export function makeTasks(ttl = 3_600_000, patience = 2_000) {
	/** Prefix of this process's ids: distinguishes a task of another process from an id that never existed. */
	const prefix = randomBytes(6).toString("hex");
	const tasks = new Map<string, Kept>();
	let bytes = 0;

	const ended = (task: Task): void => {
		if (task.bytes > MAX_RESULT_BYTES) {
			task.dropResult(`the result has ${task.bytes} bytes: at most ${MAX_RESULT_BYTES} are kept`);
		}
		bytes += task.bytes;
		while (bytes > MAX_KEPT_BYTES && dropEnded([...tasks.values()].filter((each) => each.task !== task))) {
			// The oldest result was dropped.
		}
	};

	/** Drops the oldest of these that has ended; false if none has. */
	const dropEnded = (kept: readonly Kept[]): boolean => {
		const oldest = kept.find(({ task }) => task.hasEnded)?.task;
		if (oldest !== undefined) {
			drop(oldest);
		}
		return oldest !== undefined;
	};

	const drop = (task: Task): void => {
		const kept = tasks.get(task.id);
		tasks.delete(task.id);
		clearTimeout(kept?.timer);
		bytes -= task.bytes;
		task.cancel();
	};

	return {
		/** Milliseconds after which a call that has no answer becomes a task. */
		patience,
		/** Makes a task, which is not kept yet. */
		create: (capabilities: ClientCapabilities, call: TaskCall): Task =>
			new Task(`${prefix}.${randomUUID()}`, ttl, capabilities, call),
		/**
		 * Keeps a task. At the limit, it replaces the client's oldest task that has ended.
		 *
		 * @returns whether there was room
		 */
		keep(task: Task, client: TaskClient): boolean {
			const owner = ownerOf(client);
			const ofOwner = [...tasks.values()].filter((each) => ownerOf(each.client) === owner);
			if (ofOwner.length >= MAX_TASKS_OF_CLIENT && !dropEnded(ofOwner)) {
				return false;
			}
			if (tasks.size >= MAX_TASKS && !dropEnded([...tasks.values()])) {
				return false;
			}
			const timer = setTimeout(() => drop(task), ttl).unref();
			tasks.set(task.id, { task, client, timer });
			task.on("change", () => task.hasEnded && tasks.has(task.id) && ended(task));
			return true;
		},
		/**
		 * The task of this id.
		 *
		 * @throws ProtocolError if the task does not exist or belongs to another client
		 */
		find(id: string, client: TaskClient): Task {
			const kept = tasks.get(id);
			if (kept !== undefined && mayUse(client, kept.client)) {
				return kept.task;
			}
			const why = id.startsWith(`${prefix}.`)
				? ""
				: ": this gateway has no such task. If it has restarted, or the task is at another gateway of the cluster, the call may have been carried out";
			throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Task not found${why}`);
		},
		/** Cancels every task. */
		close(): void {
			for (const { task } of tasks.values()) {
				drop(task);
			}
		},
	};
}

/** Key of the per-client task limit: a token, or all clients without one. */
function ownerOf({ access }: TaskClient): string {
	return access.holder ?? access.principal;
}

/** Whether a client may use what another, or it itself before, has begun: it may not reach less now. */
function mayUse(client: TaskClient, of: TaskClient): boolean {
	const { devices, readOnly = false } = client.access;
	const reachesAll =
		devices === undefined || (of.access.devices !== undefined && [...of.access.devices].every((id) => devices.has(id)));
	return (
		ownerOf(client) === ownerOf(of) &&
		client.server === of.server &&
		reachesAll &&
		(!readOnly || of.access.readOnly === true)
	);
}

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

/**
 * A task (SEP-2663): a tool call that runs in the background. Emits "change" when the status, its message or the
 * questions have changed.
 */
export class Task extends EventEmitter<{ change: [] }> {
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
	/** Questions without an answer, and the server's own key of each, by the key that the client gets, which is unique in the task. */
	readonly #open = new Map<string, { readonly key: string; readonly request: InputRequests[string] }>();
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
	start(): Promise<OrInput<CallToolResult>> {
		return this.#call(this);
	}

	/** Follows the call that {@link start} has made to its end. Never rejects. */
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
			const { message } = error as Error;
			const { code, data } = ProtocolError.isInstance(error) ? error : { code: ProtocolErrorCode.InternalError };
			this.#end("failed", { error: { code, message, data } }, message);
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
