import type { Answer, RequestId } from "../json-rpc.js";
import { type Features, McpServer, type McpServerOptions } from "../mcp-server.js";
import type { McpSession } from "../mcp-session.js";
import type { Params } from "../params.js";
import type { SessionOptions } from "../session-options.js";
import type { ToolCall } from "../tool-call.js";
import {
	type FeatureResult,
	FeatureSession,
	type FeatureSessionServer,
	type SessionFeatures,
} from "./feature-session.js";
import type { Feature } from "./server-feature.js";

/** A class of features. */
export type Kind<F> = abstract new (...options: never[]) => F;

/**
 * The features of a firmware.
 *
 * The firmware of src/main.ts has resources alone. Prompts, completion, logging, questions to the client (asking), schemas and the
 * stateless form are a library for firmware of your own: docs/beyond-tools.md. The suites, the conformance firmware and the
 * examples run them.
 */
export class FeatureSet<Context> implements Features<Context>, SessionFeatures<Context> {
	private readonly list: readonly Feature<Context>[];

	constructor(list: readonly Feature<Context>[]) {
		this.list = list;
	}

	serve(options: McpServerOptions<Context>): McpServer<Context> {
		return new FeatureServer(this, options);
	}

	/** The feature of a kind, if the server has it. */
	find<F extends object>(kind: Kind<F>): F | undefined {
		return this.list.find((feature): feature is Feature<Context> & F => feature instanceof kind);
	}

	get capabilities(): Readonly<Record<string, object>> {
		return Object.assign({}, ...this.list.map(({ capabilities }) => capabilities));
	}

	get names(): readonly string[] {
		return this.list.flatMap(({ names }) => names);
	}

	get callNames(): readonly string[] {
		return this.list.flatMap(({ callNames = [] }) => callNames);
	}

	/** Gives the features access to their server. */
	attach(server: McpServer<Context>): void {
		for (const feature of this.list) {
			feature.attach?.(server);
		}
	}

	answer(method: string, params: Params, call: ToolCall): FeatureResult | undefined {
		for (const feature of this.list) {
			const result = feature.answer(method, params, call);
			if (result !== undefined) {
				return result;
			}
		}
		return undefined;
	}

	takeOver(session: FeatureSession<Context>, id: RequestId, method: string, params: Params): Answer {
		for (const feature of this.list) {
			const answer = feature.takeOver?.(session, id, method, params);
			if (answer !== undefined) {
				return answer;
			}
		}
		return undefined;
	}

	takeResponse(session: FeatureSession<unknown>, message: Params): boolean {
		return this.list.some((feature) => feature.takeResponse?.(session, message));
	}

	/** Releases the features' data of a session that has ended. */
	sessionClosed(session: FeatureSession<unknown>): void {
		for (const feature of this.list) {
			feature.sessionClosed?.(session);
		}
	}
}

/** An MCP server that offers features besides its tools. */
class FeatureServer<Context> extends McpServer<Context> implements FeatureSessionServer<Context> {
	readonly features: FeatureSet<Context>;

	constructor(features: FeatureSet<Context>, options: McpServerOptions<Context>) {
		super(options);
		this.features = features;
		features.attach(this);
		this.forgetNames();
	}

	protected override get callNames(): readonly string[] {
		// The constructor of McpServer reads it before there are features.
		return this.features?.callNames ?? [];
	}

	override get initializeNames(): readonly string[] {
		return super.initializeNames.concat(this.features.names);
	}

	override get allNames(): readonly string[] {
		// The features' names change with the requests in progress.
		return super.allNames.concat(this.features.names);
	}

	override get capabilities(): Readonly<Record<string, object>> {
		return { ...super.capabilities, ...this.features.capabilities };
	}

	override open(options: SessionOptions): McpSession<Context> {
		const session = new FeatureSession<Context>(this, options);
		this.sessions.add(session);
		return session;
	}
}

/**
 * The feature of a kind in the server of a call, for functions that take a call, such as `log`.
 *
 * @returns undefined if the server does not have it
 */
export const findFeature = <F extends object>(call: ToolCall, kind: Kind<F>): F | undefined => {
	const { server } = call.session;
	return server instanceof FeatureServer ? server.features.find(kind) : undefined;
};
