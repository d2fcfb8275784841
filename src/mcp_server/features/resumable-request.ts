import { isObject, type Sendable } from "../../core/text/json.js";
import type { Client } from "../client.js";
import {
	type Answer,
	invalidParams,
	notificationMessage,
	type Params,
	progressToken,
	quotable,
	type RequestId,
} from "../json-rpc.js";
import type { StopWaiting, ToolCall } from "../tool-call.js";
import type { Question } from "./ask.js";
import { type FeatureSession, StatelessRequest } from "./feature-session.js";
import type { Stateless } from "./stateless.js";

/** The member of `_meta` that names the subscription of a message (2026-07-28). */
export const SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId";

/** The member of a subscription's filter for each notification. */
const FILTERS: Readonly<Record<string, string>> = Object.freeze({
	"notifications/tools/list_changed": "toolsListChanged",
	"notifications/prompts/list_changed": "promptsListChanged",
	"notifications/resources/list_changed": "resourcesListChanged",
	"notifications/resources/updated": "resourceSubscriptions",
});

interface OpenQuestion {
	readonly question: Question;
	/** Its member in `inputRequests`, as JSON. */
	readonly json: string;
	readonly stop: StopWaiting;
	readonly resolve: (answer: unknown) => void;
}

/**
 * A request of 2026-07-28 that may subscribe, or ask the client. If it asks, it is answered with `input_required`, and
 * resumes when the client repeats it with the answers:
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/utilities/mrtr
 */
export class ResumableRequest<Context> extends StatelessRequest<Context> {
	/** The name of the tool or prompt, or the URI of the resource. */
	readonly subject: unknown;
	private readonly feature: Stateless<Context>;
	/** The key by which the client's next request names this one. It is only looked up: nothing in it is trusted. */
	state = "";
	/** Cancels the request if the client does not answer. */
	timeout: object | undefined;
	private call: ToolCall | undefined;
	private readonly open = new Map<string, OpenQuestion>();
	/** Unused answers that came with the request. */
	private given: Map<string, unknown> = new Map();
	private asked = 0;
	private reply: ((answer: Sendable | undefined) => void) | undefined;
	private filter: Params | undefined;

	constructor(
		connection: FeatureSession<Context>,
		feature: Stateless<Context>,
		client: Client,
		id: RequestId,
		method: string,
		params: Params,
	) {
		super(connection, client, id, method);
		this.feature = feature;
		this.subject = subjectOf(params);
	}

	/** Names of the members in the answers to the open questions. */
	get names(): readonly string[] {
		return [...this.open].flatMap(([key, { question }]) => [key, ...question.names]);
	}

	override serve(id: RequestId, params: Params): Answer {
		this.given = readResponses(params);
		const answer = super.serve(id, params);
		if (!(answer instanceof Promise)) {
			return answer;
		}
		void answer.then((text) => {
			this.feature.forget(this);
			this.reply?.(text);
			this.reply = undefined;
		});
		return this.nextReply();
	}

	/**
	 * Resumes with the answers of the client's repeated request, possibly on another connection.
	 *
	 * @throws RpcError if the answers are not valid; the request stays suspended
	 */
	resume(connection: FeatureSession<Context>, id: RequestId, params: Params): Answer {
		this.given = readResponses(params);
		this.feature.forget(this);
		this.connection = connection;
		const call = this.call as ToolCall;
		this.id = id;
		call.id = id;
		call.progressToken = progressToken(params);
		for (const [key, { question, stop, resolve }] of [...this.open]) {
			const answer = this.take(key, question);
			if (answer !== undefined) {
				this.open.delete(key);
				call.endWaiting(stop);
				resolve(answer.value);
			}
		}
		this.suspendSoon();
		return this.nextReply();
	}

	/** Ends the call that waits for answers. A tool that fails to stop must not affect others. */
	cancel(): void {
		try {
			this.call?.cancel();
		} catch (error) {
			this.server.log(`${this.method}: failed to cancel: ${String(error)}`);
		}
	}

