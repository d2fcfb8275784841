import { deepFreeze } from "../../core/text/deep-freeze.js";
import type { Sendable } from "../../core/text/pieced-text.js";
import {
	type Answer,
	errorMessage,
	invalidParams,
	type LongResult,
	type RequestId,
	toRpcError,
	type Wrapper,
} from "../json-rpc.js";
import { McpServer, type McpServerOptions } from "../mcp-server.js";
import { McpSession, type SessionOptions } from "../mcp-session.js";
import { CALL_TOOL, INITIALIZE, LIST_TOOLS, type Params, PING } from "../params.js";
import type { ToolCall } from "../tool-call.js";

/** The result of a request, as JSON: now or later. */
export type FeatureResult = string | LongResult | Promise<string>;

/** Something that a server offers beyond tools, such as resources. Unused ones cost neither flash nor heap. */
export interface Feature<Context> {
	/** Its members of the server's `capabilities`. */
	readonly capabilities: Readonly<Record<string, object>>;
	/** Names of members that it reads in messages: see {@link McpServer.allNames}. */
	readonly names: readonly string[];
	/** The members that it also reads in tool calls. Default: none. */
	readonly callNames?: readonly string[];

	/** Called once, when the server is created; gives access to its sessions. */
	attach?(server: McpServer<Context>): void;

	/**
	 * Answers a request.
	 *
	 * @param call the client, its session, and what an asynchronous request needs
	 * @returns undefined if the method does not belong to this feature
	 * @throws RpcError, also later
	 */
	answer(method: string, params: Params, call: ToolCall): FeatureResult | undefined;

	/**
	 * Answers a request instead of its session.
	 *
	 * @returns undefined to leave it to the session
	 * @throws RpcError
	 */
	takeOver?(session: FeatureSession<Context>, id: RequestId, method: string, params: Params): Answer;

	/** Takes a message without a method. @returns whether it answers a request of this feature */
	takeResponse?(session: FeatureSession<unknown>, response: Params): boolean;

	/** Called when a session has ended, to release its data. */
	sessionClosed?(session: FeatureSession<unknown>): void;
}

const OWN_METHODS: readonly string[] = deepFreeze([CALL_TOOL, LIST_TOOLS, INITIALIZE, PING]);

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
		const taken = isBatched ? undefined : this.server.takeOver(this, id, method, params);
		if (taken !== undefined) {
			return taken;
		}
		if (!OWN_METHODS.includes(method)) {
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

/** A class of features. */
export type Kind<F> = abstract new (...options: never[]) => F;

/**
 * The features of a firmware.
 *
 * The firmware of src/main.ts has resources alone. Prompts, completion, logging, questions to the client (asking), schemas and the
 * stateless form are a library for firmware of your own: docs/beyond-tools.md. The suites, the conformance firmware and the
 * examples run them.
 */
export class FeatureSet<Context> {
	readonly list: readonly Feature<Context>[];

	constructor(list: readonly Feature<Context>[]) {
		this.list = list;
	}

	/** Makes the server that offers them, beside the tools of the options. */
	serve(options: McpServerOptions<Context>): McpServer<Context> {
		return new FeatureServer(this.list, options);
	}
}

/** An MCP server that offers features besides its tools. */
class FeatureServer<Context> extends McpServer<Context> {
	readonly features: readonly Feature<Context>[];

	constructor(features: readonly Feature<Context>[], options: McpServerOptions<Context>) {
		super(options);
		this.features = features;
		for (const feature of features) {
			feature.attach?.(this);
		}
		this.forgetNames();
	}

	protected override get callNames(): readonly string[] {
		// The constructor of McpServer reads it before there are features.
		return this.features?.flatMap(({ callNames = [] }) => callNames) ?? [];
	}

	override get initializeNames(): readonly string[] {
		return super.initializeNames.concat(this.featureNames);
	}

	override get allNames(): readonly string[] {
		return super.allNames.concat(this.featureNames);
	}

	/** They change with the requests in progress. */
	private get featureNames(): readonly string[] {
		return this.features.flatMap(({ names }) => names);
	}

	override get capabilities(): Readonly<Record<string, object>> {
		return Object.assign(super.capabilities, ...this.features.map(({ capabilities }) => capabilities));
	}

	override open(options: SessionOptions): McpSession<Context> {
		const session = new FeatureSession<Context>(this, options);
		this.sessions.add(session);
		return session;
	}

	/** Asks each feature for the result of a request, in order; undefined if none has the method. */
	answerByFeature(method: string, params: Params, call: ToolCall): FeatureResult | undefined {
		let result: FeatureResult | undefined;
		for (const feature of this.features) {
			result ??= feature.answer(method, params, call);
		}
		return result;
	}

	/** Lets the first feature that wants to answer a request in the session's place; undefined if none does. */
	takeOver(session: FeatureSession<Context>, id: RequestId, method: string, params: Params): Answer {
		let answer: Answer;
		for (const feature of this.features) {
			answer ??= feature.takeOver?.(session, id, method, params);
		}
		return answer;
	}

	/** Releases the features' data of a session that has ended. */
	releaseSession(session: FeatureSession<unknown>): void {
		for (const feature of this.features) {
			feature.sessionClosed?.(session);
		}
	}
}

/**
 * The feature of a kind in the server of a call, for functions that take a call, such as `log`.
 *
 * @returns undefined if the server does not have it
 */
export const findFeature = <F extends object>({ session }: ToolCall, kind: Kind<F>): F | undefined => {
	const { server } = session;
	const features: readonly object[] = server instanceof FeatureServer ? server.features : [];
	return features.find((feature): feature is F => feature instanceof kind);
};

/**
 * Reads a required member of a request, as text.
 *
 * @param expected its description in the error: "the URI of a resource"
 * @throws RpcError invalid params
 */
export const readText = (params: Params, name: string, expected: string): string => {
	const value = params[name];
	if (typeof value !== "string") {
		throw invalidParams(`${name}: expected ${expected}`);
	}
	return value;
};
