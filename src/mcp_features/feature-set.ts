import type { Feature, FeatureResult } from "../mcp_server/feature.js";
import type { McpServer } from "../mcp_server/mcp-server.js";
import type { McpSession } from "../mcp_server/mcp-session.js";
import type { Params } from "../mcp_server/params.js";
import type { ToolCall } from "../mcp_server/tool-call.js";

/** Several features, as one. */
export class FeatureSet<Context> implements Feature<Context> {
	readonly #features: readonly Feature<Context>[];

	constructor(features: readonly Feature<Context>[]) {
		this.#features = features;
	}

	/** The feature of a kind, if there is one. */
	find<F extends object>(kind: new (...options: never[]) => F): F | undefined {
		return this.#features.find((feature): feature is Feature<Context> & F => feature instanceof kind);
	}

	get capabilities(): Readonly<Record<string, object>> {
		return Object.assign({}, ...this.#features.map(({ capabilities }) => capabilities));
	}

	get names(): readonly string[] {
		return this.#features.flatMap(({ names }) => names);
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
export function findFeature<F extends object>(call: ToolCall, kind: new (...options: never[]) => F): F | undefined {
	const { features } = call.session.server;
	if (features instanceof FeatureSet) {
		return features.find(kind);
	}
	return features instanceof kind ? features : undefined;
}
