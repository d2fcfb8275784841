import type { Answer, Feature, FeatureResult } from "../mcp_server/feature.js";
import type { RequestId } from "../mcp_server/json-rpc.js";
import type { McpServer } from "../mcp_server/mcp-server.js";
import type { McpSession } from "../mcp_server/mcp-session.js";
import type { Params } from "../mcp_server/params.js";
import type { ToolCall } from "../mcp_server/tool-call.js";

/** A class of features. */
export type Kind<F> = abstract new (...options: never[]) => F;

/** Several features, as one. */
export class FeatureSet<Context> implements Feature<Context> {
	readonly #features: readonly Feature<Context>[];

	constructor(features: readonly Feature<Context>[]) {
		this.#features = features;
	}

	/** The feature of a kind, if there is one. */
	find<F extends object>(kind: Kind<F>): F | undefined {
		return this.#features.find((feature): feature is Feature<Context> & F => feature instanceof kind);
	}

	get capabilities(): Readonly<Record<string, object>> {
		return Object.assign({}, ...this.#features.map(({ capabilities }) => capabilities));
	}

	get names(): readonly string[] {
		return this.#features.flatMap(({ names }) => names);
	}

	get callNames(): readonly string[] {
		return this.#features.flatMap(({ callNames = [] }) => callNames);
	}

	attach(server: McpServer<Context>): void {
		for (const feature of this.#features) {
			feature.attach?.(server);
		}
	}

	answer(method: string, params: Params, call: ToolCall): FeatureResult | undefined {
		for (const feature of this.#features) {
			const result = feature.answer(method, params, call);
			if (result !== undefined) {
				return result;
			}
		}
		return undefined;
	}

	takeOver(session: McpSession<Context>, id: RequestId, method: string, params: Params): Answer {
		for (const feature of this.#features) {
			const answer = feature.takeOver?.(session, id, method, params);
			if (answer !== undefined) {
				return answer;
			}
		}
		return undefined;
	}

	takeResponse(session: McpSession<unknown>, response: Params): boolean {
		return this.#features.some((feature) => feature.takeResponse?.(session, response));
	}

	sessionClosed(session: McpSession<unknown>): void {
		for (const feature of this.#features) {
			feature.sessionClosed?.(session);
		}
	}
}

/**
 * The feature of a kind in the server that a call came to: what functions that take a call, such as `log`, work with.
 *
 * @returns undefined if the server has none
 */
export function findFeature<F extends object>(call: ToolCall, kind: Kind<F>): F | undefined {
	const { features } = call.session.server;
	if (features instanceof FeatureSet) {
		return features.find(kind);
	}
	return features instanceof kind ? features : undefined;
}
