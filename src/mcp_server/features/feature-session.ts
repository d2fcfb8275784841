import type { Sendable } from "../../core/text/json.js";
import {
	type Answer,
	CALL_TOOL,
	errorMessage,
	INITIALIZE,
	isStateless,
	LIST_TOOLS,
	type Params,
	PING,
	type RequestId,
	toRpcError,
	type Wrapper,
} from "../json-rpc.js";
import { McpSession, type SessionOptions } from "../mcp-session.js";
import type { ToolCall } from "../tool-call.js";
import type { FeatureServer } from "./feature-set.js";

const OWN_METHODS: readonly string[] = Object.freeze([CALL_TOOL, LIST_TOOLS, INITIALIZE, PING]);

/** A session of a server with features, which answer the methods that the session does not. */
export class FeatureSession<Context> extends McpSession<Context> {
	declare readonly server: FeatureServer<Context>;
	/** The owner of this session and of others that may resume its suspended requests: see {@link SessionOptions}. */
	readonly owner: object;

	/** The session of the connection: this one, if its requests do not stand alone. */
	connection: FeatureSession<Context> = this;

	constructor(server: FeatureServer<Context>, options: SessionOptions) {
		super(server, options);
		this.owner = options.owner ?? this;
	}

	override close(): void {
		super.close();
		this.server.releaseSession(this);
	}

	protected override dispatch(
		id: RequestId,
		method: string,
		params: Params,
		wrapper: Wrapper,
		isBatched: boolean,
	): Answer {
		const isOwn = OWN_METHODS.includes(method);
		// Most requests of older revisions end here: they cost no further call.
		if (!isBatched && (!isOwn || params._meta !== undefined) && isStateless(method, params)) {
			return this.server.answerStateless(this, id, method, params);
		}
		if (!isOwn) {
			const call = this.begin(id, params);
			const result = this.server.answerByFeature(method, params, call);
			if (result instanceof Promise) {
				return this.waitFor(call, result, wrapper);
			}
			if (result !== undefined) {
				return typeof result === "string" ? this.result(id, result, wrapper) : this.longResult(id, result, wrapper);
			}
		}
		return super.dispatch(id, method, params, wrapper, isBatched);
	}

	protected override answerWithoutMethod(message: Params, wrapper: Wrapper): string | undefined {
		const isResponse = (message.method ?? null) === null;
		const isTaken = isResponse && this.server.features.some((each) => each.takeResponse?.(this, message));
		return isTaken ? undefined : super.answerWithoutMethod(message, wrapper);
	}

	private async waitFor(call: ToolCall, result: Promise<string>, wrapper: Wrapper): Promise<Sendable | undefined> {
		this.calls.push(call);
		let answer: Sendable;
		try {
			const json = await result;
			answer = this.result(call.id, json, wrapper);
		} catch (error) {
			answer = errorMessage(call.id, toRpcError(error), wrapper);
		}
		return this.finish(call, answer);
	}
}