	/** @throws Error if the key is already in use, or the server has no timer */
	ask<T>(call: ToolCall, question: Question<T>): Promise<T> {
		if (this.server.timer === undefined) {
			throw new Error("asking the client needs the server option `timer`");
		}
		this.asked += 1;
		const key = question.key ?? `q${this.asked}`;
		if (this.open.has(key)) {
			throw new Error(`question ${key} is already open`);
		}
		const given = this.take(key, question);
		if (given !== undefined) {
			return Promise.resolve(given.value);
		}
		const { method, params } = question;
		const json = `${JSON.stringify(key)}:${JSON.stringify({ method, params })}`;
		return new Promise<T>((resolve, reject) => {
			const stop: StopWaiting = (reason) => reason && reject(reason);
			call.startWaiting(stop);
			this.call = call;
			this.open.set(key, { question, json, stop, resolve: resolve as (answer: unknown) => void });
			this.suspendSoon();
		});
	}

	/** Subscribes the client to the notifications of a filter. */
	listen(filter: Params): void {
		this.filter = filter;
		this.server.sessions.add(this);
		const params = { notifications: filter, _meta: this.notificationMeta };
		this.connection.notify(notificationMessage("notifications/subscriptions/acknowledged", params));
	}

	/** Stops the notifications. */
	stopListening(): void {
		this.server.sessions.delete(this);
		this.server.releaseSession(this);
	}

	override notify(message: string): void {
		const isWanted = this.filter === undefined || (FILTERS[JSON.parse(message).method] ?? "") in this.filter;
		if (isWanted && this.id !== undefined) {
			super.notify(message);
		}
	}

	protected override get offered(): Readonly<Record<string, object>> {
		const { experimental: _, ...offered } = this.server.capabilities;
		return offered;
	}

	protected override get notificationMeta(): object {
		return this.filter === undefined ? super.notificationMeta : { [SUBSCRIPTION_ID]: this.id };
	}

	private nextReply(): Promise<Sendable | undefined> {
		return new Promise((resolve) => {
			this.reply = resolve;
		});
	}

	/** The answer to a question, if it has arrived and is valid; otherwise it is asked again. */
	private take<T>(key: string, { read }: Question<T>): { readonly value: T } | undefined {
		const given = this.given.get(key);
		this.given.delete(key);
		try {
			return isObject(given) ? { value: read(given) } : undefined;
		} catch (error) {
			this.server.log(`answer ${quotable(key)} to ${this.method}: ${(error as Error).message}`);
			return undefined;
		}
	}

	/** Lets a tool ask several questions, or end, before it is suspended. */
	private suspendSoon(): void {
		this.server.timer?.set(() => this.suspend(), 0);
	}

	/** Answers with the open questions, and waits. Not private, where `super` is not the base class in XS. */
	protected suspend(): void {
		const call = this.call;
		const id = this.id;
		const isAnswered = this.reply === undefined;
		if (call === undefined || call.cancelled || id === undefined || isAnswered || this.open.size === 0) {
			return;
		}
		const questions = [...this.open.values()].map(({ json }) => json).join(",");
		this.id = undefined;
		// NaN equals nothing: the request is answered and can no longer be cancelled.
		call.id = Number.NaN;
		call.progressToken = undefined;
		this.feature.suspend(this);
		const state = JSON.stringify(this.state);
		const result = `{"resultType":"input_required","inputRequests":{${questions}},"requestState":${state}}`;
		this.reply?.(super.result(id, result, this.wrapper));
		this.reply = undefined;
	}
}

/** The subject of a request, which its repetition must share. */
export const subjectOf = ({ name, uri }: Params): unknown => name ?? uri;

/** @throws RpcError invalid params */
const readResponses = ({ inputResponses }: Params): Map<string, unknown> => {
	const responses = inputResponses ?? {};
	if (!isObject(responses)) {
		throw invalidParams("inputResponses: expected an object");
	}
	return new Map(Object.entries(responses));
};
