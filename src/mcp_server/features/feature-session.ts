import { deepFreeze } from "../../text/deep-freeze.js";
import type { Sendable } from "../../text/pieced-text.js";
import { type Answer, errorMessage, type LongResult, type RequestId, toRpcError, type Wrapper } from "../json-rpc.js";
import { McpSession } from "../mcp-session.js";
import { CALL_TOOL, INITIALIZE, LIST_TOOLS, type Params, PING } from "../params.js";
import type { SessionOptions, SessionServer } from "../session-options.js";
import type { ToolCall } from "../tool-call.js";

/** The result of a request, as JSON: now or later. */
export type FeatureResult = string | LongResult | Promise<string>;

/** The features of a server, as its sessions use them. */
export interface SessionFeatures<Context> {
	/** @returns undefined if no feature has the method */
	answer(method: string, params: Params, call: ToolCall): FeatureResult | undefined;
	/** @returns undefined to leave the request to the session */
	takeOver(session: FeatureSession<Context>, id: RequestId, method: string, params: Params): Answer;
	/** @returns whether the message is a response to a feature's request */
	takeResponse(session: FeatureSession<unknown>, response: Params): boolean;
	/** A session has ended. */
	sessionClosed(session: FeatureSession<unknown>): void;
}

/** A server with features, as its sessions use it. */
export interface FeatureSessionServer<Context> extends SessionServer<Context> {
	readonly features: SessionFeatures<Context>;
	/** Updates the names that the features want in calls. */
	forgetNames(): void;
}

const OWN_METHODS: readonly string[] = deepFreeze([CALL_TOOL, LIST_TOOLS, INITIALIZE, PING]);

/** A session of a server with features, which answer the methods that the session does not. */
export class FeatureSession<Context> extends McpSession<Context> {
	declare readonly server: FeatureSessionServer<Context>;
	/** The owner of this session and of others that may resume its suspended requests: see {@link SessionOptions}. */
	readonly owner: object;

	/** The session of the connection: this one, if its requests do not stand alone. */
	connection: FeatureSession<Context> = this;

	constructor(server: FeatureSessionServer<Context>, options: SessionOptions) {
		super(server, options);
		this.owner = options.owner ?? this;
	}

	override close(): void {
		super.close();
		this.server.features.sessionClosed(this);
	}

	protected override dispatch(
		id: RequestId,
		method: string,
		params: Params,
		wrapper: Wrapper,
		isBatched: boolean,
	): Answer {
		const taken = isBatched ? undefined : this.server.features.takeOver(this, id, method, params);
		if (taken !== undefined) {
			return taken;
		}
		if (!OWN_METHODS.includes(method)) {
			const call = this.begin(id, params);
			const result = this.server.features.answer(method, params, call);
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
		const isTaken = (message.method ?? null) === null && this.server.features.takeResponse(this, message);
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
