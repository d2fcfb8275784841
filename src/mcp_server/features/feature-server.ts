import { isObject } from "../../core/text/json.js";
import type { Client } from "../client.js";
import {
	type Answer,
	invalidParams,
	type LongResult,
	META,
	META_NAMES,
	type Params,
	type RequestId,
} from "../json-rpc.js";
import { McpServer, type McpServerOptions } from "../mcp-server.js";
import type { McpSession, SessionOptions } from "../mcp-session.js";
import type { ToolCall } from "../tool-call.js";
import { FeatureSession, readMeta, StatelessRequest } from "./feature-session.js";

/** The result of a request, as JSON: now or later. */
export type FeatureResult = string | LongResult | Promise<string>;

/** Something that a server offers beyond tools, such as resources. Unused ones cost neither flash nor heap. */
export interface Feature<Context> {
	/** Members that it adds to the server's `capabilities`. */
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
	answer?(method: string, params: Params, call: ToolCall): FeatureResult | undefined;

	/**
	 * Answers a request of 2026-07-28 instead of its session.
	 *
	 * @returns undefined to leave it to the server
	 * @throws RpcError
	 */
	answerStateless?(
		session: FeatureSession<Context>,
		client: Client,
		id: RequestId,
		method: string,
		params: Params,
	): Answer;

	/** Takes a message without a method. @returns whether it answers a request of this feature */
	takeResponse?(session: FeatureSession<unknown>, response: Params): boolean;

	/** Called when a session has ended, to release its data. */
	sessionClosed?(session: FeatureSession<unknown>): void;
}

/** A class of features. */
export type Kind<F> = abstract new (...options: never[]) => F;

/**
 * An MCP server that offers features and tools.
 *
 * The firmware of src/main.ts has resources alone. Prompts, completion, logging, questions to the client (asking), schemas and
 * `Stateless` are a library for firmware of your own: docs/beyond-tools.md. The suites, the conformance firmware and the
 * examples run them.
 */
export class FeatureServer<Context> extends McpServer<Context> {
	readonly features: readonly Feature<Context>[];
	/** Whether the first parse reads `_meta`: since the first request of 2026-07-28, to save the second parse. */
	private readsMeta = false;

	constructor(features: readonly Feature<Context>[], options: McpServerOptions<Context>) {
		super(options);
		this.features = features;
		for (const feature of features) {
			feature.attach?.(this);
		}
		this.forgetNames();
	}

	protected override get callNames(): readonly string[] {
		// The constructor of McpServer reads it before `features` is set.
		return [
			META.version,
			...(this.readsMeta ? META_NAMES : []),
			...(this.features?.flatMap(({ callNames = [] }) => callNames) ?? []),
		];
	}

	override get initializeNames(): readonly string[] {
		return super.initializeNames.concat(this.featureNames);
	}

	override get allNames(): readonly string[] {
		return super.allNames.concat(this.featureNames, META_NAMES);
	}

	override widerNames(message: unknown, isFirst?: boolean): readonly string[] | undefined {
		const wider = super.widerNames(message, isFirst);
		const meta = (message as { readonly params?: Params | null } | null | undefined)?.params?._meta;
		if (this.readsMeta || !isObject(meta) || !(META.version in meta)) {
			return wider;
		}
		this.readsMeta = true;
		this.forgetNames();
		return this.allNames;
	}

	/** Names that features read in messages. Not cached, because they change with the requests in progress. */
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
			result ??= feature.answer?.(method, params, call);
		}
		return result;
	}

	/** Answers a request of 2026-07-28, by the first feature that answers it, or else as a plain stateless request. */
	answerStateless(session: FeatureSession<Context>, id: RequestId, method: string, params: Params): Answer {
		const client = readMeta(isObject(params._meta) ? params._meta : {}, this.log);
		for (const feature of this.features) {
			const answer = feature.answerStateless?.(session, client, id, method, params);
			if (answer !== undefined) {
				return answer;
			}
		}
		return new StatelessRequest(session, client, id, method).serve(id, params);
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
